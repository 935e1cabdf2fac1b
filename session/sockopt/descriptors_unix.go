//go:build unix

package sockopt

import (
	"fmt"
	"syscall"
)

// Descriptors returns how many descriptors the process may have open, its soft
// limit (RLIMIT_NOFILE, getrlimit(2)). The Go runtime has raised that to the hard
// limit at the start of the process, less one.
func Descriptors() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read limit of open files: %w", err)
	}
	return uint64(limit.Cur), nil
}
