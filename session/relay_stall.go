package session

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"spicepacer/pacer"
)

// stallChecks is how often the socket is looked at within the timeout.
const stallChecks = 6

// StallError ends a channel whose client's TCP acknowledged nothing.
type StallError struct {
	// Peer is the client's address; Outstanding the unacknowledged bytes; For
	// how long nothing was acknowledged.
	Peer        string
	Outstanding int
	For         time.Duration
}

func (e *StallError) Error() string {
	return fmt.Sprintf("client %s has acknowledged nothing for %v with %d bytes outstanding",
		e.Peer, e.For.Round(time.Millisecond), e.Outstanding)
}

// stallWatch ends the channel of a client that is gone without a word. A timer
// runs only while bytes are outstanding.
type stallWatch struct {
	client  leg
	timeout time.Duration
	end     func(error)
	armed   atomic.Bool

	mu    sync.Mutex // guards the rest
	timer *time.Timer
	acked uint64
	since time.Time
	done  bool
}

// newStallWatch returns a watch that calls end after timeout without progress.
// Sockets without TCP_INFO and a timeout of 0 are not watched.
func newStallWatch(client leg, timeout time.Duration, end func(error)) *stallWatch {
	return &stallWatch{client: client, timeout: timeout, end: end, done: client.probe == nil || timeout <= 0}
}

// wrote tells that bytes were written to the client.
func (w *stallWatch) wrote() {
	if w.armed.Load() || !w.armed.CompareAndSwap(false, true) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
	w.schedule()
}

// schedule sets the timer. The caller holds mu.
func (w *stallWatch) schedule() {
	switch {
	case w.done:
	case w.timer == nil:
		w.timer = time.AfterFunc(w.timeout/stallChecks, w.check)
	default:
		w.timer.Reset(w.timeout / stallChecks)
	}
}

func (w *stallWatch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	s, err := w.client.probe()
	if err != nil {
		return
	}
	if s.Outstanding == 0 {
		w.disarm()
		return
	}
	w.judge(s, time.Now())
}

// disarm stops watching until the next write. One that came after the sample
// found the watch armed still, so the socket is looked at once more; a later one
// arms it.
func (w *stallWatch) disarm() {
	w.armed.Store(false)
	s, err := w.client.probe()
	if err == nil && s.Outstanding > 0 && w.armed.CompareAndSwap(false, true) {
		w.since = time.Now()
		w.schedule()
	}
}

func (w *stallWatch) judge(s pacer.LinkSample, now time.Time) {
	if s.Acked != w.acked {
		w.acked, w.since = s.Acked, now
	}
	if idle := now.Sub(w.since); idle >= w.timeout {
		w.done = true
		w.end(&StallError{Peer: w.client.address(), Outstanding: s.Outstanding, For: idle})
		return
	}
	w.schedule()
}

func (w *stallWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
