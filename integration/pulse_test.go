package integration

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// pulse asks QEMU for its state again and again: an answer shows that its main
// loop runs, which spice-server can hold up.
type pulse struct {
	t       *testing.T
	stop    chan struct{}
	stopped chan struct{}
	asked   atomic.Pointer[time.Time] // when the question under way was asked; nil between two

	// Valid once stopped is closed.
	answers int
	longest time.Duration // that an answer took
	err     error
}

// fatalFreeze is longer than the 30 s after which spice-server itself gives up on a
// client (spice-server-flow-control.md, section 5).
const fatalFreeze = 45 * time.Second

// watchPulse asks until end is called.
func watchPulse(t *testing.T, m *machine) *pulse {
	p := &pulse{t: t, stop: make(chan struct{}), stopped: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		cancel()
		<-p.stopped
	})
	go p.run(ctx, m)
	return p
}

func (p *pulse) run(ctx context.Context, m *machine) {
	defer close(p.stopped)
	next := time.NewTicker(100 * time.Millisecond)
	defer next.Stop()
	for {
		asked := time.Now()
		p.asked.Store(&asked)
		ask, cancel := context.WithTimeoutCause(ctx, fatalFreeze, fmt.Errorf("no answer in %v", fatalFreeze))
		p.err = m.QMP.Execute(ask, "query-status", nil)
		cancel()
		p.asked.Store(nil)
		p.longest = max(p.longest, time.Since(asked))
		if p.err != nil {
			return
		}
		p.answers++
		select {
		case <-next.C:
		case <-p.stop:
			return
		case <-ctx.Done():
			return
		}
	}
}

// waiting is how long QEMU has not answered.
func (p *pulse) waiting() time.Duration {
	if asked := p.asked.Load(); asked != nil {
		return time.Since(*asked)
	}
	return 0
}

// end stops asking. It fails the test if an answer took longer than the limit.
func (p *pulse) end(limit time.Duration) {
	p.t.Helper()
	close(p.stop)
	<-p.stopped
	if p.err != nil || p.longest > limit {
		p.t.Errorf("QEMU's main loop was held up: longest answer after %v (%v), want at most %v", p.longest, p.err, limit)
	}
	p.t.Logf("QEMU answered %d times, at the latest after %v", p.answers, p.longest.Round(time.Millisecond))
}
