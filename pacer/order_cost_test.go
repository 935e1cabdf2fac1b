package pacer_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// workload makes draws whose cost is of interest: the n-th of a run that keeps
// queued messages waiting.
type workload struct {
	name string
	box  func(n, queued int) spiceproto.Rect
}

var workloads = []workload{
	{"disjoint", func(n, queued int) spiceproto.Rect {
		// Places of 32 × 32 pixels, each in its turn, on the largest grid.
		at := n % queued
		x, y := int32(at%400)*32, int32(at/400)*32
		return spiceproto.Rect{Top: y, Left: x, Bottom: y + 32, Right: x + 32}
	}},
	{"overlapping", func(n, queued int) spiceproto.Rect {
		at := n % queued
		x, y := int32(at%300)*24, int32(at/300)*24
		return spiceproto.Rect{Top: y, Left: x, Bottom: y + 40, Right: x + 40}
	}},
	{"in one place", func(n, _ int) spiceproto.Rect {
		// Boxes that do not cover each other.
		d := int32(n % 7)
		return spiceproto.Rect{Top: 100 + d, Left: 100 - d, Bottom: 160 + d, Right: 160 - d}
	}},
	{"wide", func(n, _ int) spiceproto.Rect {
		d := int32(n%50) * 8
		return spiceproto.Rect{Top: d, Left: 400 - d, Bottom: d + 1080, Right: 400 - d + 1920}
	}},
}

// screenWorkloads are what comes to a screen of 3840 × 2160 pixels.
var screenWorkloads = []workload{
	{"columns", func(n, _ int) spiceproto.Rect {
		// QEMU's sweeps over ten animations, one below the other, whose left edges
		// shift.
		const high, wide = 216, 119
		at, shift := n%(10*wide), n/(10*wide)%2*16
		x, y := int32(at%wide*32+shift), int32(at/wide*high)
		return spiceproto.Rect{Top: y, Left: x, Bottom: y + high, Right: x + 32}
	}},
	{"scattered", func(n, _ int) spiceproto.Rect {
		x, y := int32(n*1237%3824), int32(n*2011%2144)
		return spiceproto.Rect{Top: y, Left: x, Bottom: y + 16, Right: x + 16}
	}},
	{"full screen", func(n, _ int) spiceproto.Rect {
		d := int32(n % 32)
		return spiceproto.Rect{Top: d, Left: 32 - d, Bottom: d + 2128, Right: 3840 - d}
	}},
}

// filled is an Order in which messages wait, and what is needed to go on.
type filled struct {
	order    pacer.Order
	messages []pacer.Message
	free     []*pacer.Entry
	pushed   int
}

const cycle = 10_000 // messages after which a workload begins again

// put describes the draw of a workload; mix makes it one that covers nothing.
func put(box spiceproto.Rect, mix bool) pacer.Message {
	if mix {
		return described(spiceproto.DrawInvers{DrawBase: spiceproto.DrawBase{Box: box}}.Append(nil))
	}
	return described(spicetest.Draw{Box: box, Type: spiceproto.ImageLZRGB}.Append(nil))
}

// newFilled lets so many messages wait. What would be covered does not cover, so
// that they stay.
func newFilled(w workload, width, height uint32, queued int, mix bool) *filled {
	f := &filled{}
	f.order.Resize(width, height)
	for n := range cycle {
		f.messages = append(f.messages, put(w.box(n, queued), mix))
	}
	for range queued {
		f.free = append(f.free, new(pacer.Entry))
	}
	f.free = append(f.free, new(pacer.Entry))
	for len(f.free) > 1 {
		f.push()
		if f.pushed > 3*queued {
			break // they replace each other
		}
	}
	return f
}

func (f *filled) push() {
	e := f.free[len(f.free)-1]
	f.free = f.free[:len(f.free)-1]
	f.order.Push(e, f.messages[f.pushed%cycle], 1000)
	f.free = append(f.free, f.order.Complete(e, 1<<16, 1<<20)...)
	f.pushed++
}

// step is a message that comes and, if there is no room, one that goes.
func (f *filled) step() {
	f.push()
	if len(f.free) == 0 {
		e := f.order.Pop()
		f.order.Sent(e.Size(), 1<<16)
		f.free = append(f.free, e)
	}
}

// The size of the largest screen that is sorted out.
const largestWidth, largestHeight = 1 << 14, 1 << 13

// BenchmarkOrder measures a message that comes and one that goes, while others
// wait. Of those that replace each other fewer wait than are asked for.
func BenchmarkOrder(b *testing.B) {
	for _, w := range workloads {
		benchmarkOrder(b, w, largestWidth, largestHeight)
	}
	for _, w := range screenWorkloads {
		benchmarkOrder(b, w, 3840, 2160)
	}
}

