package pacer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"spicepacer/pacer"
)

const target = 10 * time.Millisecond

// writer moves a source's bytes into a client's socket as session's
// displayWriter does: within the budget, looking at the socket when there is no
// room, sleeping when that does not help.
type writer struct {
	path    *clientLink
	link    *pacer.Link
	backlog int
	// next returns when the source, now empty, goes on, and with how much.
	next func() (at time.Duration, n int)

	fullSamples   int
	queue, budget float64 // seconds and bytes, sums over naps
	naps          float64
}

// endless returns a writer that always has bytes.
func endless(rate float64, rtt time.Duration) *writer {
	return &writer{path: newClientLink(rate, rtt), link: &pacer.Link{Target: target}, backlog: math.MaxInt}
}

// bursts returns a writer whose source has n bytes every period.
func bursts(rate float64, rtt time.Duration, n int, period time.Duration) *writer {
	w := endless(rate, rtt)
	w.backlog = 0
	at := time.Duration(0)
	w.next = func() (time.Duration, int) {
		at += period
		return at, n
	}
	return w
}

func (w *writer) run(d time.Duration) {
	for end, fresh := w.path.now+d, false; w.path.now < end; {
		switch {
		case w.backlog == 0:
			w.link.Idle()
			at, n := w.next()
			w.path.advance(max(at-w.path.now, 0))
			w.backlog = n
		case w.link.Room() >= min(w.link.Quantum(), w.backlog):
			w.write()
			fresh = false
		case !fresh:
			w.observe()
			fresh = true
		default:
			w.nap()
			fresh = false
		}
	}
}

// write writes at most a TLS record, and no more than the link carries in 4 ms.
func (w *writer) write() {
	n := 16 << 10
	if r := w.link.Rate(); r > 0 {
		n = min(n, int(r*0.004))
	}
	n = min(max(n/mss, 1)*mss, w.backlog)
	w.path.write(n)
	w.link.Wrote(n)
	w.backlog -= n
}

func (w *writer) observe() {
	w.link.Observe(epoch.Add(w.path.now), w.path.sample(), true)
	if w.link.Full() {
		w.fullSamples++
	}
}

func (w *writer) nap() {
	w.queue += w.path.queue().Seconds()
	w.budget += float64(w.link.Budget())
	w.naps++
	w.path.advance(w.link.Wait())
}

// usage is what came of the link in some time.
type usage struct {
	share         float64 // of the link's capacity
	queue, budget float64 // means, in standing queues and in paths with one
}

func (u usage) String() string {
	return fmt.Sprintf("%.1f %% of the link, queue %.2f, budget %.2f of what they should be", 100*u.share, u.queue, u.budget)
}

// measure runs for d and returns what came of the link.
func (w *writer) measure(d time.Duration) usage {
	acked, start := w.path.acked, w.path.now
	w.queue, w.budget, w.naps = 0, 0, 0
	w.run(d)
	stands := standing(w.path.rate).Seconds()
	return usage{
		share:  float64(w.path.acked-acked) / (w.path.rate * (w.path.now - start).Seconds()),
		queue:  w.queue / w.naps / stands,
		budget: w.budget / w.naps / max(w.path.product()+stands*w.path.rate, 8<<10),
	}
}

// standing is the queue that a link of this rate is to have: the target, or
// four segments, below which delayed ACKs leave it idle.
func standing(rate float64) time.Duration { return max(target, takes(4*mss, rate)) }

func TestLinkConverges(t *testing.T) {
	for _, c := range []struct {
		rate       float64 // Mbit/s
		rtt        time.Duration
		start      time.Duration // TCP's own start, and the search
		mostBudget float64
	}{
		{2, 1, 2, 1.2},
		{2, 20, 10, 1.5}, // an interval of 50 ms holds 9 segments: the rate is coarse
		{2, 80, 3, 1.15},
		{2, 300, 10, 1.2},
		{10, 1, 2, 1.5},
		{10, 20, 2, 1.15},
		{10, 80, 3, 1.1},
		{10, 300, 10, 1.1},
		{50, 1, 2, 1.1},
		{50, 20, 2, 1.05},
		{50, 80, 3, 1.05},
		{50, 300, 10, 1.05},
		{1000, 20, 1, 1.05},
		{1000, 80, 2, 1.05},
		{1000, 300, 7, 1.05},
	} {
		w := endless(c.rate*mbit, c.rtt*time.Millisecond)
		w.run(c.start * time.Second)
		got := w.measure(time.Second)
		if !w.link.Full() || got.share < 0.98 || got.queue > 2 || got.budget < 0.95 || got.budget > c.mostBudget {
			t.Errorf("%v Mbit/s, %v: full %t, %v", c.rate, w.path.rtt, w.link.Full(), got)
		}
	}
}

