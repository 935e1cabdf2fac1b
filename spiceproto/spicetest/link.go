package spicetest

import (
	"math"
	"sync"
	"time"
)

const (
	linkSegment    = 1448 // payload of a full Ethernet TCP segment with timestamps
	linkOverhead   = 52   // IPv4 and TCP headers with timestamps
	initialSegment = 10   // RFC 6928

	defaultSendBuffer    = 4 << 20 // tcp_wmem[2]
	defaultReceiveBuffer = 6 << 20 // tcp_rmem[2]
)

// Profile is what a path does to packets, the same both ways.
type Profile struct {
	// RTT is that of the empty path; half of it each way.
	RTT time.Duration
	// Rate is in bits of IP packets per second; 0 is without limit.
	Rate float64
	// Queue bounds the bottleneck's drop-tail queue, in bytes: 0 is one
	// bandwidth-delay product, negative without bound.
	Queue int
	// Down: nothing gets through.
	Down bool
}

// mostInFlight is how many bytes fit on the path and in its queue.
func (p Profile) mostInFlight() int {
	if p.Rate == 0 || p.Queue < 0 {
		return math.MaxInt
	}
	product := int(p.Rate / 8 * p.RTT.Seconds())
	queue := p.Queue
	if queue == 0 {
		queue = product
	}
	return max(product+queue, initialSegment*linkSegment)
}

// serialise is how long a segment with n bytes of payload takes the bottleneck.
func (p Profile) serialise(n int) time.Duration {
	if p.Rate == 0 {
		return 0
	}
	return time.Duration(float64(n+linkOverhead) * 8 / p.Rate * float64(time.Second))
}

// LinkConfig describes a Link.
type LinkConfig struct {
	Profile
	// SendBuffer and ReceiveBuffer bound the sockets at both ends, in bytes;
	// 0 is what Linux grows to by itself.
	SendBuffer, ReceiveBuffer int
}

// Link is a TCP connection over a simulated path, in the time of package time,
// so under testing/synctest in no time at all. TCP is reduced to what a sender
// above it can see: slow start from ten segments up to as many bytes in flight
// as the path and its queue hold (what a loss-based sender comes to, without
// its saw-tooth), a receive window, and bounded socket buffers. Nothing is
// lost or reordered, and an outage ends without back-off.
type Link struct {
	mu      sync.Mutex
	start   time.Time
	changed chan struct{} // closed and renewed when a waiter must look again
	ends    [2]LinkConn
}

// NewLink returns a connection and its two ends.
func NewLink(cfg LinkConfig) (link *Link, a, b *LinkConn) {
	l := &Link{start: time.Now(), changed: make(chan struct{})}
	there, back := newHalf(cfg), newHalf(cfg)
	l.ends[0] = LinkConn{link: l, out: there, in: back, name: "a"}
	l.ends[1] = LinkConn{link: l, out: back, in: there, name: "b"}
	return l, &l.ends[0], &l.ends[1]
}

// Change gives the path another profile from now on. Packets that wait in the
// queue leave it at the new rate.
func (l *Link) Change(p Profile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range l.ends {
		l.ends[i].out.change(now, p)
	}
	l.wake()
}

// Profile returns the path's present profile.
func (l *Link) Profile() Profile {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends[0].out.profile
}

func (l *Link) now() time.Duration { return time.Since(l.start) }

// wake makes every waiter look again. The caller holds mu.
func (l *Link) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// wait releases mu until something changed or the moment at comes.
func (l *Link) wait(at time.Duration) {
	changed := l.changed
	var timeout <-chan time.Time
	if at != never {
		timer := time.NewTimer(at - l.now())
		defer timer.Stop()
		timeout = timer.C
	}
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
	case <-timeout:
	}
}
