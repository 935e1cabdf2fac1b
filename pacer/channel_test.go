package pacer_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

const (
	window      = 20
	sweepRate   = 1_250_000 // bytes per second, of a link that was saturated
	sweepBase   = 80 * time.Millisecond
	lowMark     = 12_500 // bytes: 10 ms at that rate
	queueBytes  = 1 << 20
	sweepWidth  = 20     // columns
	largeColumn = 10_000 // 20 of these take the link more than two refreshes
	smallColumn = 3_000  // 20 of these less
)

// channelRig is a channel with its clock and its display queue.
type channelRig struct {
	t *testing.T
	*pacer.Channel
	now    time.Time
	sample pacer.LinkSample
	queued int
}

func newRig(t *testing.T, mode pacer.Mode, change func(*pacer.Config)) *channelRig {
	cfg := pacer.Config{Mode: mode, QueueTarget: target, QueueBytes: queueBytes, Sweeps: true}
	if change != nil {
		change(&cfg)
	}
	r := &channelRig{t: t, Channel: pacer.NewChannel(cfg), now: epoch}
	r.Arrived(pacer.Message{Op: spiceproto.MsgSetAck, Size: 8, SetAck: spiceproto.SetAck{Generation: 1, Window: window}})
	r.store(14)
	r.send(14, 1)
	r.Synced(1)
	return r
}

func (r *channelRig) store(n int) {
	r.queued += n
	r.Stored(n, r.queued)
}

// messages lets n messages of size bytes arrive and be queued.
func (r *channelRig) messages(n, size int) {
	for range n {
		r.Arrived(pacer.Message{Op: spiceproto.MsgNotify, Size: uint32(size)})
		r.store(size)
	}
}

// columns lets columns from up to but without end of a frame arrive.
func (r *channelRig) columns(from, end, size int) {
	for k := from; k < end; k++ {
		left := int32(k * 32)
		r.Arrived(pacer.Message{
			Op: spiceproto.MsgDisplayDrawCopy, Size: uint32(size),
			Draw: true, Box: spiceproto.Rect{Left: left, Right: left + 32, Bottom: 32},
		})
		r.store(size)
	}
}

func (r *channelRig) surface(width, height uint32) {
	r.Arrived(pacer.Message{Op: spiceproto.MsgDisplaySurfaceCreate, Size: 20, Width: width, Height: height})
	r.store(20)
}

func (r *channelRig) send(n, messages int) {
	r.queued -= n
	r.Sent(r.now, n, messages, r.queued)
}

// drainToLow sends what is above the low mark, and no whole message.
func (r *channelRig) drainToLow() { r.send(r.queued-lowMark, 0) }

func (r *channelRig) advance(d time.Duration) { r.now = r.now.Add(d) }

// acknowledged lets the client's TCP acknowledge n bytes.
func (r *channelRig) acknowledged(n int) {
	r.sample.Acked += uint64(n)
	r.Observe(r.now, r.sample)
}

// saturate makes the link look full: 1.25 MB/s with a queue of 20 ms. It needs
// bytes in the display queue.
func (r *channelRig) saturate() {
	r.t.Helper()
	r.sample = pacer.LinkSample{Acked: 1, Outstanding: 125_000, RTT: sweepBase + 20*time.Millisecond, MinRTT: sweepBase}
	for _, n := range []int{0, 1, sweepRate / 10} {
		r.acknowledged(n)
		r.advance(100 * time.Millisecond)
	}
	if r.Rate() != sweepRate {
		r.t.Fatalf("rate %v of a saturated link", r.Rate())
	}
}

// block takes a sample that shows no room in the budget.
func (r *channelRig) block() {
	r.sample.Outstanding = r.State().BudgetBytes
	r.acknowledged(0)
}

func (r *channelRig) wantAcks(want int, when string) {
	r.t.Helper()
	if got := r.AcksDue(r.now); got != want {
		r.t.Errorf("%s: %d ACKs due, want %d", when, got, want)
	}
}

func (r *channelRig) wantOpen(want bool, when string) {
	r.t.Helper()
	if got := r.MayRead(); got != want {
		r.t.Errorf("%s: may read %t, want %t", when, got, want)
	}
}