// On a path whose product the first budget exceeds anyway nothing is learned,
// and nothing is in the way.
func TestLinkFastAndNear(t *testing.T) {
	w := endless(1000*mbit, time.Millisecond)
	if got := w.measure(time.Second); got.share < 0.9 || w.link.Full() {
		t.Errorf("full %t, %v", w.link.Full(), got)
	}
}

func TestLinkFollowsRate(t *testing.T) {
	for _, c := range []struct {
		before, after float64 // Mbit/s
		within        time.Duration
	}{
		{2, 50, 12 * 80 * time.Millisecond},
		{2, 10, 8 * 80 * time.Millisecond},
		// Slower: as long as what was on its way takes at the new rate, and
		// some round trips.
		{10, 2, 450*time.Millisecond + 10*80*time.Millisecond},
		{50, 2, 2250*time.Millisecond + 10*80*time.Millisecond},
		{10, 0.5, 1800*time.Millisecond + 10*80*time.Millisecond},
	} {
		w := endless(c.before*mbit, 80*time.Millisecond)
		w.run(4 * time.Second)
		w.path.change(c.after*mbit, w.path.rtt)
		w.run(c.within)
		got := w.measure(2 * time.Second)
		if r := w.link.Rate() / w.path.rate; r < 0.9 || r > 1.2 {
			t.Errorf("%v to %v Mbit/s: rate %.2f of the link's", c.before, c.after, r)
		}
		if got.share < 0.97 || got.queue > 2.5 {
			t.Errorf("%v to %v Mbit/s: %v", c.before, c.after, got)
		}
	}
}

// The kernel's minimum round trip is that of the path as it was for minutes. A
// budget made with it shrinks from round trip to round trip.
func TestLinkFollowsLongerPath(t *testing.T) {
	const before = 80 * time.Millisecond
	for _, rate := range []float64{2, 10, 50} {
		for _, after := range []time.Duration{before * 6 / 5, before * 3 / 2, before * 3} {
			w := endless(rate*mbit, before)
			w.run(3 * time.Second)
			w.path.change(w.path.rate, after)
			w.run(12 * time.Second)
			if got := w.measure(20 * time.Second); got.share < 0.85 || got.queue > 6 {
				t.Errorf("%v Mbit/s, %v to %v: %v", rate, before, after, got)
			}
			w.path.change(w.path.rate, before)
			w.run(30 * time.Second)
			if got := w.measure(3 * time.Second); got.share < 0.98 || got.queue > 4 {
				t.Errorf("%v Mbit/s, back to %v: %v", rate, before, got)
			}
		}
	}
}

// A path whose round trips vary is not a queue: shrinking does not help.
func TestLinkJitter(t *testing.T) {
	for _, c := range []struct {
		rate float64       // Mbit/s
		mean time.Duration // exponential
		want float64       // share
	}{
		{2, 5, 0.95},
		{2, 10, 0.85},
		{10, 5, 0.9},
		{10, 10, 0.75},
		{50, 5, 0.85},
		{50, 10, 0.6},
	} {
		w := endless(c.rate*mbit, 40*time.Millisecond)
		random := rand.New(rand.NewPCG(1, 2))
		w.path.jitter = func() time.Duration {
			return time.Duration(random.ExpFloat64() * float64(c.mean*time.Millisecond))
		}
		w.run(5 * time.Second)
		if got := w.measure(15 * time.Second); got.share < c.want {
			t.Errorf("%v Mbit/s, jitter %d ms: %v", c.rate, c.mean, got)
		}
	}
}

// Where four segments take longer than the path, a standing queue must not be
// taken for the path, or each new base admits a longer queue.
func TestLinkThinPathStaysShort(t *testing.T) {
	for _, rate := range []float64{0.5, 1, 1.5} {
		w := endless(rate*mbit, 20*time.Millisecond)
		w.run(60 * time.Second)
		if got := w.measure(20 * time.Second); got.share < 0.98 || got.queue > 1.5 {
			t.Errorf("%v Mbit/s: %v after a minute", rate, got)
		}
		if w.link.Base() != w.path.minRTT {
			t.Errorf("%v Mbit/s: base %v, want %v", rate, w.link.Base(), w.path.minRTT)
		}
	}
}

