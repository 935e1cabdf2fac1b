package pacer_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"spicepacer/pacer"
)

// A backend of 4096 bytes and 1 ms carries 4.096 MB/s.
const (
	backendBuffer = 4096
	backendMost   = 64 << 10
	backendRTT    = time.Millisecond
)

func newBackend() *pacer.Backend {
	return &pacer.Backend{Buffer: backendBuffer, Most: backendMost, RTT: backendRTT}
}

// readFor reads at a rate, in bytes per second, every millisecond for d. It
// returns the buffers that were asked for.
func readFor(b *pacer.Backend, start time.Time, rate float64, d time.Duration) (asked []int) {
	for at := time.Duration(0); at <= d; at += time.Millisecond {
		if n := b.Read(start.Add(at), int(rate/1000)); n > 0 {
			asked = append(asked, n)
		}
	}
	return asked
}

func TestBackendWidensWhenItIsTheLimit(t *testing.T) {
	for _, c := range []struct {
		name string
		rate float64 // bytes per second
		d    time.Duration
		want int
	}{
		{"slow", 1.5e6, time.Second, backendBuffer},
		{"at the limit, a moment", 4e6, 99 * time.Millisecond, backendBuffer},
		{"at the limit", 4e6, 100 * time.Millisecond, 2 * backendBuffer},
		{"at the limit, twice", 8e6, 205 * time.Millisecond, 4 * backendBuffer},
		{"free", 1e9, 2 * time.Second, backendMost},
	} {
		b := newBackend()
		readFor(b, epoch, c.rate, c.d)
		if b.Buffer != c.want {
			t.Errorf("%s: buffer %d, want %d", c.name, b.Buffer, c.want)
		}
	}
}

// A channel whose client's link is not the limit is widened as far as what the
// sockets hide takes no longer than the target at the rate it has.
func TestBackendWidensWithinTarget(t *testing.T) {
	for _, c := range []struct {
		name   string
		rate   float64 // bytes per second
		target time.Duration
		want   int
	}{
		{"no target", 40e6, 0, backendBuffer},
		{"slow", 6e6, 10 * time.Millisecond, backendBuffer},
		{"just too slow", 8.1e6, 10 * time.Millisecond, backendBuffer},
		{"just fast enough", 8.3e6, 10 * time.Millisecond, 2 * backendBuffer},
		{"fast", 50e6, 10 * time.Millisecond, 8 * backendBuffer},
		{"a larger target", 6e6, 20 * time.Millisecond, 2 * backendBuffer},
	} {
		b := newBackend()
		b.RTT, b.Target = time.Microsecond, c.target
		readFor(b, epoch, c.rate, 2*time.Second)
		if b.Buffer != c.want || b.Free() != (c.want > backendBuffer) {
			t.Errorf("%s: buffer %d, free %v, want %d", c.name, b.Buffer, b.Free(), c.want)
		}
		held := newBackend()
		held.RTT, held.Target = time.Microsecond, c.target
		for at := time.Duration(0); at <= time.Second; at += time.Millisecond {
			held.Held()
			if n := held.Read(epoch.Add(at), int(c.rate/1000)); n > 0 {
				t.Errorf("%s: widened to %d while a valve was the limit", c.name, n)
			}
		}
	}
}

func TestBackendHeld(t *testing.T) {
	b := newBackend()
	now := epoch
	b.Read(now, 1) // begins a window
	b.Held()
	if asked := readFor(b, now, 1e9, 100*time.Millisecond); len(asked) > 0 {
		t.Errorf("widened to %v while a valve was the limit", asked)
	}
	if asked := readFor(b, now.Add(101*time.Millisecond), 1e9, 100*time.Millisecond); len(asked) != 1 {
		t.Errorf("asked for %v in the window after", asked)
	}
}

// After a pause a new window begins: what was read before it, and the pause,
// say nothing.
func TestBackendPause(t *testing.T) {
	b := newBackend()
	readFor(b, epoch, 1e9, 50*time.Millisecond)
	if n := b.Read(epoch.Add(time.Second), 1); n != 0 {
		t.Errorf("widened to %d by a read before a pause", n)
	}
	if asked := readFor(b, epoch.Add(time.Second), 1.5e6, 500*time.Millisecond); len(asked) > 0 {
		t.Errorf("widened to %v by what was read before a pause", asked)
	}
}

