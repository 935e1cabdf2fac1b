package keydraw

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// From include/uapi/linux/input.h and input-event-codes.h.
const (
	evKey          = 1
	keySpace       = 57
	keyPressed     = 1  // 0 is released, 2 is repeated
	inputEventSize = 24 // struct input_event on 64-bit machines: time 16, type 2, code 2, value 4
	evIOCGBitNr    = 0x20
)

// keyboard counts presses on an evdev device.
type keyboard struct {
	fd  int
	buf [64 * inputEventSize]byte
}

// openKeyboard opens the device if it has a space key.
func openKeyboard(path string) (*keyboard, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var keys [96]byte
	request := uintptr(2)<<30 | uintptr(len(keys))<<16 | 'E'<<8 | (evIOCGBitNr + evKey) // _IOR
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&keys))); errno != 0 {
		err = errno
	} else if keys[keySpace/8]>>(keySpace%8)&1 == 0 {
		err = errors.New("no space key")
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("keyboard %s: %w", path, err)
	}
	return &keyboard{fd: fd}, nil
}

// presses reads the pending events and returns how many keys went down. It does
// not allocate or block.
func (k *keyboard) presses() (int, error) {
	n, err := unix.Read(k.fd, k.buf[:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read keys: %w", err)
	}
	return countPresses(k.buf[:n]), nil
}

func countPresses(events []byte) (count int) {
	for ; len(events) >= inputEventSize; events = events[inputEventSize:] {
		kind := binary.LittleEndian.Uint16(events[16:])
		value := binary.LittleEndian.Uint32(events[20:])
		if kind == evKey && value == keyPressed {
			count++
		}
	}
	return count
}