// What is learned from a source that runs dry is at most the link's rate again.
func TestLinkDrySource(t *testing.T) {
	w := endless(10*mbit, 80*time.Millisecond)
	w.run(4 * time.Second)
	// Enough to use up the budget for a moment in each period.
	n := w.link.Budget() + 16<<10
	w.backlog, w.next = 0, bursts(10*mbit, 80*time.Millisecond, n, 300*time.Millisecond).next
	w.run(20 * time.Second)
	if r := w.link.Rate() / w.path.rate; r < 0.95 || r > 1.05 {
		t.Errorf("rate %.2f of the link's, after a source of %.2f", r, float64(n)/0.3/w.path.rate)
	}
	if w.link.Full() {
		t.Error("full without a source")
	}
}

func TestLinkIdleEndsAnInterval(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*pacer.Link, time.Time, pacer.LinkSample)
	}{
		{"Idle", func(l *pacer.Link, _ time.Time, _ pacer.LinkSample) { l.Idle() }},
		{"Observe without more", func(l *pacer.Link, now time.Time, s pacer.LinkSample) { l.Observe(now, s, false) }},
	} {
		l := pacer.Link{Target: target}
		s := pacer.LinkSample{Outstanding: 64 << 10, RTT: 200 * time.Millisecond, MinRTT: 20 * time.Millisecond}
		now := epoch
		for range 20 { // 40 ms with bytes, 40 ms without, a queue all the time
			for range 3 {
				l.Observe(now, s, true)
				now = now.Add(20 * time.Millisecond)
				s.Acked += 10_000
			}
			c.end(&l, now.Add(-15*time.Millisecond), s)
			now = now.Add(40 * time.Millisecond)
		}
		if l.Rate() != 0 || l.Full() {
			t.Errorf("%s: rate %.0f, full %t", c.name, l.Rate(), l.Full())
		}
	}
}

// Traffic in bursts, as spice-server's window gives, on a link that could carry
// more is not slowed by a queue, whatever TCP's start makes of each burst.
func TestLinkBurstsDoNotFillIt(t *testing.T) {
	for _, rate := range []float64{50, 1000} {
		for _, n := range []int{100_000, 400_000, 1_000_000} {
			for _, period := range []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second} {
				for _, restarts := range []bool{false, true} {
					if float64(n) > rate*mbit*period.Seconds()/2 ||
						restarts && rate == 50 && n > 100_000 && period == time.Second {
						continue // the burst does stand at the bottleneck while TCP starts
					}
					w := bursts(rate*mbit, 80*time.Millisecond, n, period)
					w.path.restarts = restarts
					w.run(20 * time.Second)
					if w.fullSamples > 0 || w.link.Rate() != 0 {
						t.Errorf("%v Mbit/s, %d bytes every %v, restarts %t: %d samples full, rate %.0f",
							rate, n, period, restarts, w.fullSamples, w.link.Rate())
					}
				}
			}
		}
	}
}

// Bursts that are written before an interval ends show no rate. A budget too
// small for them must grow all the same.
func TestLinkBudgetGrowsWithBursts(t *testing.T) {
	const rtt, n = 150 * time.Millisecond, 200_000
	for _, first := range []float64{0, 5} { // Mbit/s at first; 0: as later
		w := endless(first*mbit, rtt)
		if first > 0 {
			w.run(4 * time.Second)
		}
		w.path.change(50*mbit, rtt)
		w.backlog, w.next = 0, bursts(50*mbit, rtt, n, 200*time.Millisecond).next
		w.run(30 * time.Second)
		if w.link.Budget() < n {
			t.Errorf("first %v Mbit/s: budget %d, bursts of %d", first, w.link.Budget(), n)
		}
	}
}

func TestLinkWaitForASilentClient(t *testing.T) {
	l := pacer.Link{Target: target}
	s := pacer.LinkSample{Acked: 1, Outstanding: 1 << 20, RTT: 80 * time.Millisecond, MinRTT: 80 * time.Millisecond}
	now := epoch
	for _, c := range []struct {
		silent, least, most time.Duration
	}{
		{0, time.Millisecond, 5 * time.Millisecond},
		{360 * time.Millisecond, time.Millisecond, 5 * time.Millisecond},
		{400 * time.Millisecond, 50 * time.Millisecond, 50 * time.Millisecond},
		{time.Minute, 250 * time.Millisecond, 250 * time.Millisecond},
	} {
		l.Observe(now.Add(c.silent), s, true)
		if got := l.Wait(); got < c.least || got > c.most {
			t.Errorf("silent for %v: wait %v, want %v to %v", c.silent, got, c.least, c.most)
		}
	}
	s.Acked++
	l.Observe(now.Add(time.Minute), s, true)
	if got := l.Wait(); got > 5*time.Millisecond {
		t.Errorf("wait %v after an ACK", got)
	}
}

