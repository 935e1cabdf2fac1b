package pacer

import (
	"slices"
	"time"
)

const (
	// initialBudget is what may stand in the client's socket before anything
	// is known: a little more than TCP's own first flights, so that an unknown
	// fast link is not held up, and a quarter of a second at 2 Mbit/s.
	initialBudget = 64 << 10
	// minBudget keeps a few segments in flight on the thinnest link, so that
	// delayed ACKs do not stop it.
	minBudget = 8 << 10
	// maxBudget is beyond every send buffer Linux grants by itself.
	maxBudget = 64 << 20
	// maxRate is beyond every link (800 Gbit/s); it keeps products of rates and
	// times in range whatever a sample says.
	maxRate = 100e9
	// minInterval is the shortest time over which a rate is believed: ACKs
	// arrive in pairs and bursts, and shorter intervals measure these.
	minInterval = 50 * time.Millisecond
	// segment is the payload of a full Ethernet TCP segment with time stamps.
	segment = 1448
	// standingSegments is the least standing queue in segments. Below it the
	// receiver's delayed ACKs (one for two segments) leave a thin link idle.
	standingSegments = 4
	// startGrowth is the growth of the rate from one interval to the next
	// below which TCP's start is over, as in BBR's start-up.
	startGrowth = 1.25
	// startIntervals is for how many intervals in a row, since the phase of
	// TCP's first bursts makes single ones look slow.
	startIntervals = 2
	// minRTTGrowth and maxRTTGrowth bound by how much the round trip must grow
	// for a queue to have begun: twice what RFC 9406 has for the least round
	// trip of a flight (MIN_RTT_THRESH, MAX_RTT_THRESH), as the kernel's is a
	// mean, which jitter lengthens.
	minRTTGrowth = 8 * time.Millisecond
	maxRTTGrowth = 32 * time.Millisecond
	// maxWait bounds the sleep of a writer without room. The estimate may be
	// too low, and then acknowledgements come sooner than it says.
	maxWait = 5 * time.Millisecond
	// maxLateness bounds what is added to the target for a writer that wakes
	// late; one wake-up in latenessDecay forgets.
	maxLateness   = 100 * time.Millisecond
	latenessDecay = 128
	// rateIntervals is how many intervals the largest rate is taken of.
	rateIntervals = 8
	// stillAfter is how long, beyond two round trips, nothing may be
	// acknowledged before the writer looks less often: an eighth of the
	// silence, at most maxStillWait.
	stillAfter   = 200 * time.Millisecond
	maxStillWait = 250 * time.Millisecond
	// emptyIntervals is how many intervals in a row without a standing queue
	// show that a link is not the limit any more: one may be noise.
	emptyIntervals = 3
	// maxDoublings bounds how fast the search for more bandwidth speeds up.
	maxDoublings = 4
)

// LinkSample is what the client's socket says at one moment.
type LinkSample struct {
	// Acked is the bytes the client's TCP has acknowledged since connect
	// (tcpi_bytes_acked).
	Acked uint64
	// Outstanding is the bytes written and not acknowledged, unsent ones
	// included (SIOCOUTQ).
	Outstanding int
	// NotSent is the part of Outstanding that has not left the host, held back
	// by TCP's own window (tcpi_notsent_bytes).
	NotSent int
	// RTT is the smoothed round trip (tcpi_rtt), MinRTT the kernel's windowed
	// minimum (tcpi_min_rtt); zero means unknown.
	RTT, MinRTT time.Duration
	// MSS is the payload of a full segment in bytes, 0 if unknown.
	MSS int
}

// Link learns what the client's link carries, and says how many bytes may
// stand in the client's socket: the path's bandwidth-delay product plus a small
// standing queue.
//
// It measures Δacked/Δt only over intervals in which the budget was used up
// all the time. tcpi_delivery_rate is not used: with a working valve its
// samples are app-limited and only ever rise. Over such an interval either the
// round trip shows a queue, then the link was the limit and the measured rate
// is the link's, or it shows none, then the budget was the limit and is raised.
type Link struct {
	// Target is the standing queue allowed on top of the path, in time.
	Target time.Duration

	budget      int
	rate        float64 // bytes per second; 0: not learned
	outstanding int     // at the last sample
	acked       uint64  // at the last sample
	moved       time.Time
	still       time.Duration // how long acked had not moved at the last sample
	written     int           // since the last sample
	base        basePath
	span        interval
	recent      recentRates
	growth      int           // consecutive raises
	waited      time.Duration // for room, in intervals that the source ended
	trend       trend
	lateness    time.Duration
	full        bool
}

