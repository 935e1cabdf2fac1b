package pacer

import (
	"time"

	"spicepacer/spiceproto"
)

const (
	// refresh is how often QEMU collects what the guest has drawn
	// (ui/console.c, GUI_REFRESH_INTERVAL_DEFAULT).
	refresh = 30 * time.Millisecond
	// averageWeight is the weight of a new message in the average size.
	averageWeight = 1. / 8
	// sweepMargin is how many messages beside the regions' draws a sweep may
	// hold: a key press, an invalidation.
	sweepMargin = 4
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
	// releaseAfter is how long a client may acknowledge nothing before the
	// server is no longer held: a guest operation may be waiting for it, and
	// spice-server disconnects after 30 s (flow-control facts, section 5).
	releaseAfter = 10 * time.Second
)

// Config is what a Channel is made with.
type Config struct {
	Mode Mode
	// QueueTarget is the standing queue allowed in the client leg on top of
	// the path's bandwidth-delay product.
	QueueTarget time.Duration
	// QueueBytes bounds the memory of the display queue, in bytes.
	QueueBytes int
	// Sweeps grants whole sweeps (adaptive mode). Without, the read valve shuts
	// by bytes alone, which starves regions: for comparison only.
	Sweeps bool
	// BackendRTT is the hypervisor leg's round trip.
	BackendRTT time.Duration
	// BackendBuffer is that leg's receive buffer in bytes if it is to be
	// widened on demand up to BackendMost; 0 leaves it alone.
	BackendBuffer, BackendMost int
}

// Message is what the controller needs to know of a message from the server.
type Message struct {
	Op   uint16
	Size uint32
	// SetAck is the body, if Op is SET_ACK.
	SetAck spiceproto.SetAck
	// Draw is set for drawing messages, Box then being what they write on
	// Surface; Surface, Width and Height are set for SURFACE_CREATE.
	Draw          bool
	Box           spiceproto.Rect
	Surface       uint32
	Width, Height uint32
}

// Channel paces one display channel in Withhold or Adaptive mode. It is not
// safe for concurrent use.
type Channel struct {
	cfg     Config
	ledger  Ledger
	link    Link
	sweep   Sweep
	backend Backend
	client  processing

	queued  int     // bytes in the display queue
	memory  int     // bytes of memory these take
	average float64 // size of the server's messages, in bytes
	valve   valve
	shutAt  time.Time // when valveSweep was set, at the next Sent; zero: not yet
	passing bool      // one message may pass the shut valve
	blocked bool      // bytes wait, and the last sample left no room for them
	acks    uint64    // the client's own, in this generation
	hold    hold

	progress progress
	sweeps   uint64
	// widenable is the sweep from which on starvation widens the backend again:
	// the first ones after it was widened show what came before.
	widenable uint64
	starvedAt uint64 // the sweep that last looked starved
	ahead     bool   // the valve was shut for the end of the sweep under way
}

// valve is why the read valve is shut; 0: it is open.
type valve uint8

const (
	valveSweep valve = 1 << iota // at the end of a sweep, until the queue is low
	valveBound                   // because the queue reached its bound
)

// hold measures how long possible ACKs were kept back.
type hold struct {
	since time.Time
	count uint64
	total time.Duration
}

// progress watches for a client whose TCP acknowledges nothing.
type progress struct {
	acked uint64
	since time.Time // when it last did, or had nothing to; zero: not watched
}

// NewChannel returns a controller for one display channel.
func NewChannel(cfg Config) *Channel {
	return &Channel{
		cfg:     cfg,
		link:    Link{Target: cfg.QueueTarget},
		backend: Backend{Buffer: cfg.BackendBuffer, Most: cfg.BackendMost, RTT: cfg.BackendRTT},
	}
}

