package pacer

import "time"

const (
	// smoothing is how many bytes of a flight must arrive until the kernel's
	// smoothed round trip, to which each ACK (of two segments) adds an eighth,
	// is that flight's and not the one's before.
	smoothing = 16 * segment
	// leastCut is by how many bytes flights must differ to be compared: between
	// two ACKs and two writes the same flight varies that much.
	leastCut = 4 * segment
	// doubtAfter is how long a base above the kernel's minimum is believed.
	// Then a smaller budget tries again.
	doubtAfter = 10 * time.Second
)

// basePath keeps the round trip of the empty path.
//
// The kernel's minimum is right on a steady path. Where the path has become
// longer, jitters, or has a queue that others keep full, every round trip is
// above it whatever the budget is. A budget made with it would then starve the
// channel step by step, as each smaller one gives a smaller rate. So flights
// are compared: where clearly fewer bytes on their way take no less time,
// nothing of theirs stood in a queue, and that time is the path's.
type basePath struct {
	kernel time.Duration // the kernel's minimum
	rigid  time.Duration // what fewer bytes did not shorten; 0: nothing
	since  time.Time     // when rigid was found or last doubted
	sent   uint64        // LinkSample.Acked when all that was sent has arrived
	flight flight        // under way, if its end is not 0
	before flight        // what it will be compared with
}

// flight is the bytes on their way at one time, and how long they take.
type flight struct {
	bytes int
	end   uint64 // LinkSample.Acked when rtt is known
	rtt   time.Duration
}

// observe takes a sample. A flight begins when bytes have just been sent, as
// its size is theirs to wait behind.
func (b *basePath) observe(now time.Time, s LinkSample) {
	if s.MinRTT > 0 {
		b.kernel = s.MinRTT
	}
	if b.flight.end > 0 && s.Acked >= b.flight.end {
		b.flight.rtt = s.RTT
		b.compare(now)
		b.flight = flight{}
	}
	bytes := max(s.Outstanding-s.NotSent, 0)
	sent := s.Acked + uint64(bytes)
	if b.flight.end == 0 && sent > b.sent {
		b.flight = flight{bytes: bytes, end: sent + smoothing}
	}
	b.sent = sent
}

// compare judges the flight that has just ended. Times are the same within what
// the smoothing leaves of jitter; longer ones mean that the path has changed.
func (b *basePath) compare(now time.Time) {
	f, before := b.flight, b.before
	fewer := before.bytes-f.bytes >= max(before.bytes/5, leastCut)
	longer, shorter := f.rtt > before.rtt/20*21, f.rtt < before.rtt/10*9
	switch {
	case fewer && !longer && !shorter:
		b.rigid, b.since = f.rtt, now
	case b.rigid > 0 && now.Sub(b.since) >= doubtAfter:
		b.rigid, b.since = b.rigid/10*7, now
	}
	if f.rtt < b.rigid/10*9 {
		b.rigid = f.rtt
	}
	if fewer || longer || f.bytes >= before.bytes {
		b.before = f
	}
}

// pause tells that the source ran dry: flights before and after are not
// comparable.
func (b *basePath) pause() { b.flight, b.before = flight{}, flight{} }

// value returns the base, 0 while unknown.
func (b *basePath) value() time.Duration { return max(b.kernel, b.rigid) }
