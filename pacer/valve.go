package pacer

import "time"

const (
	// unknownLow is the refill mark while the link's rate is unknown, bytes.
	unknownLow = 32 << 10
	// recoverySweeps is how many sweeps show the starvation of those before a
	// widening.
	recoverySweeps = 3
	// wholeSweeps is every which sweep is read until a region comes again: only
	// so are regions found that the sweeps before did not reach and which are
	// not waited for. It must not exceed Sweep's patience.
	wholeSweeps = 4
	// starvedWithin is within how many sweeps two must have been starved.
	starvedWithin = 8
	// longestShut is how long the valve stays shut at a time: on links that
	// take longer for a sweep, one message passes now and then.
	longestShut = 4 * time.Second
)

// valve is why the read valve is shut; 0: it is open.
type valve uint8

const (
	valveSweep valve = 1 << iota // at the end of a sweep, until the queue is low
	valveBound                   // because the queue reached its bound
)

func (c *Channel) draw(m Message) {
	if c.sweep.Draw(m.Box, int(m.Size)) {
		c.sweepEnded()
		return
	}
	ahead := c.cfg.Mode == Adaptive && c.cfg.Sweeps && !c.ahead && c.sweeps%wholeSweeps != 0
	if ahead && c.tailHidden(int(m.Size)) && c.mayHold() {
		c.shut(valveSweep)
		c.ahead = true
	}
}

// tailHidden tells that the rest of the sweep, the body of the draw under way
// included, fits into the hypervisor's sockets. If the valve shuts then, they
// hold the end of this sweep and not the first columns of the next, which
// would come once more when it opens.
func (c *Channel) tailHidden(size int) bool {
	tail, known := c.sweep.Tail()
	return known && tail+size <= c.backend.Holds()
}

func (c *Channel) sweepEnded() {
	c.sweeps++
	if c.cfg.Mode != Adaptive || !c.cfg.Sweeps {
		return
	}
	c.noteStarvation()
	if c.mayHold() && !c.tailOnly() {
		c.shut(valveSweep)
	}
	c.ahead = false
}

// tailOnly tells that the valve was shut ahead of this sweep's end, and that no
// more than the tail the sockets held came since it opened: what follows is the
// sweep it opened for. More comes where regions begin to change.
func (c *Channel) tailOnly() bool {
	return c.ahead && c.queued <= c.low()+c.backend.Holds()
}

// noteStarvation widens the backend if sweeps are cut short again and again. A
// single one is no reason: the server or the proxy was late for once.
func (c *Channel) noteStarvation() {
	if !c.sweep.Starved() || c.sweeps < c.widenable {
		return
	}
	if c.starvedAt > 0 && c.sweeps-c.starvedAt <= starvedWithin {
		c.backend.Starved()
	}
	c.starvedAt = c.sweeps
}

// mayHold tells that more is queued than the client's link carries soon. A queue
// that only waits for the writer's next turn is none of the link's, but while
// nothing is known of the link every queue counts: on a thin one the first
// seconds of an animation would take a minute to send. While an answer to the
// user is awaited, nothing is held that may be in front of it; nor for a client
// that is stalled.
func (c *Channel) mayHold() bool {
	return c.queued > c.low() && (c.Limited() || c.link.Rate() == 0) && !c.answer.awaited && !c.released
}

// Limited tells that the client's link is the limit.
func (c *Channel) Limited() bool { return c.blocked || c.link.Full() }

func (c *Channel) shut(v valve) {
	if v == valveSweep && c.valve&valveSweep == 0 {
		c.shutAt = time.Time{}
	}
	c.valve |= v
	if v == valveBound || c.Limited() {
		c.backend.Held()
	}
}

// pass lets the message that is half sent come through a valve that has been
// shut for long. While the server is blocked in it, some guest operations wait
// (a mode change), and after 15 s the server disconnects the display
// (flow-control facts, section 5).
func (c *Channel) pass(now time.Time) {
	switch {
	case c.valve&valveSweep == 0:
	case c.shutAt.IsZero():
		c.shutAt = now
	case now.Sub(c.shutAt) >= longestShut:
		c.shutAt, c.passing = now, true
	}
}

// reopen opens the read valve once the queue has drained: at the low mark after
// a sweep, with an eighth of room at the bound; an empty queue opens it whatever
// memory a message that still arrives takes.
func (c *Channel) reopen() {
	if c.queued <= c.low() {
		c.valve &^= valveSweep
	}
	if c.queued == 0 || c.memory <= c.cfg.QueueBytes/8*7 {
		c.valve &^= valveBound
	}
}

// low is the queue at which the next sweep is fetched, in bytes: what the link
// carries while the hypervisor answers, so that it never runs dry. Where more in
// the queue costs no time, because the newest takes the place of the oldest, it
// lasts until the guest's next frame.
func (c *Channel) low() int {
	if c.link.Rate() == 0 {
		return unknownLow
	}
	lead := c.link.target() + c.cfg.BackendRTT
	if c.sorts() {
		lead += refresh
	}
	return int(c.link.Rate() * lead.Seconds())
}

// MayRead tells whether the hypervisor's bytes may be read now. After false the
// answer changes only with Sent, Observe, Dropped or Input.
func (c *Channel) MayRead() bool {
	return c.valve == 0 || c.valve == valveSweep && c.passing
}
