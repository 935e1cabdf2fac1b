package pacer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// animated is a place of the screen that changes at a steady rate.
type animated struct {
	box   spiceproto.Rect
	size  int // of an update, in bytes
	every int // frames between two of them
	kind  string
	// shift moves the box to the right in every other update.
	shift int32

	sent, updates int
}

// screenRun is a screen behind a link of a steady rate: a frame is queued, and
// what the link carries in its time goes.
type screenRun struct {
	t       *testing.T
	order   pacer.Order
	rate    int // bytes per second
	regions []*animated
	entries map[*pacer.Entry]*animated
	boxes   map[*pacer.Entry]spiceproto.Rect
	free    []*pacer.Entry
	frame   int
	left    int // bytes of the message in progress that have not gone
	debt    int // bytes that the link has room for

	sent, urgent, largest, queued int
	// places counts how often each place 16 pixels wide was sent.
	places map[int32]int
	// onSent is told each message when it begins to go.
	onSent func(*pacer.Entry, *animated)
}

const (
	framesPerSecond = 30
	screenWidth     = 1280
	screenHeight    = 800
	// queueMost is how many bytes the queue of a screenRun holds before no more
	// is fetched.
	queueMost = 4 << 20
)

func newScreenRun(t *testing.T, rate int, regions ...*animated) *screenRun {
	r := &screenRun{
		t: t, rate: rate, regions: regions, places: make(map[int32]int),
		entries: make(map[*pacer.Entry]*animated), boxes: make(map[*pacer.Entry]spiceproto.Rect),
	}
	r.order.Resize(screenWidth, screenHeight)
	return r
}

// columnsAt returns an animation cut in columns.
func columnsAt(kind string, left, top, n, size, every int) (all []*animated) {
	for i := range n {
		x := int32(left + i*32)
		all = append(all, &animated{
			box:  spiceproto.Rect{Top: int32(top), Left: x, Bottom: int32(top) + 200, Right: x + 32},
			size: size, every: every, kind: kind,
		})
	}
	return all
}

func (r *screenRun) horizon() int {
	sweep := 0
	for _, a := range r.regions {
		sweep += a.size
	}
	return max(4*r.rate, 4*sweep)
}

// update queues an update of a.
func (r *screenRun) update(a *animated) *pacer.Entry {
	box := a.box
	if a.updates%2 == 1 {
		box.Left, box.Right = box.Left+a.shift, box.Right+a.shift
	}
	a.updates++
	return r.draw(a, box, a.size)
}

func (r *screenRun) draw(a *animated, box spiceproto.Rect, size int) *pacer.Entry {
	e := new(pacer.Entry)
	if n := len(r.free); n > 0 {
		e, r.free = r.free[n-1], r.free[:n-1]
	}
	raw := spicetest.Draw{Box: box, Type: spiceproto.ImageLZRGB}.Append(nil)
	m := described(raw)
	r.entries[e], r.boxes[e] = a, box
	r.queued += size
	r.largest = max(r.largest, size)
	r.order.Push(e, m, size)
	for _, x := range r.order.Complete(e, r.rate/2, r.horizon()) {
		r.queued -= x.Size()
		r.forget(x)
	}
	return e
}

func (r *screenRun) forget(e *pacer.Entry) {
	delete(r.entries, e)
	r.free = append(r.free, e)
}

// run plays some seconds.
func (r *screenRun) run(seconds int) {
	for range seconds * framesPerSecond {
		r.frame++
		for i, a := range r.regions {
			if (r.frame+i)%a.every == 0 && r.queued < queueMost {
				r.update(a)
			}
		}
		r.debt += r.rate / framesPerSecond
		r.drain()
	}
}

// drain sends what the link has room for.
func (r *screenRun) drain() {
	for r.debt > 0 {
		if r.left == 0 && !r.begin() {
			r.debt = 0
			return
		}
		n := min(r.left, r.debt)
		r.left -= n
		r.debt -= n
		r.sent += n
		r.order.Sent(n, r.rate/2)
	}
}

