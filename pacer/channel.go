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
	// Reorder: the display queue lets newer messages take the place of older ones,
	// so that what comes while the valve is open does not lengthen it.
	Reorder bool
	// Compression is what the server is asked for; 0: what the client asks for.
	Compression spiceproto.Compression
	// CompressionAuto asks for images that can be dropped and reordered while the
	// link is the limit, and else for what the client asks for.
	CompressionAuto bool
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
	// Effect is what a drawing message is proved to do; its zero value proves
	// nothing.
	Effect spiceproto.Effect
	// Stream is the head of a video stream's message; its zero value names no
	// place.
	Stream spiceproto.StreamHead
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
	released  bool   // the client is stalled, the server not held any more

	answer       answer
	anticipation anticipation
	sortable     sortable
	preference   preference
	dropped      uint64 // messages of the generation that the client does not get
	missing      uint64 // those of all generations
}

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
		cfg:  cfg,
		link: Link{Target: cfg.QueueTarget},
		backend: Backend{
			Buffer: cfg.BackendBuffer, Most: cfg.BackendMost, RTT: cfg.BackendRTT, Target: cfg.QueueTarget,
		},
		preference: preference{fixed: cfg.Compression, auto: cfg.CompressionAuto},
	}
}

// Arrived books a message from the server whose header and head are known.
func (c *Channel) Arrived(m Message) {
	c.passing = false
	c.average += (float64(m.Size) - c.average) * averageWeight
	c.preference.arrived(&m)
	switch {
	case m.Op == spiceproto.MsgSetAck:
		c.ledger.SetAck(m.SetAck.Generation, m.SetAck.Window)
		c.client.reset()
		c.acks, c.dropped = 0, 0
		return
	case m.Op == spiceproto.MsgDisplaySurfaceCreate && m.Surface == 0:
		c.sweep.Resize(m.Width, m.Height)
	case m.Draw && m.Surface == 0:
		c.sortable.add(&m)
		c.draw(m)
	}
	c.ledger.Received()
}

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

// Dropped books a message of n bytes that newer ones cover and that the client
// does not get; the queue now takes memory bytes.
func (c *Channel) Dropped(n, memory int) {
	c.queued -= n
	c.memory = memory
	c.ledger.Forwarded()
	c.dropped++
	c.missing++
	c.reopen()
}

// KeepArrivalOrder tells that the queue reorders no more, for good: nothing is
// gained any more by what only helps to.
func (c *Channel) KeepArrivalOrder() {
	c.cfg.Reorder, c.preference.auto = false, false
	c.answer = answer{}
}

// Filled books a message sent in the place of one that was dropped. It goes to
// the client before a SET_ACK that has arrived meanwhile, and then is none of
// the generation.
func (c *Channel) Filled(now time.Time) {
	if c.dropped > 0 {
		c.dropped--
	}
	c.missing--
	c.expectAck(now)
}

// Missing returns how many messages the client did not get.
func (c *Channel) Missing() uint64 { return c.missing }

// expectAck notes when the client's next ACK is due, if the message just
// forwarded is the one that causes it: number kW+1 (spice-gtk, which does not
// count SET_ACK) of the generation.
func (c *Channel) expectAck(now time.Time) {
	w, got := uint64(c.ledger.Window()), c.ledger.Delivered()-c.dropped
	if w > 0 && got > w && got%w == 1%w {
		c.client.causes(now.Add(c.link.Base() + c.link.Delay()))
	}
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
	if c.released = c.stalled(now); c.released {
		c.valve &^= valveSweep
	}
	c.answer.expire(now)
}

// Drained tells that the queue is empty. Nothing is observed until it is not.
func (c *Channel) Drained() {
	c.link.Idle()
	c.progress, c.released = progress{}, false
}

// stalled tells that the client has acknowledged nothing for so long that the
// server is not held any more.
func (c *Channel) stalled(now time.Time) bool {
	return !c.progress.since.IsZero() && now.Sub(c.progress.since) >= releaseAfter
}

// BackendRead books n bytes read from the hypervisor and returns the receive
// buffer to set on that leg now, or 0.
func (c *Channel) BackendRead(now time.Time, n int) int {
	c.answer.expire(now)
	if c.cfg.Mode == Adaptive && c.cfg.Sweeps {
		c.backend.Messages(c.average)
	}
	widened := c.backend.Read(now, n)
	if widened > 0 {
		c.widenable = c.sweeps + recoverySweeps
	}
	return widened
}

// BackendFree is Backend.Free of the hypervisor leg.
func (c *Channel) BackendFree() bool { return c.backend.Free() }

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
// lengthen a queue that keeps arrival order; but a sweep that has begun is never
// cut short. A queue that does not is bounded by its regions.
func (c *Channel) due(now time.Time) bool {
	stalled := c.stalled(now)
	full := c.link.Full() && c.queued > 0 && !stalled && !c.sorts()
	if c.cfg.Mode == Withhold {
		return !full || c.queued == 0 || c.ledger.DueWithheld(c.withheld())
	}
	if stalled || c.answered() > c.ledger.Acked() {
		return c.MayRead()
	}
	return c.MayRead() && !c.client.slow(now) && (!full || c.cutsSweep())
}

// answered is how many ACKs the client has sent, or would have if it had got the
// messages that were dropped.
func (c *Channel) answered() uint64 {
	if w := uint64(c.ledger.Window()); w > 0 {
		return c.acks + c.dropped/w
	}
	return c.acks
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