func TestChannelAcksEarlyOnAFreeLink(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.messages(window-2, 100)
	r.wantAcks(0, "one message early")
	r.messages(1, 100)
	r.wantAcks(1, "with the message that pays for it")
	r.wantAcks(0, "asked again")
	r.messages(2*window, 100)
	r.wantAcks(2, "two windows later")
	if s := r.State(); s.AcksHeld != 0 || s.HoldTime != 0 {
		t.Errorf("%d ACKs held for %v", s.AcksHeld, s.HoldTime)
	}
}

func TestChannelAcksDueWithSync(t *testing.T) {
	c := pacer.NewChannel(pacer.Config{Mode: pacer.Adaptive, QueueTarget: target, QueueBytes: queueBytes})
	c.Arrived(pacer.Message{Op: spiceproto.MsgSetAck, SetAck: spiceproto.SetAck{Generation: 7, Window: window}})
	for range 2 * window {
		c.Arrived(pacer.Message{Op: spiceproto.MsgNotify, Size: 10})
	}
	if n := c.AcksDue(epoch); n != 0 {
		t.Errorf("%d ACKs before ACK_SYNC", n)
	}
	c.Synced(7)
	if n := c.AcksDue(epoch); n != 2 {
		t.Errorf("%d ACKs with ACK_SYNC, want 2", n)
	}
}

func TestChannelWithholdNeedsTheClient(t *testing.T) {
	r := newRig(t, pacer.Withhold, nil)
	r.messages(2*window, 100)
	r.wantAcks(0, "before the client's")
	r.ClientAck()
	r.wantAcks(1, "with the client's")
	r.ClientAck()
	r.ClientAck()
	r.wantAcks(1, "with one too many of the client's")
}

// While the link is the limit, withhold waits for the server's window but one:
// messages as large as these leave h at 1.
func TestChannelWithholdOnAFullLink(t *testing.T) {
	r := newRig(t, pacer.Withhold, nil)
	const size = 60_000
	r.messages(2*window, size)
	r.saturate()
	r.ClientAck()
	r.send((2*window-2)*size, 2*window-2)
	r.wantAcks(0, "two messages short")
	r.advance(70 * time.Millisecond)
	r.send(size, 1)
	r.wantAcks(1, "with message 2W")
	if s := r.State(); s.AcksHeld != 1 || s.HoldTime != 70*time.Millisecond {
		t.Errorf("%d ACKs held for %v, want 1 for 70ms", s.AcksHeld, s.HoldTime)
	}
}

func TestChannelWithholdEmptyQueue(t *testing.T) {
	r := newRig(t, pacer.Withhold, nil)
	r.messages(window, 60_000)
	r.saturate()
	r.ClientAck()
	r.wantAcks(0, "full")
	r.send(r.queued, window)
	r.wantAcks(1, "with nothing left to send")
}

// Frequent small messages last for no refresh: credits come earlier.
func TestChannelWithholdSmallMessages(t *testing.T) {
	r := newRig(t, pacer.Withhold, nil)
	const size = 1_000 // 37 of these take the link one refresh
	r.messages(2*window, size)
	r.saturate()
	r.ClientAck()
	r.send((window-2)*size, window-2)
	r.wantAcks(0, "not legal to forward")
	r.send(size, 1)
	r.wantAcks(1, "a window delivered, h at its most")
}

func TestChannelFullLinkFollowsTheClient(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.messages(window, 1_000)
	r.saturate()
	r.wantAcks(0, "the link is the limit")
	r.advance(time.Second)
	r.wantAcks(0, "still")
	r.ClientAck()
	r.wantAcks(1, "with the client's")
	if s := r.State(); s.AcksHeld != 1 || s.HoldTime != time.Second {
		t.Errorf("%d ACKs held for %v, want 1 for 1s", s.AcksHeld, s.HoldTime)
	}
	r.advance(3 * time.Second)
	r.messages(window, 1_000)
	r.wantAcks(0, "full again")
	r.advance(2 * time.Second)
	r.ClientAck()
	r.wantAcks(1, "with the client's second")
	if s := r.State(); s.AcksHeld != 2 || s.HoldTime != 3*time.Second {
		t.Errorf("%d ACKs held for %v, want 2 for 3s", s.AcksHeld, s.HoldTime)
	}
}

