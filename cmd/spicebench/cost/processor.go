package cost

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of CPU times in /proc, USER_HZ: the same on every Linux
// that Go runs on.
const clockTick = 10 * time.Millisecond

// cpu is the processor time of a process, all threads together.
type cpu struct{ user, system time.Duration }

func (c cpu) sub(earlier cpu) cpu {
	return cpu{c.user - earlier.user, c.system - earlier.system}
}

func (c cpu) total() time.Duration { return c.user + c.system }

// usedCPU returns what a process has used since it began.
func usedCPU(pid int) (cpu, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return cpu{}, err
	}
	return parseStat(stat)
}

// parseStat reads /proc/PID/stat (proc_pid_stat(5)). The fields are counted from
// behind the program's name, which may hold spaces and parentheses.
func parseStat(stat []byte) (cpu, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const utime, stime = 14 - 3, 15 - 3 // the first field here is number 3
	if len(fields) <= stime {
		return cpu{}, fmt.Errorf("process status %q is too short", stat)
	}
	user, err := strconv.ParseInt(string(fields[utime]), 10, 64)
	if err != nil {
		return cpu{}, fmt.Errorf("process status: %w", err)
	}
	system, err := strconv.ParseInt(string(fields[stime]), 10, 64)
	if err != nil {
		return cpu{}, fmt.Errorf("process status: %w", err)
	}
	return cpu{time.Duration(user) * clockTick, time.Duration(system) * clockTick}, nil
}

const (
	// quiet is how long a process must do nothing to count as idle.
	quiet = 200 * time.Millisecond
	// settleTimeout is how long a program may take to come to rest.
	settleTimeout = 20 * time.Second
)

// settledCPU waits until a process has done what starting and linking caused, such
// as making keys in advance, and returns what it has used by then.
func settledCPU(ctx context.Context, pid int) (cpu, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("not idle within %v of linking", settleTimeout))
	defer cancel()
	look := time.NewTicker(quiet)
	defer look.Stop()
	before, err := usedCPU(pid)
	for err == nil {
		select {
		case <-look.C:
		case <-ctx.Done():
			return cpu{}, context.Cause(ctx)
		}
		var now cpu
		if now, err = usedCPU(pid); now == before && err == nil {
			return now, nil
		}
		before = now
	}
	return cpu{}, err
}