// interval is a stretch of time in which bytes always waited for the budget.
type interval struct {
	start    time.Time
	last     time.Time // sample
	from     time.Time // of the rate: what was idle before is silent for a round trip
	acked    uint64    // at from
	unsent   int       // sum over the samples
	samples  int
	rtt      time.Duration // smallest seen: bursts lengthen single ones
	latest   time.Duration // round trip of the last sample
	inFlight int           // most seen
}

// Budget returns the bytes that may stand in the client's socket.
func (l *Link) Budget() int {
	if l.budget == 0 {
		return initialBudget
	}
	return l.budget
}

// Rate returns the link's estimated rate in bytes per second, 0 while the link
// has never been seen full.
func (l *Link) Rate() float64 { return l.rate }

// Base returns the round trip of the empty path, 0 while unknown.
func (l *Link) Base() time.Duration { return l.base.value() }

// Room returns how many more bytes the budget admits, as far as is known
// without another sample: what was acknowledged since the last one is not
// counted. It may be negative.
func (l *Link) Room() int { return l.Budget() - l.outstanding - l.written }

// Wrote books bytes handed to the client's socket.
func (l *Link) Wrote(n int) { l.written += n }

// Quantum returns the least room worth a write while the link is full, in
// bytes: a quarter of the standing target, so that the socket never runs dry
// between two writes and the writer does not wake for every segment.
func (l *Link) Quantum() int {
	return clamp(int(l.rate*l.target().Seconds()/4), 2*segment, l.Budget()/2)
}

// Wait returns how long the excess over the budget needs to drain far enough
// for one quantum, at the estimated rate.
func (l *Link) Wait() time.Duration {
	excess := l.Quantum() - l.Room()
	if excess <= 0 {
		return 0
	}
	if l.still > stillAfter+2*l.Base() {
		return clamp(l.still/8, maxWait, maxStillWait)
	}
	if l.rate == 0 {
		return clamp(l.Base()/8, time.Millisecond, maxWait)
	}
	return clamp(time.Duration(float64(excess)/l.rate*float64(time.Second)), time.Millisecond, maxWait)
}

// Delay returns how long a byte written now stays unacknowledged beyond the
// empty path, 0 while the rate is unknown.
func (l *Link) Delay() time.Duration {
	if l.rate == 0 {
		return 0
	}
	d := time.Duration(float64(l.outstanding+l.written)/l.rate*float64(time.Second)) - l.Base()
	return max(d, 0)
}

// Full tells that the link is the limit: it has had a standing queue, and always
// more bytes waiting, since.
func (l *Link) Full() bool { return l.full }

// Late tells by how much the writer overslept a Wait. On a loaded machine that
// is time in which the link would run dry, so it is added to the target.
func (l *Link) Late(d time.Duration) {
	l.lateness -= l.lateness / latenessDecay
	l.lateness = clamp(d, l.lateness, maxLateness)
}

// Idle tells that the writer ran out of bytes: the interval under way measures
// the source, not the link.
func (l *Link) Idle() {
	l.cut()
	l.span, l.trend = interval{}, trend{}
	l.base.pause()
	l.full = false
}

// cut looks at an interval that the source ended. It tells no rate, but that
// the writer waited for room although nothing stood in a queue: where bursts
// are shorter than intervals, only this raises a budget that slows them.
func (l *Link) cut() {
	switch {
	case l.span.samples == 0:
		return
	case l.span.unsent > 0 || l.onLink() > l.target()/2:
		l.waited = 0
		return
	}
	l.waited += l.span.last.Sub(l.span.start)
	if l.waited >= max(minInterval, l.Base()) {
		l.waited = 0
		l.raise()
	}
}

// Observe takes a sample. more tells that bytes wait for room in the budget.
func (l *Link) Observe(now time.Time, s LinkSample, more bool) {
	l.outstanding, l.written = s.Outstanding, 0
	if s.Acked != l.acked || l.moved.IsZero() {
		l.acked, l.moved = s.Acked, now
	}
	l.still = now.Sub(l.moved)
	l.base.observe(now, s)
	if !more {
		l.Idle()
		return
	}
	l.span.add(now, s)
	if d := now.Sub(l.span.from); !l.span.from.IsZero() && d >= max(minInterval, l.Base()) {
		l.learn(s, d)
		l.span = interval{start: now, from: now, acked: s.Acked}
	}
}

func (i *interval) add(now time.Time, s LinkSample) {
	if i.start.IsZero() {
		i.start, i.acked = now, s.Acked
	}
	if i.from.IsZero() && s.Acked != i.acked {
		i.from, i.acked = now, s.Acked
	}
	i.last = now
	i.unsent += s.NotSent
	i.samples++
	i.latest = s.RTT
	if i.rtt == 0 || s.RTT > 0 && s.RTT < i.rtt {
		i.rtt = s.RTT
	}
	i.inFlight = max(i.inFlight, s.Outstanding-s.NotSent)
}