// With nothing left to send the link is not the limit, and that holds at once: the
// server may be waiting for the ACK, and then nothing else happens any more.
func TestChannelDryIsNotFull(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.messages(window, 1_000)
	r.saturate()
	r.send(r.queued-1, window-1)
	r.wantAcks(0, "a byte is left")
	r.send(1, 1)
	r.wantAcks(1, "dry")
}

// A sweep that has begun is not cut short by missing credits, if it is long.
func TestChannelFullLinkLetsSweepsEnd(t *testing.T) {
	for _, c := range []struct {
		size int
		want int
	}{
		{smallColumn, 0},
		{largeColumn, 1},
	} {
		r := newRig(t, pacer.Adaptive, nil)
		r.surface(1280, 800)
		r.columns(0, sweepWidth, c.size)
		r.wantAcks(1, "a free link")
		r.columns(0, 1, c.size)
		r.saturate()
		r.drainToLow()
		r.columns(1, sweepWidth, c.size)
		r.wantAcks(0, "credits for the rest of the sweep")
		r.drainToLow()
		r.columns(0, 1, c.size)
		r.drainToLow()
		r.wantAcks(c.want, "credits end inside the next sweep")
	}
}

// On a link that takes long for a sweep the half-sent message comes through.
func TestChannelLongShutLetsAMessagePass(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.saturate()
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "after a whole sweep")
	r.send(1, 0)
	r.advance(4*time.Second - 1)
	r.send(1, 0)
	r.wantOpen(false, "not for long")
	r.advance(1)
	r.send(1, 0)
	r.wantOpen(true, "for long")
	r.columns(1, 2, largeColumn)
	r.wantOpen(false, "the next message has begun")
	r.advance(4*time.Second - 1)
	r.send(1, 0)
	r.wantOpen(false, "not for long again")
}

func TestChannelSweepShutsTheValve(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.saturate()
	r.wantOpen(true, "inside a sweep")
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "after a whole sweep")
	if s := r.State().Sweeps; s != 1 {
		t.Errorf("%d sweeps", s)
	}
	r.send(r.queued-lowMark-1, 0)
	r.wantOpen(false, "a byte above the low mark")
	r.ClientAck()
	r.wantAcks(0, "shut, with an ACK of the client")
	r.send(1, 0)
	r.wantOpen(true, "at the low mark")
	r.wantAcks(1, "open")
	r.columns(1, sweepWidth, 100)
	r.send(r.queued-lowMark+100, 0)
	r.columns(0, 1, 100)
	r.wantOpen(true, "a sweep that leaves the queue low")
	r.columns(1, sweepWidth, largeColumn)
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "a full link, though there was room")
}

// The low mark is what the link carries while the hypervisor answers, or a
// little, as long as the link is unknown.
func TestChannelLowMark(t *testing.T) {
	for _, c := range []struct {
		name  string
		known bool
		rtt   time.Duration
		low   int
	}{
		{"unknown", false, 0, 32 << 10},
		{"near", true, 0, lowMark},
		{"far", true, 10 * time.Millisecond, 2 * lowMark},
	} {
		r := newRig(t, pacer.Adaptive, func(cfg *pacer.Config) { cfg.BackendRTT = c.rtt })
		r.surface(1280, 800)
		r.columns(0, sweepWidth, largeColumn)
		if c.known {
			r.saturate()
		}
		r.block()
		r.columns(0, 1, largeColumn)
		r.send(r.queued-c.low-1, 0)
		r.wantOpen(false, c.name+": above")
		r.send(1, 0)
		r.wantOpen(true, c.name+": at the mark")
	}
}

// Surfaces beside the primary neither have sweeps nor end those of it.
func TestChannelOtherSurfaces(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.Arrived(pacer.Message{Op: spiceproto.MsgDisplaySurfaceCreate, Surface: 1, Width: 64, Height: 64})
	r.block()
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "a whole sweep")
}

