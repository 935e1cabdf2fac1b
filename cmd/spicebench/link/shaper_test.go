package link

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// bench is a shaper with a clock that the test moves.
type bench struct {
	*shaper
	now time.Duration
}

func newBench(t *testing.T, profile string) *bench {
	t.Helper()
	p, err := ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{shaper: newShaper(p, 1)}
}

// offer offers n packets of the given size and returns how many were taken.
func (b *bench) offer(n, size int) int {
	taken := 0
	for range n {
		if b.shaper.offer(b.now, make([]byte, size)) {
			taken++
		}
	}
	return taken
}

// arrivals advances the clock from wake to wake until the link is empty and
// returns when each packet came out.
func (b *bench) arrivals(t *testing.T) []time.Duration {
	t.Helper()
	var out []time.Duration
	for {
		at, ok := b.wake()
		if !ok {
			return out
		}
		b.now = max(b.now, at)
		if b.next(b.now) == nil {
			t.Fatalf("nothing came out at %v though wake said so", b.now)
		}
		out = append(out, b.now)
	}
}

func wantTimes(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d packets came out, at %v; want %v", len(got), got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("packet %d came out at %v, want %v", i, got[i], want[i])
		}
	}
}

func TestShaperSerialisesThenDelays(t *testing.T) {
	b := newBench(t, "80:12") // 1500 bytes take 1 ms
	b.offer(3, 1500)
	wantTimes(t, b.arrivals(t), 41*ms, 42*ms, 43*ms)
}

func TestShaperForgetsIdleTime(t *testing.T) {
	b := newBench(t, "80:12")
	b.offer(1, 1500)
	b.now = 10 * ms // long idle by now
	b.offer(1, 1500)
	wantTimes(t, b.arrivals(t), 41*ms, 51*ms)
}

func TestShaperDoesNotDriftWhenPolledLate(t *testing.T) {
	b := newBench(t, "20:12")
	b.offer(10, 1500)
	b.now = 500 * ms // the caller overslept
	for range 10 {
		if b.next(b.now) == nil {
			t.Fatal("a packet that left the link long ago did not come out")
		}
	}
	if b.next(b.now) != nil {
		t.Fatal("an eleventh packet came out")
	}
	b.offer(1, 1500)
	wantTimes(t, b.arrivals(t), 511*ms)
}

func TestShaperDropsTail(t *testing.T) {
	b := newBench(t, "80:12") // one BDP is 120 000 bytes
	if got := b.offer(100, 1500); got != 80 {
		t.Errorf("the queue took %d packets, want 80", got)
	}
	b.now = 5 * ms // five have departed
	if got := b.offer(100, 1500); got != 5 {
		t.Errorf("the queue took %d more packets, want 5", got)
	}
	got := b.arrivals(t)
	if last := got[len(got)-1]; len(got) != 85 || last != (85+40)*ms {
		t.Errorf("%d packets came out, the last at %v; want 85 and 125ms", len(got), last)
	}
}

func TestShaperQueueHoldsTenPacketsAtLeast(t *testing.T) {
	b := newBench(t, "1:1")
	if got := b.offer(100, 1500); got != minQueuePackets {
		t.Errorf("the queue took %d packets, want %d", got, minQueuePackets)
	}
}

func TestShaperWithoutRateOnlyDelays(t *testing.T) {
	b := newBench(t, "30:0")
	b.offer(2, 1500)
	wantTimes(t, b.arrivals(t), 15*ms, 15*ms)
}

func TestShaperLosesItsShare(t *testing.T) {
	b := newBench(t, "0:0:10%")
	const n = 10_000
	taken := 0
	for range n {
		taken += b.offer(1, 100)
		b.next(b.now)
	}
	if lost := n - taken; lost < n*9/100 || lost > n*11/100 {
		t.Errorf("%d of %d packets lost, want about 10 %%", lost, n)
	}
}

func TestShaperChangesProfileInOrder(t *testing.T) {
	b := newBench(t, "80:12")
	b.offer(2, 1500)
	b.now = 1 * ms // the first has departed, due at 41 ms
	b.setProfile(b.now, Profile{RTT: 20 * ms, RateMbit: 6})
	// The second takes 2 ms now and would come out at 13 ms: not before the first.
	b.offer(1, 1500)
	wantTimes(t, b.arrivals(t), 41*ms, 41*ms, 41*ms)
	b.offer(1, 1500)
	wantTimes(t, b.arrivals(t), (41+2+10)*ms)
}

func TestFifoKeepsOrderAndStaysSmall(t *testing.T) {
	var f fifo
	in, out := 0, 0
	for range 1000 {
		for range 3 {
			f.push(packet{out: time.Duration(in)})
			in++
		}
		for range 3 {
			if got := f.pop().out; got != time.Duration(out) {
				t.Fatalf("popped %d, want %d", got, out)
			}
			out++
		}
	}
	if !f.empty() || cap(f.packets) > 100 {
		t.Errorf("after 3000 packets in threes: empty %v, capacity %d", f.empty(), cap(f.packets))
	}
}