// begin takes the next message.
func (r *screenRun) begin() bool {
	e := r.order.Pop()
	if e == nil {
		return false
	}
	a := r.entries[e]
	a.sent++
	for x := r.boxes[e].Left / 16; x < r.boxes[e].Right/16; x++ {
		r.places[x]++
	}
	r.left = e.Size()
	r.queued -= r.left
	if e.Urgent() {
		r.urgent += r.left
	}
	if r.onSent != nil {
		r.onSent(e, a)
	}
	r.forget(e)
	return true
}

// wantFair expects that no region was sent less than half as often as another
// one of its kind, and each of them.
func (r *screenRun) wantFair() {
	r.t.Helper()
	least, most := make(map[string]int), make(map[string]int)
	for _, a := range r.regions {
		if n, has := least[a.kind]; !has || a.sent < n {
			least[a.kind] = a.sent
		}
		most[a.kind] = max(most[a.kind], a.sent)
	}
	r.t.Logf("least sent %v, most %v", least, most)
	for kind := range least {
		if least[kind] == 0 || 2*least[kind] < most[kind] {
			r.t.Errorf("%s: one region was sent %d times, another %d times", kind, least[kind], most[kind])
		}
	}
	r.wantUrgentBounded()
}

// wantUrgentBounded expects what went first to be no more than its part of the
// link, the credit after a pause and one message.
func (r *screenRun) wantUrgentBounded() {
	r.t.Helper()
	if most := r.sent/4 + max(r.rate/2, 64<<10) + r.largest; r.urgent > most {
		r.t.Errorf("of %d bytes %d went first, want at most %d", r.sent, r.urgent, most)
	}
}

func join(all ...[]*animated) (joined []*animated) {
	for _, a := range all {
		joined = append(joined, a...)
	}
	return joined
}

func TestOrderIsFair(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    int
		regions func() []*animated
	}{
		{"one animation", 1_250_000, func() []*animated { return columnsAt("heavy", 624, 160, 20, 44_000, 1) }},
		{"one animation on a thin link", 250_000, func() []*animated { return columnsAt("heavy", 624, 160, 20, 44_000, 1) }},
		{"one animation with room to spare", 50_000_000, func() []*animated { return columnsAt("heavy", 624, 160, 20, 44_000, 1) }},
		{"two rates", 1_250_000, func() []*animated {
			return join(columnsAt("fast", 0, 0, 20, 20_000, 1), columnsAt("slow", 640, 0, 20, 20_000, 7))
		}},
		{"three animations of different weight", 1_250_000, func() []*animated {
			return join(columnsAt("heavy", 0, 0, 10, 44_000, 1), columnsAt("light", 400, 0, 10, 2_000, 1), columnsAt("slow", 800, 0, 10, 10_000, 3))
		}},
		{"many small ones", 250_000, func() []*animated {
			return join(columnsAt("a", 0, 0, 40, 1_000, 1), columnsAt("b", 0, 200, 40, 1_000, 1), columnsAt("c", 0, 400, 40, 1_000, 1))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newScreenRun(t, c.rate, c.regions()...)
			r.run(30)
			r.wantFair()
		})
	}
}

// The columns of an animation whose left edge shifts overlap those before, and
// must go after them. No part of it is sent less than a third as often as another.
func TestOrderIsFairToShiftedColumns(t *testing.T) {
	for _, shift := range []int32{-16, 16, 32} {
		r := newScreenRun(t, 1_250_000, columnsAt("shifting", 64, 0, 20, 20_000, 1)...)
		for range 30 * framesPerSecond {
			r.frame++
			for _, a := range r.regions {
				a.updates = r.frame // all shift together
				a.shift = shift
				r.update(a)
			}
			r.debt += r.rate / framesPerSecond
			r.drain()
		}
		least, most := r.sent, 0
		for x := int32(64+48) / 16; x < (64+20*32-48)/16; x++ {
			least, most = min(least, r.places[x]), max(most, r.places[x])
		}
		t.Logf("shifted by %d: places were sent %d to %d times", shift, least, most)
		if least*3 < most {
			t.Errorf("shifted by %d: one place was sent %d times, another %d times", shift, least, most)
		}
	}
}