func TestChannelValveNeedsSweepsOfThePrimary(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    pacer.Mode
		change  func(*pacer.Config)
		surface uint32
		open    bool
	}{
		{"adaptive", pacer.Adaptive, nil, 0, false},
		{"withhold", pacer.Withhold, nil, 0, true},
		{"another surface", pacer.Adaptive, nil, 1, true},
		{"by bytes alone", pacer.Adaptive, func(c *pacer.Config) { c.Sweeps = false }, 1, false},
		{"by bytes alone, withhold", pacer.Withhold, func(c *pacer.Config) { c.Sweeps = false }, 1, true},
	} {
		r := newRig(t, c.mode, c.change)
		r.surface(1280, 800)
		r.saturate()
		for range 2 {
			r.Arrived(pacer.Message{
				Op: spiceproto.MsgDisplayDrawCopy, Size: 100_000,
				Draw: true, Surface: c.surface, Box: spiceproto.Rect{Right: 640, Bottom: 480},
			})
			r.store(100_000)
		}
		r.wantOpen(c.open, c.name)
	}
}

func TestChannelBound(t *testing.T) {
	for _, mode := range []pacer.Mode{pacer.Withhold, pacer.Adaptive} {
		r := newRig(t, mode, nil)
		r.store(queueBytes - 1)
		r.wantOpen(true, "below the bound")
		r.store(1)
		r.wantOpen(false, "at the bound")
		r.send(queueBytes/8-1, 0)
		r.wantOpen(false, "an eighth less one byte")
		r.send(1, 0)
		r.wantOpen(true, "an eighth of room")
	}
}

// Credit for what may not be read would only fill the server's socket.
func TestChannelBoundHoldsAcks(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.messages(window, queueBytes/window)
	r.store(queueBytes % window)
	r.wantAcks(0, "at the bound")
	r.send(queueBytes/4, 0)
	r.wantAcks(1, "room again")
}

// At the bound inside a sweep that just ended, both reasons count.
func TestChannelBoundAfterASweep(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.saturate()
	r.columns(0, 1, largeColumn)
	r.store(queueBytes)
	r.send(queueBytes/2, 0)
	r.wantOpen(false, "half empty, but not low")
	r.send(r.queued-lowMark, 0)
	r.wantOpen(true, "low")
}

// A message that still arrives may hold more memory than the bound admits.
func TestChannelBoundEmptyQueue(t *testing.T) {
	r := newRig(t, pacer.Adaptive, func(c *pacer.Config) { c.QueueBytes = 1000 })
	r.Stored(100, 4096)
	r.wantOpen(false, "a block larger than the bound")
	r.Sent(r.now, 100, 0, 4096)
	r.wantOpen(true, "nothing left to send")
}

// A client that drew nothing for long gets no more credit than its own ACKs
// give, though its kernel takes all.
func TestChannelSlowClient(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.messages(window, 100)
	r.wantAcks(1, "a free link")
	r.send(window*100, window) // message W+1 is through
	r.advance(150 * time.Millisecond)
	r.messages(window, 100)
	r.wantAcks(1, "its ACK is not overdue")
	r.advance(time.Millisecond)
	r.messages(window, 100)
	r.wantAcks(0, "its ACK is overdue")
	r.ClientAck()
	r.wantAcks(1, "it answered")
}

// What stands in the socket takes its time to the client.
func TestChannelSlowClientOnASlowLink(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  int
	}{
		// 125 kB outstanding are 100 ms, and the slack is 150 ms.
		{249 * time.Millisecond, 1},
		{254 * time.Millisecond, 0},
	} {
		r := newRig(t, pacer.Adaptive, nil)
		r.messages(window, 100)
		r.wantAcks(1, "a free link")
		r.saturate()
		r.send(window*100, window)
		r.Drained()
		r.messages(window, 100)
		r.advance(c.after)
		r.wantAcks(c.want, c.after.String())
	}
}

// A new generation is not slow for what was not answered in the one before.
func TestChannelSlowClientNewGeneration(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.messages(window, 100)
	r.send(window*100, window)
	r.advance(time.Second)
	r.Arrived(pacer.Message{Op: spiceproto.MsgSetAck, SetAck: spiceproto.SetAck{Generation: 2, Window: 2}})
	r.Synced(2)
	r.messages(1, 100)
	r.wantAcks(1, "the first of generation 2")
}