// learn closes an interval of length d.
func (l *Link) learn(s LinkSample, d time.Duration) {
	if s.Acked <= l.span.acked {
		return
	}
	rate := min(float64(s.Acked-l.span.acked)/d.Seconds(), maxRate)
	l.waited = 0
	if !l.queued(rate) {
		if l.found() {
			l.rate = l.recent.add(rate, false)
		}
		l.raise()
		l.full = l.full && l.growth < emptyIntervals
		return
	}
	l.full, l.growth = true, 0
	l.rate = l.recent.add(rate, l.crowded(rate))
	l.setBudget(l.rate * (l.Base() + l.target()).Seconds())
}

// queued tells whether the closing interval shows a standing queue: on the link,
// as a longer round trip, or in the socket, as bytes TCP does not let go. While
// TCP's own start goes on it holds bytes back only because its window still
// grows, so these do not count then.
func (l *Link) queued(rate float64) bool {
	l.trend.add(rate)
	if l.trend.starting(l.found()) {
		return l.onLink() > l.target()/2
	}
	return l.delay(rate) > l.target()/2
}

// filling tells that the round trip has begun to grow, as HyStart++ does (RFC
// 9406, 4.2): one more doubling would end in lost packets. Whether the link is
// full, the next interval tells.
func (l *Link) filling() bool {
	base := l.Base()
	return base > 0 && l.span.latest >= base+clamp(base/4, minRTTGrowth, maxRTTGrowth)
}

// onLink is the standing queue on the link in the closing interval, in time.
func (l *Link) onLink() time.Duration { return l.span.rtt - l.Base() }

// delay is the standing queue on the link and in the socket.
func (l *Link) delay(rate float64) time.Duration {
	unsent := float64(l.span.unsent) / float64(l.span.samples)
	return l.onLink() + time.Duration(unsent/rate*float64(time.Second))
}

// crowded tells that much more stands in the queue than the budget was meant to
// admit: the rate it was made with is out of date.
func (l *Link) crowded(rate float64) bool {
	return l.delay(rate) > 2*l.target()
}

// raise looks for more. While the link has not been seen full, it stays one
// doubling ahead of what TCP's own start has under way, and a quarter of that
// once the round trip grows (RFC 9406, CSS_GROWTH_DIVISOR).
// Later it adds twice the standing target at first and doubles that while it
// goes on, so that a link that became ten times faster is found in about ten
// round trips and a steady one is hardly disturbed.
func (l *Link) raise() {
	if !l.found() {
		growth := 2.
		if l.filling() {
			growth = 1 + 1./4
		}
		l.setBudget(max(float64(l.Budget()), growth*float64(l.span.inFlight)))
		return
	}
	step := 2 * l.target().Seconds() / max(l.Base(), time.Millisecond).Seconds()
	factor := 1 + clamp(step, 0.05, 0.5)*float64(int(1)<<min(l.growth, maxDoublings))
	l.growth++
	more := min(float64(l.Budget())*min(factor, 2), 2*float64(l.span.inFlight))
	l.setBudget(max(float64(l.Budget()), more))
}

// found tells that the link has been seen full.
func (l *Link) found() bool { return l.rate > 0 }

func (l *Link) setBudget(b float64) {
	l.budget = int(clamp(b, minBudget, maxBudget))
}

// target is the standing queue in time: what is configured, or what a few
// segments take on a thin link, and what the writer may oversleep.
func (l *Link) target() time.Duration {
	if l.rate == 0 {
		return l.Target
	}
	return max(l.Target, time.Duration(standingSegments*segment/l.rate*float64(time.Second))) + l.lateness
}

// trend tells whether TCP's own start goes on.
type trend struct {
	rate   float64 // of the interval before
	steady int     // consecutive intervals in which it did not grow
}

func (t *trend) add(rate float64) {
	if rate > startGrowth*t.rate {
		t.steady = 0
	} else {
		t.steady++
	}
	t.rate = rate
}

// starting takes a start after a pause, on a link that is known, for over as
// soon as the rate does not grow.
func (t *trend) starting(known bool) bool {
	return t.steady == 0 || !known && t.steady < startIntervals
}

// recentRates keeps the rates of the last intervals. The largest counts: a
// writer that woke late makes an interval look slow, nothing makes one look
// fast.
type recentRates struct {
	rates [rateIntervals]float64
	next  int
}

// add books a rate, forgetting all others if they are out of date, and returns
// the largest.
func (r *recentRates) add(rate float64, outdated bool) float64 {
	if outdated {
		*r = recentRates{}
	}
	r.rates[r.next] = rate
	r.next = (r.next + 1) % rateIntervals
	return slices.Max(r.rates[:])
}

func clamp[T int | float64 | time.Duration](v, low, high T) T {
	return max(low, min(v, high))
}