func benchmarkOrder(b *testing.B, w workload, width, height uint32) {
	for _, mix := range []bool{false, true} {
		for _, queued := range []int{50, 500, 5000} {
			b.Run(fmt.Sprintf("%s/covering=%v/queued=%d", w.name, !mix, queued), func(b *testing.B) {
				f := newFilled(w, width, height, queued, mix)
				for range 2 * queued {
					f.step()
				}
				b.ReportAllocs()
				b.ResetTimer()
				start := cpuTime()
				for range b.N {
					f.step()
				}
				b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// BenchmarkChannelArrived measures what a draw costs a channel and its queue's turns
// by the size of the surface, and what one costs to a surface of its own.
func BenchmarkChannelArrived(b *testing.B) {
	column := func(n int) spiceproto.Rect {
		return spiceproto.Rect{Left: int32(n % 40 * 32), Right: int32(n%40*32) + 32, Bottom: 1000}
	}
	all := func(int) spiceproto.Rect { return spiceproto.Rect{Right: 1 << 14, Bottom: 1 << 13} }
	for _, c := range []struct {
		name          string
		width, height uint32
		box           func(n int) spiceproto.Rect
		again         bool // a new surface each time
	}{
		{"columns of 1920x1080", 1920, 1080, column, false},
		{"columns of the largest", largestWidth, largestHeight, column, false},
		{"all of 1920x1080", 1920, 1080, all, false},
		{"all of the largest", largestWidth, largestHeight, all, false},
		{"surfaces of 1920x1080", 1920, 1080, column, true},
		{"surfaces of the largest", largestWidth, largestHeight, column, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			ch := pacer.NewChannel(pacer.Config{Mode: pacer.Adaptive, Sweeps: true, Reorder: true})
			var o pacer.Order
			resize := func() {
				ch.Arrived(pacer.Message{Op: spiceproto.MsgDisplaySurfaceCreate, Width: c.width, Height: c.height})
				o.Resize(c.width, c.height)
			}
			messages := make([]pacer.Message, 40)
			for n := range messages {
				messages[n] = put(c.box(n), false)
			}
			entries := make([]pacer.Entry, 2)
			step := func(n int) {
				if n == 0 || c.again {
					resize()
				}
				e := &entries[n%2]
				ch.Arrived(messages[n%len(messages)])
				o.Push(e, messages[n%len(messages)], 100)
				o.Complete(e, 1<<16, 1<<20)
				o.Pop()
			}
			for n := range 100 {
				step(n)
			}
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime()
			for n := range b.N {
				step(n + 1)
			}
			b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

// Once everything has its memory, a message costs none.
func TestOrderDoesNotAllocate(t *testing.T) {
	for _, w := range slices.Concat(workloads, screenWorkloads) {
		for _, mix := range []bool{false, true} {
			f := newFilled(w, largestWidth, largestHeight, 100, mix)
			for range cycle {
				f.step()
			}
			if n := testing.AllocsPerRun(1000, f.step); n != 0 {
				t.Errorf("%s: %v allocations a message", w.name, n)
			}
		}
	}
}

// What a hostile server announces and draws costs bounded time and memory: no
// message takes a noticeable time, however many wait and whatever they cover.
func TestOrderOfAHostileServer(t *testing.T) {
	lowest, highest := int32(math.MinInt32), int32(math.MaxInt32)
	all := spiceproto.Rect{Top: lowest, Left: lowest, Bottom: highest, Right: highest}
	for _, c := range []struct {
		name          string
		width, height uint32
		message       func(n int) pacer.Message
	}{
		{"all that there is", 1 << 14, 1 << 13, func(int) pacer.Message { return put(all, false) }},
		{"all that there is, mixed", 1 << 14, 1 << 13, func(int) pacer.Message { return put(all, true) }},
		{"the largest screen, again and again", 1 << 14, 1 << 13, func(int) pacer.Message {
			return put(spiceproto.Rect{Right: 1 << 14, Bottom: 1 << 13}, false)
		}},
		{"a giant surface", math.MaxUint32, math.MaxUint32, func(int) pacer.Message { return put(all, true) }},
		{"no surface", 0, 0, func(n int) pacer.Message { return put(workloads[0].box(n, 5000), n%2 == 0) }},
		{"tiny in one place", 1920, 1080, func(n int) pacer.Message {
			return put(spiceproto.Rect{Left: int32(n % 30), Right: int32(n%30) + 1, Bottom: 1}, true)
		}},
		{"tiny everywhere", 1 << 14, 1 << 13, func(n int) pacer.Message {
			x, y := int32(n*37%(1<<14)), int32(n*91%(1<<13))
			return put(spiceproto.Rect{Top: y, Left: x, Bottom: y + 1, Right: x + 1}, n%3 == 0)
		}},
		{"just not wide", 1 << 14, 1 << 13, func(n int) pacer.Message {
			x := int32(n % 8)
			return put(spiceproto.Rect{Top: 0, Left: x, Bottom: 500, Right: 500 + x}, true)
		}},
		{"corners", 1920, 1080, func(n int) pacer.Message {
			boxes := []spiceproto.Rect{
				{Top: lowest, Left: lowest, Bottom: lowest + 1, Right: lowest + 1},
				{Top: highest - 1, Left: highest - 1, Bottom: highest, Right: highest},
				{Top: -5, Left: lowest, Bottom: 5, Right: highest},
				{Top: lowest, Left: 7, Bottom: highest, Right: 8},
			}
			return put(boxes[n%4], n%8 < 4)
		}},
		{"copies of all", 1 << 14, 1 << 13, func(int) pacer.Message {
			m := spiceproto.CopyBits{DrawBase: spiceproto.DrawBase{Box: spiceproto.Rect{Right: 1 << 14, Bottom: 1 << 13}}}
			return described(m.Append(nil))
		}},
		{"nothing known", 1920, 1080, func(int) pacer.Message { return pacer.Message{Op: 999} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const messages = 20_000
			var o pacer.Order
			o.Resize(c.width, c.height)
			made := make([]pacer.Message, 240)
			for n := range made {
				made[n] = c.message(n)
			}
			came, went := 0, 0
			start := time.Now()
			for n := range messages {
				e := new(pacer.Entry)
				o.Push(e, made[n%len(made)], 100)
				went += len(o.Complete(e, 1<<16, 1<<20))
				if came++; n%3 == 0 {
					o.Pop()
					went++
				}
			}
			for o.Pop() != nil {
				went++
			}
			t.Logf("%v a message", time.Since(start)/messages)
			if came != went {
				t.Errorf("%d messages came, %d went", came, went)
			}
		})
	}
}