func TestChannelStalledClient(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.AcksDue(r.now)
	r.saturate()
	r.columns(0, sweepWidth, largeColumn)
	r.send((window-1)*largeColumn+20, window) // message W+1 is through: an ACK is expected
	r.acknowledged(1)
	r.advance(10*time.Second - 1)
	r.acknowledged(0)
	r.wantOpen(false, "just before it counts as stalled")
	r.wantAcks(0, "just before it counts as stalled")
	r.advance(1)
	r.acknowledged(0)
	r.wantOpen(true, "stalled: the server is not held")
	r.wantAcks(1, "stalled: the server is not held")
	r.columns(0, 1, largeColumn)
	r.wantOpen(true, "another sweep")
	r.acknowledged(1)
	r.columns(1, sweepWidth, largeColumn)
	r.columns(0, 1, largeColumn)
	r.acknowledged(0)
	r.wantOpen(false, "the client moves again")
}

// A client may fall silent before its TCP acknowledged anything.
func TestChannelStalledFromTheStart(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.block()
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "a whole sweep")
	r.advance(10 * time.Second)
	r.acknowledged(0)
	r.wantOpen(true, "stalled")
}

func TestChannelStalledClientInWithhold(t *testing.T) {
	r := newRig(t, pacer.Withhold, nil)
	r.messages(window, 60_000)
	r.saturate()
	r.ClientAck()
	r.acknowledged(1)
	r.advance(10*time.Second - 1)
	r.wantAcks(0, "not stalled yet")
	r.advance(1)
	r.wantAcks(1, "stalled")
}

// The bound of the queue holds whatever the client does.
func TestChannelStallKeepsTheBound(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.store(queueBytes)
	r.sample.Outstanding = 60_000
	r.acknowledged(1)
	r.advance(time.Minute)
	r.acknowledged(0)
	r.wantOpen(false, "at the bound")
}

// Silence with nothing to acknowledge is no stall, nor is the time before the
// first ACK after it.
func TestChannelSilenceIsNoStall(t *testing.T) {
	for _, c := range []struct {
		name  string
		quiet func(*channelRig)
	}{
		{"drained", func(r *channelRig) { r.Drained(); r.advance(time.Minute) }},
		{"all acknowledged", func(r *channelRig) {
			r.advance(time.Minute)
			r.sample.Outstanding = 0
			r.acknowledged(0)
		}},
	} {
		r := newRig(t, pacer.Adaptive, nil)
		r.surface(1280, 800)
		r.columns(0, sweepWidth, largeColumn)
		r.saturate()
		r.send(r.queued, 1+sweepWidth)
		c.quiet(r)
		r.columns(0, sweepWidth, largeColumn)
		r.block()
		r.columns(0, 1, largeColumn)
		r.acknowledged(0)
		r.wantOpen(false, c.name)
	}
}

// A queue that only waits for the writer's turn is no reason to hold the server,
// once the link is known.
func TestChannelFreeLinkLeavesTheValveOpen(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.surface(1280, 800)
	r.columns(0, sweepWidth, largeColumn)
	r.saturate()
	r.send(r.queued, 1+sweepWidth)
	r.Drained()
	r.sample.Outstanding = 0
	r.columns(0, 1, largeColumn)
	r.acknowledged(0)
	r.wantOpen(true, "room in the socket")
	r.columns(1, sweepWidth, largeColumn)
	r.columns(0, 1, largeColumn)
	r.wantOpen(true, "a sweep, with room in the socket")
	r.sample.Outstanding = r.State().BudgetBytes
	r.acknowledged(0)
	r.columns(1, sweepWidth, largeColumn)
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "no room")
}

