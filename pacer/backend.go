package pacer

import (
	"cmp"
	"time"
)

const (
	// backendWindow is how long the hypervisor leg must be the limit before
	// its socket is widened: longer than a burst, short for a person.
	backendWindow = 100 * time.Millisecond
	// widenFactor is by how much the receive buffer grows at a time.
	widenFactor = 2
	// hiddenPerBuffer is what the sockets of both ends hold of the server's
	// bytes, in units of the receive buffer: 31 kB for 4096, 86 kB for 8192,
	// measured on loopback with segments of 1448 bytes and CUBIC.
	hiddenPerBuffer = 10
	// heldPerBuffer is what they hold for certain, in the same units.
	heldPerBuffer = 6
	// messageRoom is how many messages they should hold, so that the server
	// can encode the next while the proxy reads one. Updates larger than
	// mostForMessages holds are whole regions rather than columns, and their
	// server always blocks.
	messageRoom     = 1.5
	mostForMessages = 16 << 10
	// minBackendRTT is the least round trip reckoned with: on loopback the
	// time between two reads, not the wire, is what limits.
	minBackendRTT = 50 * time.Microsecond
)

// Backend decides when the hypervisor's socket gets a larger receive buffer.
// It starts small, since what the server's kernel can hide from the read valve
// grows with it and never shrinks again; it is widened only when it is the
// limit: when the window it makes, one buffer per round trip, limits an
// otherwise free channel; when the server, blocked inside a sweep, starts over
// with newer frames and never reaches the last columns; and as soon as messages
// are so large that each of them blocks the server. A free channel is also
// widened as far as what is hidden then stays within Target, because each of the
// many small windows costs system calls on both ends.
type Backend struct {
	// Buffer is the receive buffer in bytes as last asked for; 0: not managed.
	Buffer int
	// Most is the size at which widening ends, in bytes.
	Most int
	// RTT is the round trip of the hypervisor leg.
	RTT time.Duration
	// Target is how long the client's link may take for what the sockets hide, at
	// a rate it has been seen to carry without being the limit. 0: nothing is
	// widened for that.
	Target time.Duration

	start   time.Time
	read    int
	held    bool
	starved bool
	wasFree bool
	// window is the buffer that the kernel took the window for; 0: the first one.
	window int
}

// Free tells that the buffer asked for last was for a channel that nothing held.
// Then the window that the kernel took the first buffer for may grow with it.
func (b *Backend) Free() bool { return b.wasFree }

// Starved tells that a sweep did not get through the socket in one go.
func (b *Backend) Starved() { b.starved = true }

// Holds returns how many bytes the sockets of the hypervisor leg certainly hold,
// 0 if that is not known.
func (b *Backend) Holds() int { return b.Buffer * heldPerBuffer }

// Messages tells the average size of the server's messages in bytes.
func (b *Backend) Messages(average float64) {
	if b.Buffer < mostForMessages && average*messageRoom > hiddenPerBuffer*float64(b.Buffer) {
		b.starved = true
	}
}

// Held tells that a valve, a full queue or the client's link, not the
// hypervisor leg, has just been the limit.
func (b *Backend) Held() { b.held = true }

// Read books n bytes read and returns the receive buffer to set now, or 0.
func (b *Backend) Read(now time.Time, n int) int {
	if b.Buffer == 0 || b.Buffer >= b.Most {
		return 0
	}
	if b.starved {
		return b.widen(false)
	}
	elapsed := now.Sub(b.start)
	if b.start.IsZero() || elapsed >= 2*backendWindow {
		b.start, b.read, b.held = now, n, false
		return 0
	}
	b.read += n
	if elapsed < backendWindow {
		return 0
	}
	asked := 0
	if !b.held {
		asked = b.free(elapsed)
	}
	b.start, b.read, b.held = now, 0, false
	return asked
}

// free widens after a window of length d in which nothing held the channel.
func (b *Backend) free(d time.Duration) (asked int) {
	if b.limits(d) {
		asked = b.widen(true)
	}
	for b.Buffer < b.Most && b.harmless(d) {
		asked = b.widen(true)
	}
	return asked
}

// limits tells that the hypervisor leg was the limit in a window of length d.
func (b *Backend) limits(d time.Duration) bool { return float64(b.read) > b.capacity(d)/2 }

// harmless tells that what a wider buffer hides is sent within Target at the rate
// of a window of length d.
func (b *Backend) harmless(d time.Duration) bool {
	rate := float64(b.read) / d.Seconds()
	return float64(b.Buffer*widenFactor*hiddenPerBuffer) <= rate*b.Target.Seconds()
}

func (b *Backend) widen(free bool) int {
	b.starved, b.wasFree = false, free
	b.window = cmp.Or(b.window, b.Buffer)
	b.Buffer = min(b.Buffer*widenFactor, b.Most)
	if free {
		b.window = b.Buffer
	}
	return b.Buffer
}

// capacity is what one window per round trip carries in d, in bytes.
func (b *Backend) capacity(d time.Duration) float64 {
	return float64(cmp.Or(b.window, b.Buffer)) * d.Seconds() / max(b.RTT, minBackendRTT).Seconds()
}