// Updates that come for ever in the order from the left, cut off in the middle
// of each frame, starve nothing on the right.
func TestOrderIsFairToTheRight(t *testing.T) {
	r := newScreenRun(t, 1_250_000, columnsAt("heavy", 624, 160, 20, 44_000, 1)...)
	random := rand.New(rand.NewPCG(1, 1))
	for range 30 * framesPerSecond {
		for _, a := range r.regions[:1+random.IntN(len(r.regions))] {
			r.update(a)
		}
		r.debt += r.rate / framesPerSecond
		r.drain()
	}
	// The last column comes in one of twenty frames, and is sent nearly each time.
	for i, a := range r.regions {
		if a.sent*3 < min(a.updates, r.regions[0].sent) {
			t.Errorf("column %d was updated %d times and sent %d times, the first %d times", i, a.updates, a.sent, r.regions[0].sent)
		}
	}
}

// A place that was still goes next, whatever waits; only what is being sent goes
// before it.
func TestOrderSendsUrgentNext(t *testing.T) {
	for _, rate := range []int{250_000, 1_250_000, 6_250_000} {
		key := &animated{box: spiceproto.Rect{Top: 700, Left: 100, Bottom: 716, Right: 110}, size: 300, every: 1, kind: "key"}
		r := newScreenRun(t, rate, columnsAt("heavy", 624, 160, 20, 44_000, 1)...)
		r.run(10)
		late := 0
		for range 50 {
			began := 0
			shown := false
			r.onSent = func(_ *pacer.Entry, a *animated) {
				if shown = shown || a == key; !shown {
					began++
				}
			}
			r.update(key)
			r.run(1)
			if !shown || began > 0 {
				late++
			}
		}
		if late > 0 {
			t.Errorf("at %d bytes per second %d of 50 keys did not go next", rate, late)
		}
		r.wantUrgentBounded()
	}
}

// Small updates everywhere, more than the link carries, starve neither each
// other nor what is large.
func TestOrderUrgentFloodStarvesNothing(t *testing.T) {
	for _, size := range []int{100, 2_000} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			regions := columnsAt("large", 0, 0, 10, 20_000, 1)
			for y := int32(320); y < screenHeight-31; y += 32 {
				for x := int32(0); x < screenWidth-31; x += 64 {
					regions = append(regions, &animated{
						box:  spiceproto.Rect{Top: y, Left: x, Bottom: y + 16, Right: x + 16},
						size: size, every: 3, kind: "tiny",
					})
				}
			}
			r := newScreenRun(t, 500_000, regions...)
			r.run(40)
			r.wantUrgentBounded()
			// Everything has its turn, whatever goes first beside.
			turns := regions[0].sent
			for _, a := range regions {
				if a.sent*2 < turns || a.sent < 20 {
					t.Errorf("%s at %v was sent %d times, others %d times and more", a.kind, a.box, a.sent, turns)
				}
			}
		})
	}
}

// What takes the place of an urgent update is urgent, however large it is; that,
// too, counts towards the part of the link that may go first. Here each of ten
// places is redrawn as a whole, though a corner of it never rests, just after a
// dot came in its middle.
func TestOrderInheritedUrgencyIsBounded(t *testing.T) {
	r := newScreenRun(t, 1_250_000, columnsAt("heavy", 0, 600, 40, 44_000, 1)...)
	for frame := range 30 * framesPerSecond {
		place := func(i int) spiceproto.Rect {
			return spiceproto.Rect{Top: 0, Left: int32(i) * 128, Bottom: 512, Right: int32(i)*128 + 128}
		}
		for i := range 10 {
			corner := place(i)
			corner.Right, corner.Bottom = corner.Left+32, 32
			r.draw(&animated{}, corner, 2_000)
		}
		if frame%15 == 0 {
			box := place(frame / 15 % 10)
			middle := spiceproto.Rect{Top: 256, Left: box.Left + 64, Bottom: 258, Right: box.Left + 66}
			r.draw(&animated{}, middle, 80)
			r.draw(&animated{}, box, 500_000)
		}
		for _, a := range r.regions {
			r.update(a)
		}
		r.debt += r.rate / framesPerSecond
		r.drain()
	}
	t.Logf("of %d bytes %d went first", r.sent, r.urgent)
	r.wantUrgentBounded()
}
