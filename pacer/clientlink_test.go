package pacer_test

import (
	"time"

	"spicepacer/pacer"
)

const (
	mss        = 1448
	firstCwnd  = 10 * mss              // RFC 6928
	delayedAck = 40 * time.Millisecond // Linux, TCP_DELACK_MIN
	mostWrite  = 16 << 10              // session's displayWriter: one TLS record,
	writeTime  = 4 * time.Millisecond  // and no more than the link carries in this
	mbit       = 1e6 / 8               // bytes per second
)

var epoch = time.Unix(1_000_000_000, 0)

// clientLink is a TCP connection over one bottleneck, in time made up by its user:
// slow start to as many bytes in flight as the path and its queue hold, delayed
// ACKs, and the counters of a Linux socket.
type clientLink struct {
	rate   float64 // of payload, bytes per second
	rtt    time.Duration
	jitter func() time.Duration // added to each segment's way; may be nil
	// restart: an idle connection starts over with the first window
	// (tcp_slow_start_after_idle).
	restart bool

	now      time.Duration
	unsent   int
	flight   []flying
	inFlight int
	cwnd     int
	limited  bool          // by cwnd, since the last ACK
	free     time.Duration // when the bottleneck is free
	lastAck  time.Duration // no ACK arrives before this one
	lastSent time.Duration
	even     bool // the receiver has one segment to acknowledge

	acked        uint64
	srtt, minRTT time.Duration
}

type flying struct {
	size                  int
	sent, departs, acked time.Duration
	lone                 bool // acknowledged by the receiver's timer
}

func newClientLink(rate float64, rtt time.Duration) *clientLink {
	return &clientLink{rate: rate, rtt: rtt, cwnd: firstCwnd, acked: 4000}
}

// product is the path's bandwidth-delay product in bytes.
func (p *clientLink) product() float64 { return p.rate * p.rtt.Seconds() }

// advance lets d pass.
func (p *clientLink) advance(d time.Duration) {
	end := p.now + d
	for len(p.flight) > 0 && p.flight[0].acked <= end {
		p.now = p.flight[0].acked
		p.acknowledge()
		p.send()
	}
	p.now = end
}

// acknowledge takes the ACK that arrives now, of one segment or two.
func (p *clientLink) acknowledge() {
	first := p.flight[0]
	bytes := 0
	var last flying
	for len(p.flight) > 0 && p.flight[0].acked <= p.now {
		last = p.flight[0]
		bytes += last.size
		p.flight = p.flight[1:]
	}
	p.acked += uint64(bytes)
	p.inFlight -= bytes
	if p.limited {
		p.cwnd = min(p.cwnd+bytes, max(int(2*p.product()), firstCwnd))
	}
	p.sample(p.now-first.sent, p.now-last.sent, last.lone)
}

func (p *clientLink) sample(oldest, newest time.Duration, lone bool) {
	if p.srtt == 0 {
		p.srtt = oldest
	}
	p.srtt += (oldest - p.srtt) / 8
	if !lone && (p.minRTT == 0 || newest < p.minRTT) {
		p.minRTT = newest
	}
}

func (p *clientLink) write(n int) {
	if p.restart && p.inFlight == 0 && p.now-p.lastSent > p.srtt+200*time.Millisecond {
		p.cwnd = firstCwnd
	}
	p.unsent += n
	p.send()
}

func (p *clientLink) send() {
	p.limited = p.limited && p.inFlight > p.cwnd/2
	for p.unsent > 0 {
		if p.inFlight >= p.cwnd {
			p.limited = true
			return
		}
		n := min(p.unsent, mss)
		p.unsent -= n
		p.inFlight += n
		p.lastSent = p.now
		p.flight = append(p.flight, p.schedule(flying{size: n, sent: p.now}))
	}
}

// schedule sets the times of a segment that reaches the bottleneck now.
func (p *clientLink) schedule(s flying) flying {
	s.departs = max(p.now, p.free) + time.Duration(float64(s.size)/p.rate*float64(time.Second))
	p.free = s.departs
	s.acked = s.departs + p.rtt
	if p.jitter != nil {
		s.acked += p.jitter()
	}
	s.acked = max(s.acked, p.lastAck)
	p.lastAck = s.acked
	p.even = !p.even
	if n := len(p.flight); !p.even && n > 0 && p.flight[n-1].lone {
		p.flight[n-1].lone = false
		p.flight[n-1].acked = min(p.flight[n-1].acked, s.acked)
	} else {
		p.even, s.lone = true, true
		s.acked += delayedAck
	}
	return s
}

// change gives the path another rate and length.
func (p *clientLink) change(rate float64, rtt time.Duration) {
	p.rate, p.rtt = rate, rtt
	waiting := 0
	for waiting < len(p.flight) && p.flight[waiting].departs <= p.now {
		waiting++
	}
	queue := append([]flying(nil), p.flight[waiting:]...)
	p.flight, p.free, p.even = p.flight[:waiting], p.now, false
	for _, s := range queue {
		p.flight = append(p.flight, p.schedule(s))
	}
}

func (p *clientLink) socket() pacer.LinkSample {
	return pacer.LinkSample{
		Acked: p.acked, Outstanding: p.unsent + p.inFlight, NotSent: p.unsent,
		RTT: p.srtt, MinRTT: p.minRTT, MSS: mss,
	}
}

// queueTime is how long a byte written now waits before it leaves the
// bottleneck.
func (p *clientLink) queueTime() time.Duration {
	return max(p.free-p.now, 0) + time.Duration(float64(p.unsent)/p.rate*float64(time.Second))
}
