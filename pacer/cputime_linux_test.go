package pacer_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of the processors. Unlike the time of day it
// does not count the turns of other processes.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
