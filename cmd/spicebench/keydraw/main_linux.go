package keydraw

import (
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Main is the whole guest. It never returns; if something fails it says so on
// the console and powers the machine off.
func Main() {
	err := run()
	fmt.Println(ErrorLine, err)
	unix.Sync()
	err = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	panic(err) // without power control a kernel panic is the next best end
}

func run() error {
	// The loop of show allocates next to nothing, and what it does must not
	// cost a collection in the middle of a frame.
	debug.SetGCPercent(-1)
	if err := mountKernelFiles(); err != nil {
		return err
	}
	cmdline, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return err
	}
	knobs, err := ParseKnobs(string(cmdline))
	if err != nil {
		return err
	}
	if err := loadModules(); err != nil {
		return err
	}
	card, err := await(findCard)
	if err != nil {
		return err
	}
	keys, err := await(findKeyboard)
	if err != nil {
		return err
	}
	display, err := openDisplay(card)
	if err != nil {
		return err
	}
	orders, err := openConsole()
	if err != nil {
		return err
	}
	s := &show{knobs: knobs, display: display, keys: keys, orders: orders}
	if s.extras, err = newExtras(knobs, display); err != nil {
		return err
	}
	return s.run()
}