// What a writer oversleeps is time in which the link would run dry.
func TestLinkLateWriter(t *testing.T) {
	w := endless(10*mbit, 80*time.Millisecond)
	w.run(3 * time.Second)
	punctual := w.link.Budget()
	for _, c := range []struct {
		late, want time.Duration
	}{
		{20 * time.Millisecond, 20 * time.Millisecond},
		{time.Second, 100 * time.Millisecond}, // at most
	} {
		w.link.Late(c.late)
		w.run(time.Second)
		more := takes(w.link.Budget()-punctual, w.path.rate)
		if more < c.want*3/4 || more > c.want*5/4 {
			t.Errorf("late by %v: budget longer by %v, want %v", c.late, more, c.want)
		}
	}
	for range 1000 {
		w.link.Late(0)
	}
	w.run(time.Second)
	if more := takes(w.link.Budget()-punctual, w.path.rate); more > 2*time.Millisecond {
		t.Errorf("punctual again: budget longer by %v", more)
	}
}

func TestLinkUnknown(t *testing.T) {
	var l pacer.Link
	if l.Budget() != 64<<10 || l.Room() != 64<<10 || l.Rate() != 0 || l.Base() != 0 || l.Delay() != 0 || l.Wait() != 0 || l.Full() {
		t.Errorf("zero Link: budget %d, room %d, rate %v, base %v, delay %v, wait %v, full %t",
			l.Budget(), l.Room(), l.Rate(), l.Base(), l.Delay(), l.Wait(), l.Full())
	}
	l.Wrote(1000)
	if l.Room() != 64<<10-1000 {
		t.Errorf("room %d after 1000 bytes", l.Room())
	}
	l.Observe(epoch, pacer.LinkSample{Outstanding: 500}, true)
	if l.Room() != 64<<10-500 {
		t.Errorf("room %d with 500 bytes outstanding", l.Room())
	}
}

func TestLinkDelay(t *testing.T) {
	w := endless(10*mbit, 80*time.Millisecond)
	w.run(3 * time.Second)
	w.observe()
	rest := w.path.sample().Outstanding
	w.link.Wrote(125_000) // 100 ms
	want := takes(rest+125_000, w.link.Rate()) - w.link.Base()
	if got := w.link.Delay(); got != want || got < 100*time.Millisecond {
		t.Errorf("delay %v, want %v", got, want)
	}
}

// Samples come from the kernel, but nothing may depend on their making sense.
func TestLinkStandsAnySample(t *testing.T) {
	odd := rapid.SampledFrom([]int64{0, 0, 1, -1, math.MaxInt32, math.MaxUint32, math.MinInt32, 8 << 10, 64 << 10, 1 << 20})
	samples := rapid.Custom(func(t *rapid.T) pacer.LinkSample {
		return pacer.LinkSample{
			Acked:       rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 1<<24)).Draw(t, "acked"),
			Outstanding: int(odd.Draw(t, "outstanding")), NotSent: int(odd.Draw(t, "unsent")),
			RTT: time.Duration(odd.Draw(t, "rtt")), MinRTT: time.Duration(odd.Draw(t, "minimum")),
			MSS: int(odd.Draw(t, "mss")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		l := pacer.Link{Target: time.Duration(rapid.IntRange(0, 1000).Draw(t, "target")) * time.Millisecond}
		now := epoch
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-100, 1000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 7).Draw(t, "kind") {
			case 0:
				l.Idle()
			case 1:
				l.Late(time.Duration(odd.Draw(t, "late")))
			case 2:
				l.Wrote(int(odd.Draw(t, "wrote")))
			default:
				l.Observe(now, samples.Draw(t, "sample"), rapid.Bool().Draw(t, "more"))
			}
			checkLink(t, &l)
		}
	})
}

func checkLink(t *rapid.T, l *pacer.Link) {
	if b := l.Budget(); b < 8<<10 || b > 64<<20 {
		t.Fatalf("budget %d", b)
	}
	if r := l.Rate(); math.IsNaN(r) || r < 0 || r > 100e9 {
		t.Fatalf("rate %v", r)
	}
	if q := l.Quantum(); q < 2*mss || q > l.Budget()/2 {
		t.Fatalf("quantum %d of a budget of %d", q, l.Budget())
	}
	if w := l.Wait(); w < 0 || w > 250*time.Millisecond || w == 0 && l.Room() < l.Quantum() {
		t.Fatalf("wait %v for a room of %d", w, l.Room())
	}
	if l.Base() < 0 || l.Delay() < 0 {
		t.Fatalf("base %v, delay %v", l.Base(), l.Delay())
	}
}
