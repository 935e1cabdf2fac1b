package keydraw

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Ports of the PC speaker: channel 2 of the timer (Intel 8254) makes the tone, and
// two bits of the system control port let it out.
const (
	timerCommand   = 0x43
	timerChannel2  = 0x42
	squareWave     = 0xb6 // channel 2, both bytes, mode 3
	toneDivisor    = 1193182 / 440
	systemControl  = 0x61
	speakerEnabled = 3
)

// speak turns a tone on or off.
func speak(on bool) error {
	fd, err := unix.Open("/dev/port", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open I/O ports: %w", err)
	}
	defer unix.Close(fd)
	var control [1]byte
	if _, err := unix.Pread(fd, control[:], systemControl); err != nil {
		return fmt.Errorf("read I/O port %#x: %w", systemControl, err)
	}
	control[0] &^= speakerEnabled
	if on {
		control[0] |= speakerEnabled
	}
	for _, out := range []struct {
		port  int64
		value byte
	}{
		{timerCommand, squareWave},
		{timerChannel2, toneDivisor & 0xff}, {timerChannel2, toneDivisor >> 8},
		{systemControl, control[0]},
	} {
		if _, err := unix.Pwrite(fd, []byte{out.value}, out.port); err != nil {
			return fmt.Errorf("write I/O port %#x: %w", out.port, err)
		}
	}
	return nil
}
