package spicetest

import (
	"math"
	"time"
)

// never is later than every moment of a Link, moments being durations since its
// start.
const never = time.Duration(math.MaxInt64)

// half is one direction of a Link: a state machine that is told the time. Its
// bytes stand in one queue: received and unread, on the way, unsent.
type half struct {
	profile                   Profile
	sendBuffer, receiveBuffer int

	data          fifo
	unread, onWay int

	flight   []segment // sent and not acknowledged
	arrived  int       // how many of these have arrived
	inFlight int       // their bytes

	window   int  // congestion window
	limited  bool // the congestion window held bytes back
	free     time.Duration
	lastSeen time.Duration // arrival of the last segment scheduled

	written, acked uint64
	rtt, minRTT    time.Duration

	finished bool          // the writer is done
	finishAt time.Duration // when the reader can know
	broken   bool          // the reader is gone
}

type segment struct {
	size                    int
	sent                    time.Duration
	departs, arrives, acked time.Duration
}

func newHalf(cfg LinkConfig) *half {
	h := &half{
		profile:    cfg.Profile,
		sendBuffer: cfg.SendBuffer, receiveBuffer: cfg.ReceiveBuffer,
		window: initialSegment * linkSegment,
	}
	if h.sendBuffer == 0 {
		h.sendBuffer = defaultSendBuffer
	}
	if h.receiveBuffer == 0 {
		h.receiveBuffer = defaultReceiveBuffer
	}
	return h
}

// advance plays all arrivals and acknowledgements up to now, in their order.
func (h *half) advance(now time.Duration) {
	for {
		arrival, ack := h.nextArrival(), h.nextAck()
		if min(arrival, ack) > now {
			return
		}
		if arrival <= ack {
			h.arrive()
		} else {
			h.acknowledge(ack)
		}
	}
}

func (h *half) nextArrival() time.Duration {
	if h.arrived == len(h.flight) {
		return never
	}
	return h.flight[h.arrived].arrives
}

func (h *half) nextAck() time.Duration {
	if len(h.flight) == 0 {
		return never
	}
	return h.flight[0].acked
}

func (h *half) arrive() {
	n := h.flight[h.arrived].size
	h.arrived++
	h.onWay -= n
	h.unread += n
}

func (h *half) acknowledge(now time.Duration) {
	s := h.flight[0]
	h.flight = h.flight[1:]
	h.arrived--
	h.inFlight -= s.size
	h.acked += uint64(s.size)
	h.sample(now - s.sent)
	if h.limited {
		h.window += s.size
	}
	h.window = min(h.window, h.profile.mostInFlight())
	h.send(now)
}

func (h *half) sample(rtt time.Duration) {
	if h.minRTT == 0 || rtt < h.minRTT {
		h.minRTT = rtt
	}
	if h.rtt == 0 {
		h.rtt = rtt
	}
	h.rtt += (rtt - h.rtt) / 8 // RFC 6298
}

// send puts on the way what the congestion and the receive window allow.
func (h *half) send(now time.Duration) {
	h.limited = false
	for h.unsent() > 0 {
		if h.inFlight >= h.window {
			h.limited = true
			return
		}
		n := min(h.unsent(), linkSegment, h.receiveBuffer-h.unread-h.onWay)
		if n <= 0 {
			return
		}
		h.flight = append(h.flight, h.schedule(segment{size: n, sent: now}, now))
		h.inFlight += n
		h.onWay += n
	}
}

func (h *half) unsent() int { return h.data.Len() - h.unread - h.onWay }

// queued is SIOCOUTQ.
func (h *half) queued() int { return h.unsent() + h.inFlight }

// schedule sets the moments of a segment that reaches the bottleneck now.
func (h *half) schedule(s segment, now time.Duration) segment {
	if h.profile.Down {
		s.departs, s.arrives, s.acked = never, never, never
		return s
	}
	s.departs = max(now, h.free) + h.profile.serialise(s.size)
	s.arrives = max(s.departs+h.profile.RTT/2, h.lastSeen)
	s.acked = s.arrives + h.profile.RTT/2
	h.free, h.lastSeen = s.departs, s.arrives
	return s
}

func (h *half) change(now time.Duration, p Profile) {
	h.advance(now)
	h.profile = p
	h.free, h.lastSeen = now, now
	for i := range h.flight {
		if s := &h.flight[i]; s.departs > now {
			*s = h.schedule(*s, now)
		} else {
			h.lastSeen = max(h.lastSeen, s.arrives)
		}
	}
}

// write takes as much of p as the send buffer has room for.
func (h *half) write(now time.Duration, p []byte) int {
	n := min(len(p), max(h.sendBuffer-h.queued(), 0))
	h.data.append(p[:n])
	h.written += uint64(n)
	h.send(now)
	return n
}

// read takes what has arrived.
func (h *half) read(now time.Duration, p []byte) int {
	n := copy(p, h.data.Bytes()[:h.unread])
	h.data.Discard(n)
	h.unread -= n
	h.send(now)
	return n
}

// finish ends the stream behind what was written.
func (h *half) finish(now time.Duration) {
	if !h.finished {
		h.finished, h.finishAt = true, now+h.profile.RTT/2
	}
}

// ended tells whether the reader has come to the end of the stream.
func (h *half) ended(now time.Duration) bool {
	return h.finished && now >= h.finishAt && h.data.Len() == 0
}

// nextForReader returns the moment at which a reader without data looks again.
func (h *half) nextForReader(now time.Duration) time.Duration {
	next := min(h.nextArrival(), h.nextAck())
	if h.finished && h.finishAt > now {
		next = min(next, h.finishAt)
	}
	return next
}
