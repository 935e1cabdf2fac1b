package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of CPU times in /proc, USER_HZ: the same on every Linux
// that Go runs on.
const clockTick = 10 * time.Millisecond

// CPU is the processor time of a process, all threads together.
type CPU struct{ User, System time.Duration }

// Sub returns what was used since earlier.
func (c CPU) Sub(earlier CPU) CPU {
	return CPU{c.User - earlier.User, c.System - earlier.System}
}

// Total is the sum of both.
func (c CPU) Total() time.Duration { return c.User + c.System }

// UsedCPU returns what a process has used since it began.
func UsedCPU(pid int) (CPU, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return CPU{}, err
	}
	return parseStat(stat)
}

// parseStat reads /proc/PID/stat (proc_pid_stat(5)). The fields are counted from
// behind the program's name, which may hold spaces and parentheses.
func parseStat(stat []byte) (CPU, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const utime, stime = 14 - 3, 15 - 3 // the first field here is number 3
	if len(fields) <= stime {
		return CPU{}, fmt.Errorf("process status %q is too short", stat)
	}
	user, err := strconv.ParseInt(string(fields[utime]), 10, 64)
	if err != nil {
		return CPU{}, fmt.Errorf("process status: %w", err)
	}
	system, err := strconv.ParseInt(string(fields[stime]), 10, 64)
	if err != nil {
		return CPU{}, fmt.Errorf("process status: %w", err)
	}
	return CPU{time.Duration(user) * clockTick, time.Duration(system) * clockTick}, nil
}
