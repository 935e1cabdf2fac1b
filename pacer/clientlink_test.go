package pacer_test

import (
	"slices"
	"time"

	"spicepacer/pacer"
)

const (
	mbit       = 1e6 / 8 // bytes per second
	mss        = 1448
	firstCwnd  = 10 * mss              // RFC 6928
	delayedAck = 40 * time.Millisecond // Linux, TCP_DELACK_MIN
	minRTO     = 200 * time.Millisecond
)

var epoch = time.Unix(1_000_000_000, 0)

// clientLink is a TCP connection over one bottleneck, in time made up by its
// user: slow start to as many bytes in flight as the path and a queue of one
// bandwidth-delay product hold, delayed ACKs, and the counters of a Linux
// socket. Nothing is lost.
type clientLink struct {
	rate   float64 // of payload, bytes per second
	rtt    time.Duration
	jitter func() time.Duration // added to a segment's way; nil: none
	// restarts: after a pause TCP starts again with its first window
	// (tcp_slow_start_after_idle, the default).
	restarts bool

	now      time.Duration // since epoch
	unsent   int
	flight   []segment
	inFlight int
	cwnd     int
	limited  bool          // cwnd held bytes back
	free     time.Duration // when the bottleneck is
	lastAck  time.Duration // ACKs arrive in order
	lastSent time.Duration

	acked        uint64
	srtt, minRTT time.Duration
}

// segment is on its way. acked is when its ACK arrives; lone tells that this
// is the receiver's timer, as no second segment has followed yet.
type segment struct {
	size                 int
	sent, departs, acked time.Duration
	lone                 bool
}

func newClientLink(rate float64, rtt time.Duration) *clientLink {
	return &clientLink{rate: rate, rtt: rtt, cwnd: firstCwnd}
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

// acknowledge takes the ACK that arrives now, of one segment or of several.
func (p *clientLink) acknowledge() {
	n, bytes := 0, 0
	for n < len(p.flight) && p.flight[n].acked <= p.now {
		bytes += p.flight[n].size
		n++
	}
	first, last := p.flight[0], p.flight[n-1]
	p.flight = p.flight[n:]
	p.acked += uint64(bytes)
	p.inFlight -= bytes
	if p.limited {
		p.cwnd = min(p.cwnd+bytes, max(int(2*p.product()), firstCwnd))
	}
	if p.srtt == 0 {
		p.srtt = p.now - first.sent
	}
	p.srtt += (p.now - first.sent - p.srtt) / 8
	if d := p.now - last.sent; !last.lone && (p.minRTT == 0 || d < p.minRTT) {
		p.minRTT = d
	}
}

func (p *clientLink) write(n int) {
	if p.restarts && p.inFlight == 0 && p.now-p.lastSent > p.srtt+minRTO {
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
		p.schedule(segment{size: n, sent: p.now})
	}
}

// schedule puts a segment on its way that reaches the bottleneck now.
func (p *clientLink) schedule(s segment) {
	p.free = max(p.now, p.free) + takes(s.size, p.rate)
	s.departs = p.free
	s.acked = s.departs + p.rtt
	if p.jitter != nil {
		s.acked += p.jitter()
	}
	s.acked = max(s.acked, p.lastAck)
	p.lastAck = s.acked
	if n := len(p.flight); n > 0 && p.flight[n-1].lone {
		p.flight[n-1].lone = false
		p.flight[n-1].acked = min(p.flight[n-1].acked, s.acked)
	} else {
		s.lone = true
		s.acked += delayedAck
	}
	p.flight = append(p.flight, s)
}

// change gives the path another rate and length. What waits at the bottleneck
// leaves it at the new rate.
func (p *clientLink) change(rate float64, rtt time.Duration) {
	p.rate, p.rtt, p.free = rate, rtt, p.now
	waits := slices.IndexFunc(p.flight, func(s segment) bool { return s.departs > p.now })
	if waits < 0 {
		return
	}
	queue := slices.Clone(p.flight[waits:])
	p.flight = p.flight[:waits]
	for _, s := range queue {
		p.schedule(s)
	}
}

// queue is how long a byte written now waits until it leaves the bottleneck.
func (p *clientLink) queue() time.Duration {
	return max(p.free-p.now, 0) + takes(p.unsent, p.rate)
}

// sample is what the socket says.
func (p *clientLink) sample() pacer.LinkSample {
	return pacer.LinkSample{
		Acked: p.acked, Outstanding: p.unsent + p.inFlight, NotSent: p.unsent,
		RTT: p.srtt, MinRTT: p.minRTT, MSS: mss,
	}
}

// takes is how long n bytes take at a rate.
func takes(n int, rate float64) time.Duration {
	return time.Duration(float64(n) / rate * float64(time.Second))
}
