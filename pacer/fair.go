package pacer

import "spicepacer/spiceproto"

const (
	// urgentShare is the largest part of the link that a place of the screen may
	// take and still go first, as its reciprocal: 800 bytes each tenth of a second
	// on a 2 Mbit/s link, where a typed character has some hundred. A column of
	// an animation 640 pixels wide takes a twentieth. Where columns are so many
	// that each stays below, their turns tell them from what was still.
	urgentShare = 32
	// urgentBurst is how far a place may be ahead of its share, in bytes the
	// link carries: 16 kB of small updates at once.
	urgentBurst = 512 << 10
	// urgentPart of all bytes sent may go first, as its reciprocal, so that what
	// they overtake is slowed by a quarter at most.
	urgentPart = 4
	// leastUrgentCredit is what may go first after a pause, in bytes, at least:
	// a menu.
	leastUrgentCredit = 64 << 10
	// maxPlaces is how many places of the screen one update is booked for: all of
	// 2560×1440 pixels. Larger ones take their turn from when they came.
	maxPlaces = 4096
)

// fairness tells the updates that go first from those that take turns, and
// whose turn it is.
//
// Turns go to the place of the screen that was sent longest ago. The order in
// which updates arrive is not fair: a server that starts over, as it does when
// it is let through for an answer, always begins at the left.
//
// A typed character changes a place of the screen that has been still; an
// animation keeps changing its own. So each place of the screen has a share of
// the link, a small one, and an update within its place's share goes first. The
// share is counted in bytes sent and not in time: on a thin link an animation
// comes seldom, and is no less one. All together have a part of the link that
// they cannot exceed, and so nothing else starves.
type fairness struct {
	tiling
	// due is when the place has used up its share of the link, as a count of
	// bytes sent on the channel (the theoretical arrival time of the generic
	// cell rate algorithm, ITU-T I.371); empty until used.
	due []uint64
	// served is sent as it was when the place was sent last; empty until used.
	served []uint64
	sent   uint64
	credit int // bytes that may still go first
	most   int // bound of credit
	spent  bool
}

func (f *fairness) resize(width, height uint32) {
	f.tiling = tilesOf(width, height)
	f.due, f.served = f.due[:0], f.served[:0]
	f.most = max(f.most, leastUrgentCredit)
	f.credit = max(f.credit, f.most)
}

// wrote books n bytes sent. burst bounds the credit to go first, in bytes.
func (f *fairness) wrote(n, burst int) {
	f.sent += uint64(n)
	f.most = max(burst, leastUrgentCredit)
	f.credit = min(f.credit+n/urgentPart, f.most)
	f.spent = f.spent && f.credit < f.most/2
}

// urgent books an update of size bytes to box and reports whether it goes first.
// A place that changes all the time counts as still again once horizon bytes
// have been sent without it.
func (f *fairness) urgent(box spiceproto.Rect, size, horizon int) bool {
	limit := f.sent + urgentBurst
	still := f.each(&f.due, box, func(due *uint64) bool {
		still := *due <= limit
		*due = min(max(*due, f.sent)+uint64(size)*urgentShare, limit+uint64(horizon))
		return still
	})
	return still && !f.spent
}

// charge books an urgent message of size bytes that others may have to wait for.
// Once the credit is used up, nothing is urgent until half of it is back: else
// those that come first in each frame would have all of what trickles in.
func (f *fairness) charge(size int) {
	f.credit = max(f.credit-size, -f.most)
	f.spent = f.spent || f.credit <= 0
}

// turn returns the place in the order of turns of an update to box: the bytes
// sent when the longest neglected part of it was sent.
func (f *fairness) turn(box spiceproto.Rect) uint64 {
	turn := f.sent
	f.each(&f.served, box, func(served *uint64) bool {
		turn = min(turn, *served)
		return true
	})
	return turn
}

// serve books that an update to box is sent.
func (f *fairness) serve(box spiceproto.Rect) {
	f.each(&f.served, box, func(served *uint64) bool {
		*served = f.sent
		return true
	})
}

// each calls of for each place of box, and reports whether there is one and of
// was true for all. It does not for a box of more than maxPlaces.
func (f *fairness) each(places *[]uint64, box spiceproto.Rect, of func(*uint64) bool) bool {
	left, top, right, bottom := f.span(box)
	if left >= right || top >= bottom || (right-left)*(bottom-top) > maxPlaces {
		return false
	}
	if len(*places) == 0 {
		*places = resized(*places, f.count())
	}
	all := true
	for y := top; y < bottom; y++ {
		row := (*places)[y*f.columns:]
		for x := left; x < right; x++ {
			all = of(&row[x]) && all
		}
	}
	return all
}

// Burst is what may go first at once: half a second of the link, in bytes.
func (c *Channel) Burst() int { return int(c.link.Rate() / 2) }

// Horizon is how many bytes sent without an update make a place still: four
// seconds of the link, or four sweeps where these take longer.
func (c *Channel) Horizon() int {
	return max(int(4*c.link.Rate()), 4*c.sweep.Bytes())
}
