package process

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Host is what figures depend on besides the programs.
type Host struct {
	Kernel string `json:"kernel"`
	CPUs   int    `json:"cpus"`
}

// ThisHost describes the machine this process runs on.
func ThisHost() (Host, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return Host{}, fmt.Errorf("version of the kernel: %w", err)
	}
	return Host{Kernel: unix.ByteSliceToString(name.Release[:]), CPUs: runtime.NumCPU()}, nil
}