// Arrived books a message from the server whose header and head are known.
func (c *Channel) Arrived(m Message) {
	c.passing = false
	c.average += (float64(m.Size) - c.average) * averageWeight
	switch {
	case m.Op == spiceproto.MsgSetAck:
		c.ledger.SetAck(m.SetAck.Generation, m.SetAck.Window)
		c.client.reset()
		c.acks = 0
		return
	case m.Op == spiceproto.MsgDisplaySurfaceCreate && m.Surface == 0:
		c.sweep.Resize(m.Width, m.Height)
	case m.Draw && m.Surface == 0:
		c.draw(m)
	}
	c.ledger.Received()
}

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
// seconds of an animation would take a minute to send.
func (c *Channel) mayHold() bool {
	return c.queued > c.low() && (c.limited() || c.link.Rate() == 0)
}

// limited tells that the client's link is the limit.
func (c *Channel) limited() bool { return c.blocked || c.link.Full() }

// Stored books n bytes put into the display queue, which now takes memory
// bytes in all.
func (c *Channel) Stored(n, memory int) {
	c.queued += n
	c.memory = memory
	switch {
	case c.memory >= c.cfg.QueueBytes:
		c.shut(valveBound)
	case c.cfg.Mode == Adaptive && !c.cfg.Sweeps && c.mayHold():
		c.shut(valveSweep)
	}
}

// Sent books n bytes of the queue written to the client, with which a number
// of messages became complete; the queue now takes memory bytes.
func (c *Channel) Sent(now time.Time, n, messages, memory int) {
	c.queued -= n
	c.memory = memory
	c.blocked = false
	c.link.Wrote(n)
	for range messages {
		c.ledger.Forwarded()
		c.expectAck(now)
	}
	c.reopen()
	c.pass(now)
}

// expectAck notes when the client's next ACK is due, if the message just
// forwarded is the one that causes it: number kW+1 (spice-gtk, which does not
// count SET_ACK) of the generation.
func (c *Channel) expectAck(now time.Time) {
	w := uint64(c.ledger.Window())
	if w > 0 && c.ledger.Delivered() > w && c.ledger.Delivered()%w == 1%w {
		c.client.causes(now.Add(c.link.Base() + c.link.Delay()))
	}
}

