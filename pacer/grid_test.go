package pacer

import (
	"testing"

	"spicepacer/spiceproto"
)

// However many messages wait and wherever, one that comes is compared with a
// bounded number of them.
func TestGridBoundsTheWork(t *testing.T) {
	at := func(x, y, width, height int32) spiceproto.Rect {
		return spiceproto.Rect{Top: y, Left: x, Bottom: y + height, Right: x + width}
	}
	for _, c := range []struct {
		name string
		box  func(n int32) spiceproto.Rect
	}{
		{"in one cell", func(n int32) spiceproto.Rect { return at(100+n%8, 100, 8, 8) }},
		{"everywhere", func(n int32) spiceproto.Rect { return at(n*37%1900, n*91%1060, 8, 8) }},
		{"as large as can be entered", func(n int32) spiceproto.Rect { return at(n%8, n%8, 480, 480) }},
		{"wide", func(n int32) spiceproto.Rect { return at(n%8, n%8, 1900, 1000) }},
		{"small among wide ones", func(n int32) spiceproto.Rect {
			if n < 100 {
				return at(n%8, n%8, 1900, 1000)
			}
			return at(n*37%1900, n*91%1060, 8, 8)
		}},
		{"wide ones at last", func(n int32) spiceproto.Rect {
			if n < 2000 {
				return at(n*37%1900, n*91%1060, 8, 8)
			}
			return at(0, 0, 1900, 1000)
		}},
	} {
		var o Order
		o.Resize(1920, 1080)
		for n := range int32(2100) {
			e := new(Entry)
			o.Push(e, Message{Effect: spiceproto.Effect{
				Doubt: spiceproto.DoubtNone, Box: c.box(n), ReadsDest: true, ClipKnown: true,
			}}, 100)
			if !e.f.proved {
				continue
			}
			compared, most := 0, maxCells*maxPerCell+maxWide
			switch {
			case e.wide && o.grid.columns > 0:
				most = maxScanned + 1
			case !e.wide:
				most = (e.spans[0].cells()+e.spans[1].cells())*maxPerCell + maxWide
			}
			o.grid.near(e, o.oldest, func(*Entry) { compared++ })
			if compared > most || !e.wide && e.spans[0].cells()+e.spans[1].cells() > maxCells {
				t.Errorf("%s: number %d is compared with %d, want %d at most; it is in %v", c.name, n, compared, most, e.spans)
				break
			}
		}
	}
}

// Surfaces that come and go cost no memory once there has been the largest, and
// what was queued before keeps its place.
func TestOrderSurfacesComeAndGo(t *testing.T) {
	var o Order
	entries := make([]Entry, 60)
	put := fill(spiceproto.Rect{Top: 5, Left: 5, Bottom: 900, Right: 50})
	round := func() {
		for i := range entries {
			if i%10 == 0 {
				o.Resize(uint32(1920>>(i%3)), 1080)
			}
			m := put
			m.Effect.Box.Left, m.Effect.Box.Right = int32(i), int32(i+20)
			o.Push(&entries[i], m, 1000)
			o.Complete(&entries[i], 0, 0)
		}
		o.Resize(1920, 1080)
		for i := range entries {
			if e := o.Pop(); e != &entries[i] {
				t.Fatalf("message %d goes where number %d should", e.Number(), entries[i].Number())
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