func TestBackendStarved(t *testing.T) {
	b := newBackend()
	b.Held()
	b.Starved()
	if n := b.Read(epoch, 1); n != 2*backendBuffer || b.Free() {
		t.Errorf("asked for %d, free %v, want %d at once for one that is not", n, b.Free(), 2*backendBuffer)
	}
	if n := b.Read(epoch, 1); n != 0 {
		t.Errorf("asked for %d again", n)
	}
}

// The window stays what it was when a buffer is widened for a channel that is not
// free. It may be the limit afterwards as before, whatever the buffer admits.
func TestBackendWidensTheWindowOfAWideBuffer(t *testing.T) {
	b := newBackend()
	for range 2 {
		b.Starved()
		b.Read(epoch, 1)
	}
	const carried = 4e6 // bytes per second, what the first window carries
	start := epoch.Add(time.Second)
	readFor(b, start, 1.5e6, time.Second)
	if b.Buffer != 4*backendBuffer || b.Free() {
		t.Fatalf("buffer %d, free %v before the window is the limit", b.Buffer, b.Free())
	}
	readFor(b, start.Add(time.Second), carried, time.Second)
	if b.Buffer != 8*backendBuffer || !b.Free() {
		t.Errorf("buffer %d, free %v, want %d for a channel that nothing else holds", b.Buffer, b.Free(), 8*backendBuffer)
	}
}

func TestBackendUnmanaged(t *testing.T) {
	for _, b := range []*pacer.Backend{
		{},
		{Most: backendMost},
		{Buffer: backendMost, Most: backendMost},
		{Buffer: backendBuffer}, // no room to grow
	} {
		before := b.Buffer
		b.Starved()
		if asked := readFor(b, epoch, 1e9, time.Second); len(asked) > 0 || b.Buffer != before {
			t.Errorf("%d of at most %d: asked for %v", before, b.Most, asked)
		}
	}
}

// On loopback the round trip is measured as next to nothing.
func TestBackendWithoutRTT(t *testing.T) {
	b := newBackend()
	b.RTT = 0 // taken as 50 µs: 4096 bytes make 82 MB/s
	if asked := readFor(b, epoch, 40e6, time.Second); len(asked) > 0 {
		t.Errorf("widened to %v at 40 MB/s", asked)
	}
	if asked := readFor(b, epoch.Add(time.Minute), 42e6, time.Second); len(asked) == 0 {
		t.Error("not widened at 42 MB/s")
	}
}

func TestBackendOnlyGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &pacer.Backend{
			Buffer: rapid.IntRange(0, 1<<20).Draw(t, "buffer"),
			Most:   rapid.IntRange(0, 4<<20).Draw(t, "most"),
			RTT:    time.Duration(rapid.Int64Range(-1, 1e9).Draw(t, "rtt")),
			Target: time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "target")),
		}
		now := epoch
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				b.Starved()
			case 1:
				b.Held()
			}
			now = now.Add(time.Duration(rapid.IntRange(-10, 150).Draw(t, "ms")) * time.Millisecond)
			before := b.Buffer
			asked := b.Read(now, rapid.IntRange(0, 1<<30).Draw(t, "bytes"))
			if asked == 0 && b.Buffer != before || asked != 0 && (asked != b.Buffer || asked <= before || asked > b.Most) {
				t.Fatalf("asked for %d of at most %d, had %d, has %d", asked, b.Most, before, b.Buffer)
			}
		}
	})
}

// Messages so large that each blocks the server get a larger buffer, up to a
// point.
func TestBackendLargeMessages(t *testing.T) {
	for _, c := range []struct {
		average float64
		want    int
	}{
		{2_500, 4096},
		{27_000, 4096},
		{28_000, 8192},
		{44_000, 8192},
		{60_000, 16 << 10},
		{1e6, 16 << 10},
	} {
		b := newBackend()
		for range 5 {
			b.Messages(c.average)
			b.Read(epoch, 1)
		}
		if b.Buffer != c.want {
			t.Errorf("messages of %v bytes: buffer %d, want %d", c.average, b.Buffer, c.want)
		}
	}
}