func TestChannelWidensAStarvedBackend(t *testing.T) {
	for _, c := range []struct {
		mode   pacer.Mode
		sweeps bool
		want   int
	}{
		{pacer.Adaptive, true, 8192},
		{pacer.Adaptive, false, 0},
		{pacer.Withhold, true, 0},
	} {
		r := newRig(t, c.mode, func(cfg *pacer.Config) {
			cfg.Sweeps, cfg.BackendBuffer, cfg.BackendMost = c.sweeps, 4096, 64<<10
		})
		r.surface(1280, 800)
		for range 5 {
			r.columns(0, 16, 100)
		}
		starve := func() {
			for range 4 {
				r.columns(0, 8, 100)
			}
			r.columns(8, 16, 100)
			r.columns(0, 1, 100)
		}
		starve()
		if n := r.BackendRead(r.now, 1); n != 0 {
			t.Errorf("%v: widened to %d for a single starved sweep", c.mode, n)
		}
		starve()
		if n := r.BackendRead(r.now, 1); n != c.want {
			t.Errorf("%v, sweeps %t: widened to %d, want %d", c.mode, c.sweeps, n, c.want)
		}
	}
}

// If the end of a sweep fits into the hypervisor's sockets, it stays there, and
// what comes next is not held a second time.
func TestChannelLeavesTheEndOfASweepInTheSocket(t *testing.T) {
	r := newRig(t, pacer.Adaptive, func(c *pacer.Config) { c.BackendBuffer, c.BackendMost = 4096, 4096 })
	r.surface(1280, 800)
	for range 3 {
		r.columns(0, sweepWidth, largeColumn)
	}
	r.saturate()
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "a sweep has ended")
	r.drainToLow()
	// 6 × 4096 bytes hold two columns of 10 kB, one of them under way.
	r.columns(1, sweepWidth-2, largeColumn)
	r.wantOpen(true, "three columns to come")
	r.columns(sweepWidth-2, sweepWidth-1, largeColumn)
	r.wantOpen(false, "two columns to come")
	r.drainToLow()
	r.columns(sweepWidth-1, sweepWidth, largeColumn)
	r.columns(0, 1, largeColumn)
	r.wantOpen(true, "the next sweep has begun")
	// Every fourth sweep is read to its end, for regions that nobody waits for.
	r.columns(1, sweepWidth, largeColumn)
	r.wantOpen(true, "a whole sweep")
	r.columns(sweepWidth, sweepWidth+1, largeColumn)
	r.columns(0, 1, largeColumn)
	r.wantOpen(false, "its end")
}

// The hypervisor leg is not the limit while a valve is shut or the client's
// link has no room.
func TestChannelHeldBackend(t *testing.T) {
	for _, c := range []struct {
		name string
		hold func(*channelRig)
		want int
	}{
		{"free", func(*channelRig) {}, 8192},
		{"the valve", func(r *channelRig) { r.store(queueBytes) }, 0},
		{"the link", func(r *channelRig) {
			r.store(1000)
			r.block()
		}, 0},
		{"the link, nothing to send", func(r *channelRig) { r.block() }, 8192},
	} {
		r := newRig(t, pacer.Adaptive, func(cfg *pacer.Config) {
			cfg.BackendBuffer, cfg.BackendMost, cfg.BackendRTT = 4096, 64<<10, time.Millisecond
		})
		r.BackendRead(r.now, 1)
		c.hold(r)
		r.advance(100 * time.Millisecond)
		if got := r.BackendRead(r.now, 1<<20); got != c.want {
			t.Errorf("%s: widened to %d, want %d", c.name, got, c.want)
		}
	}
}

func TestChannelRoom(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	room := r.Room()
	r.store(10_000)
	r.send(10_000, 1)
	if r.Room() != room-10_000 || r.Wait() != 0 {
		t.Errorf("room %d after 10000 bytes of %d, wait %v", r.Room(), room, r.Wait())
	}
	r.store(room)
	r.send(r.Room(), 0)
	if r.Room() != 0 || r.Quantum() <= 0 || r.Wait() <= 0 {
		t.Errorf("room %d, quantum %d, wait %v with the budget used up", r.Room(), r.Quantum(), r.Wait())
	}
	if s := r.State(); s.QueueBytes != r.queued || s.BudgetBytes != room+14 || s.Base != 0 {
		t.Errorf("state %+v", s)
	}
}

