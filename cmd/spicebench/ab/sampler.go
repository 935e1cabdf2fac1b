package ab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"spicepacer/cmd/spicebench/link"
)

// sampleEvery is the time between two looks at the sockets.
const sampleEvery = 500 * time.Millisecond

// clockTick is the unit of CPU times in /proc, USER_HZ: the same on every Linux
// that Go runs on.
const clockTick = 10 * time.Millisecond

// sample is one look at the server's side.
type sample struct {
	at      time.Time
	sockets []socket
	// qemu and proxy are the CPU times used since each process began.
	qemu, proxy time.Duration
}

// sampler looks at the server's side again and again.
type sampler struct {
	namespace *link.Namespace
	qemu      int // process ids
	proxy     int
}

// recording is a sampler at work.
type recording struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed when no more samples are taken
	samples []sample      // valid once done is closed, as is err
	err     error
}

// start takes samples until the recording is stopped, ctx ends or one fails.
func (s sampler) start(ctx context.Context) *recording {
	ctx, cancel := context.WithCancel(ctx)
	r := &recording{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = s.run(ctx, func(one sample) { r.samples = append(r.samples, one) })
	}()
	return r
}

func (r *recording) stop() ([]sample, error) {
	r.cancel()
	<-r.done
	return r.samples, r.err
}

func (s sampler) run(ctx context.Context, keep func(sample)) error {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		one, err := s.take(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		keep(one)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s sampler) take(ctx context.Context) (sample, error) {
	now := sample{at: time.Now()}
	var err error
	if now.qemu, err = cpuTime(s.qemu); err != nil {
		return now, fmt.Errorf("CPU time of QEMU: %w", err)
	}
	if now.proxy, err = cpuTime(s.proxy); err != nil {
		return now, fmt.Errorf("CPU time of the proxy: %w", err)
	}
	now.sockets, err = listSockets(ctx, s.namespace)
	return now, err
}

// within returns the samples of a span of time.
func within(samples []sample, from, to time.Time) []sample {
	outside := func(s sample) bool { return s.at.Before(from) || s.at.After(to) }
	return slices.DeleteFunc(slices.Clone(samples), outside)
}

// cpuTime returns the user and system time of a process, all threads together.
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseCPUTime(stat)
}

// parseCPUTime reads /proc/PID/stat (proc_pid_stat(5)). The fields are counted
// from behind the program's name, which may hold spaces and parentheses.
func parseCPUTime(stat []byte) (time.Duration, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const utime, stime = 14 - 3, 15 - 3 // the first field here is number 3
	if len(fields) <= stime {
		return 0, fmt.Errorf("process status %q is too short", stat)
	}
	var ticks int64
	for _, f := range [][]byte{fields[utime], fields[stime]} {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}