func (c *Channel) shut(v valve) {
	if v == valveSweep && c.valve&valveSweep == 0 {
		c.shutAt = time.Time{}
	}
	c.valve |= v
	if v == valveBound || c.limited() {
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
// carries while the hypervisor answers, so that it never runs dry.
func (c *Channel) low() int {
	if c.link.Rate() == 0 {
		return unknownLow
	}
	lead := c.link.target() + c.cfg.BackendRTT
	return int(c.link.Rate() * lead.Seconds())
}

// MayRead tells whether the hypervisor's bytes may be read now. After false the
// answer changes only with Sent or Observe.
func (c *Channel) MayRead() bool {
	return c.valve == 0 || c.valve == valveSweep && c.passing
}

// Room returns how many bytes may go to the client, going by the last sample.
func (c *Channel) Room() int { return c.link.Room() }

// Quantum returns the least room worth writing into, in bytes.
func (c *Channel) Quantum() int { return c.link.Quantum() }

// Rate returns the link's estimated rate in bytes per second, 0 while unknown.
func (c *Channel) Rate() float64 { return c.link.Rate() }

// Wait returns when to look again if there is no room.
func (c *Channel) Wait() time.Duration { return c.link.Wait() }

// Late tells by how much the writer overslept a Wait.
func (c *Channel) Late(d time.Duration) { c.link.Late(d) }

// Observe takes a sample of the client's socket.
func (c *Channel) Observe(now time.Time, s LinkSample) {
	c.link.Observe(now, s, c.queued > 0)
	if c.blocked = c.queued > 0 && c.link.Room() < c.link.Quantum(); c.blocked {
		c.backend.Held()
	}
	if s.Acked != c.progress.acked || s.Outstanding == 0 || c.progress.since.IsZero() {
		c.progress = progress{acked: s.Acked, since: now}
	}
	if c.stalled(now) {
		c.valve &^= valveSweep
	}
}

// Drained tells that the queue is empty. Nothing is observed until it is not.
func (c *Channel) Drained() {
	c.link.Idle()
	c.progress = progress{}
}

// stalled tells that the client has acknowledged nothing for so long that the
// server is not held any more.
func (c *Channel) stalled(now time.Time) bool {
	return !c.progress.since.IsZero() && now.Sub(c.progress.since) >= releaseAfter
}

// BackendRead books n bytes read from the hypervisor and returns the receive
// buffer to set on that leg now, or 0.
func (c *Channel) BackendRead(now time.Time, n int) int {
	if c.cfg.Mode == Adaptive && c.cfg.Sweeps {
		c.backend.Messages(c.average)
	}
	widened := c.backend.Read(now, n)
	if widened > 0 {
		c.widenable = c.sweeps + recoverySweeps
	}
	return widened
}

// Synced books an ACK_SYNC written to the server.
func (c *Channel) Synced(generation uint32) { c.ledger.Synced(generation) }

// ClientAck books an ACK of the client.
func (c *Channel) ClientAck() {
	c.acks++
	c.client.answered()
}

// AcksDue returns how many ACKs to write to the server now, and books them.
func (c *Channel) AcksDue(now time.Time) int {
	n := 0
	for c.possible() {
		if !c.due(now) {
			c.hold.start(now)
			break
		}
		if c.ledger.Ack() != nil {
			break
		}
		c.hold.end(now)
		n++
	}
	return n
}

// possible tells whether an ACK could go now: it is legal, and in withhold mode
// the client has sent it.
func (c *Channel) possible() bool {
	return c.ledger.MayAck() && (c.cfg.Mode == Adaptive || c.acks > c.ledger.Acked())
}

// due tells whether a possible ACK should go now. While the link is not the
// limit nothing is held. While it is, ACKs ahead of the client's own would only
// lengthen the queue; but a sweep that has begun is never cut short.
func (c *Channel) due(now time.Time) bool {
	stalled := c.stalled(now)
	full := c.link.Full() && !stalled
	if c.cfg.Mode == Withhold {
		return !full || c.queued == 0 || c.ledger.DueWithheld(c.withheld())
	}
	if stalled || c.acks > c.ledger.Acked() {
		return c.MayRead()
	}
	return c.MayRead() && !c.client.slow(now) && (!full || c.cutsSweep())
}

// cutsSweep tells that the server's credits end before the sweep does, so that
// the server would wait inside it while newer frames take the place of the
// unsent columns: those would starve. A sweep that the link carries within two
// refreshes is over before that happens.
func (c *Channel) cutsSweep() bool {
	return c.ledger.Credits() <= uint64(c.sweep.Missing()+sweepMargin) &&
		float64(c.sweep.Bytes()) > c.link.Rate()*(2*refresh).Seconds()
}

// withheld is h of the late rule (Ledger.DueWithheld): the credits left
// unforwarded when the server gets new ones. They last for one refresh, since
// a server whose pipe is empty has nothing to send before the next one, and for
// what the writer may oversleep.
func (c *Channel) withheld() uint32 {
	if c.average == 0 {
		return 1
	}
	last := refresh + c.link.lateness
	return uint32(clamp(c.link.Rate()*last.Seconds()/c.average, 1, 1<<20))
}

func (h *hold) start(now time.Time) {
	if h.since.IsZero() {
		h.since = now
	}
}

func (h *hold) end(now time.Time) {
	if h.since.IsZero() {
		return
	}
	h.count++
	h.total += now.Sub(h.since)
	h.since = time.Time{}
}

// State is what a Channel shows of itself.
type State struct {
	QueueBytes, BudgetBytes int
	Rate                    float64 // bytes per second, 0: unknown
	Base                    time.Duration
	AcksHeld                uint64
	HoldTime                time.Duration
	Sweeps                  uint64
}

// State returns the figures a metrics page shows.
func (c *Channel) State() State {
	return State{
		QueueBytes: c.queued, BudgetBytes: c.link.Budget(),
		Rate: c.link.Rate(), Base: c.link.Base(),
		AcksHeld: c.hold.count, HoldTime: c.hold.total, Sweeps: c.sweeps,
	}
}