// channelPath is a channel, a server that keeps to its window, and a client that
// answers like spice-gtk, joined by queues that move when a schedule says so.
type channelPath struct {
	t *rapid.T
	*pacer.Channel
	mode pacer.Mode
	now  time.Time
	sock pacer.LinkSample

	server  pacer.Ledger // what the server has counted
	queue   []int        // bytes left of the messages in the display queue
	missing int          // bytes of the last one that have not arrived
	queued  int

	window            int // of the client's generation
	delivered, pings  int // messages since; ACKs of the client on their way back
	clientAcks, acked int
}

func newChannelPath(t *rapid.T) *channelPath {
	p := &channelPath{t: t, now: epoch, mode: rapid.SampledFrom([]pacer.Mode{pacer.Withhold, pacer.Adaptive}).Draw(t, "mode")}
	p.Channel = pacer.NewChannel(pacer.Config{
		Mode: p.mode, QueueTarget: target, QueueBytes: rapid.IntRange(1, 100_000).Draw(t, "bound"),
		Sweeps: rapid.Bool().Draw(t, "sweeps"), BackendRTT: time.Millisecond, BackendBuffer: 4096, BackendMost: 1 << 20,
	})
	p.window = rapid.IntRange(1, 40).Draw(t, "window")
	p.server.SetAck(1, uint32(p.window))
	p.begin(pacer.Message{
		Op: spiceproto.MsgSetAck, Size: 8,
		SetAck: spiceproto.SetAck{Generation: 1, Window: uint32(p.window)},
	})
	return p
}

// begin lets a message's header and head arrive.
func (p *channelPath) begin(m pacer.Message) {
	p.store(p.missing)
	p.queue = append(p.queue, 6+int(m.Size))
	p.missing = int(m.Size)
	p.queued += 6
	p.Arrived(m)
	p.Stored(6, p.memory())
}

// store lets up to n bytes of the last message's body arrive.
func (p *channelPath) store(n int) {
	n = min(n, p.missing)
	p.missing -= n
	p.queued += n
	if n > 0 {
		p.Stored(n, p.memory())
	}
}

// memory is what the display queue takes: more than its bytes.
func (p *channelPath) memory() int { return p.queued + 200*len(p.queue) }

func (p *channelPath) arrive(n int) {
	for range n {
		if !p.MayRead() || p.server.Credits() == 0 {
			return
		}
		p.server.Received()
		p.begin(p.drawMessage())
		p.store(p.missing)
	}
}

func (p *channelPath) drawMessage() pacer.Message {
	size := uint32(rapid.IntRange(0, 30_000).Draw(p.t, "size"))
	switch k := rapid.IntRange(0, 40).Draw(p.t, "message"); k {
	case 0:
		return pacer.Message{Op: spiceproto.MsgDisplaySurfaceCreate, Size: size, Width: 640, Height: 480}
	case 1, 2, 3:
		return pacer.Message{Op: spiceproto.MsgNotify, Size: size}
	default:
		left := int32(k % 8 * 32)
		return pacer.Message{
			Op: spiceproto.MsgDisplayDrawCopy, Size: size,
			Draw: true, Box: spiceproto.Rect{Left: left, Right: left + 32, Bottom: 32},
		}
	}
}

// send moves up to n bytes to the client.
func (p *channelPath) send(n int) {
	sent, messages := 0, 0
	for sent < n && len(p.queue) > 0 {
		there := p.queue[0]
		if len(p.queue) == 1 {
			there -= p.missing
		}
		k := min(n-sent, there)
		sent += k
		p.queue[0] -= k
		if p.queue[0] > 0 {
			break
		}
		p.queue = p.queue[1:]
		messages++
	}
	p.queued -= sent
	p.delivered += messages
	p.sock.Outstanding += sent
	p.Sent(p.now, sent, messages, p.memory())
	if p.queued == 0 {
		p.Drained()
	}
}

// drain lets the client's TCP acknowledge up to n bytes, and the client answer
// all it got.
func (p *channelPath) drain(n int) {
	n = min(n, p.sock.Outstanding)
	p.sock.Outstanding -= n
	p.sock.Acked += uint64(n)
	if p.sock.Outstanding > 0 {
		return
	}
	for due := (p.delivered - 1) / p.window; p.clientAcks < due; p.clientAcks++ {
		p.pings++
	}
}

func (p *channelPath) observe() {
	p.sock.MinRTT = 20 * time.Millisecond
	p.sock.RTT = time.Duration(rapid.IntRange(20, 200).Draw(p.t, "rtt")) * time.Millisecond
	p.Observe(p.now, p.sock)
}

// acknowledge writes what is due, as a session does after each event.
func (p *channelPath) acknowledge() {
	for range p.AcksDue(p.now) {
		if err := p.server.Ack(); err != nil {
			p.t.Fatal(err)
		}
		p.acked++
	}
	if p.mode == pacer.Withhold && p.acked > p.clientAcks-p.pings {
		p.t.Fatalf("%d ACKs to the server, %d from the client", p.acked, p.clientAcks-p.pings)
	}
}

func (p *channelPath) step() {
	amount := rapid.IntRange(1, 60_000).Draw(p.t, "amount")
	switch rapid.IntRange(0, 9).Draw(p.t, "step") {
	case 0, 1, 2:
		p.arrive(amount / 3000)
	case 3:
		if p.MayRead() && p.server.Credits() > 0 {
			p.server.Received()
			p.begin(p.drawMessage())
			p.store(amount / 4)
		}
	case 4, 5:
		p.send(amount)
	case 6:
		p.drain(amount)
	case 7:
		p.observe()
	case 8:
		p.now = p.now.Add(time.Duration(amount/60) * time.Millisecond)
	case 9:
		for ; p.pings > 0; p.pings-- {
			p.ClientAck()
		}
	}
	p.acknowledge()
}

func (p *channelPath) check() {
	s := p.State()
	if s.QueueBytes != p.queued || s.QueueBytes < 0 {
		p.t.Fatalf("%d bytes queued, want %d", s.QueueBytes, p.queued)
	}
	if p.queued == 0 && !p.MayRead() {
		p.t.Fatal("the read valve is shut with an empty queue")
	}
	if s.HoldTime < 0 || s.AcksHeld > uint64(p.acked) {
		p.t.Fatalf("%d of %d ACKs held for %v", s.AcksHeld, p.acked, s.HoldTime)
	}
}

// finish lets everything move until nothing does.
func (p *channelPath) finish() {
	p.store(p.missing)
	p.send(p.queued)
	p.drain(p.sock.Outstanding)
	for ; p.pings > 0; p.pings-- {
		p.ClientAck()
	}
	p.acknowledge()
	if p.server.Credits() == 0 || !p.MayRead() {
		p.t.Fatalf("the server is stuck although the client drained: %d credits, may read %t, %d of %d ACKs",
			p.server.Credits(), p.MayRead(), p.acked, p.clientAcks)
	}
}

func TestChannelAnySchedule(t *testing.T) {
	atLeastChecks(t, 500)
	rapid.Check(t, func(t *rapid.T) {
		p := newChannelPath(t)
		early := rapid.Bool().Draw(t, "synced at once")
		for i := range rapid.IntRange(1, 100).Draw(t, "steps") {
			if early || i == 30 {
				p.server.Synced(1)
				p.Synced(1)
			}
			p.step()
			p.check()
		}
		p.server.Synced(1)
		p.Synced(1)
		p.finish()
		p.check()
	})
}

// Generations follow each other only in theory. No ACK may be early all the same.
func TestChannelGenerations(t *testing.T) {
	for _, mode := range []pacer.Mode{pacer.Withhold, pacer.Adaptive} {
		r := newRig(t, mode, nil)
		r.messages(window, 100)
		r.ClientAck()
		r.wantAcks(1, "the first generation")
		r.ClientAck()
		r.Arrived(pacer.Message{Op: spiceproto.MsgSetAck, SetAck: spiceproto.SetAck{Generation: 2, Window: 2}})
		r.messages(3, 100)
		r.wantAcks(0, "before ACK_SYNC of the second")
		r.Synced(2)
		if mode == pacer.Adaptive {
			r.wantAcks(2, "the second generation")
			continue
		}
		r.wantAcks(0, "the client's ACKs of the first do not count")
		r.ClientAck()
		r.wantAcks(1, "the client's first of the second")
	}
}
