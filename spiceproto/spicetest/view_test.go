package spicetest

import (
	"testing"
	"time"

	"spicepacer/spiceproto"
)

func TestViewAge(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	lively := spiceproto.Rect{Bottom: 1, Right: 1}
	frozen := spiceproto.Rect{Bottom: 1, Left: 1, Right: 2}
	var v View
	for s := range 10 {
		v.draw(at(s+1), spiceproto.DrawHead{Box: lively})
	}
	// Half of the time belongs to the frozen region, whose age runs from 0 to
	// 10 s; all ages above 1 s are its own, so 95 % of the time is below 9 s.
	got := v.Age([]spiceproto.Rect{lively, frozen}, start, at(10))
	if got.Max != 10*time.Second || got.Least != 0 || got.Most != 10 {
		t.Errorf("%+v, want 10 s at most and 0 to 10 updates", got)
	}
	if d := got.P95 - 9*time.Second; d < -time.Millisecond || d > time.Millisecond {
		t.Errorf("p95 %v, want 9 s", got.P95)
	}
}

func TestDesktopBatches(t *testing.T) {
	d := NewDesktop([]int{1000, 1000}, 500)
	d.Animate()
	d.Refresh()
	first, _ := d.Next()
	d.Animate()
	d.Press()
	d.Refresh() // the last batch is not fetched yet
	second, _ := d.Next()
	if _, more := d.Next(); more || first.Box != d.Columns()[0] || second.Box != d.Columns()[1] {
		t.Fatalf("first batch: %v, %v, more %t", first, second, more)
	}
	if !d.Dirty() {
		t.Fatal("the changes since the batch are forgotten")
	}
	d.Refresh()
	var ids []uint64
	for draw, ok := d.Next(); ok; draw, ok = d.Next() {
		ids = append(ids, draw.ID)
		if want := d.Shows()[draw.Box]; draw.ID != want {
			t.Errorf("box %v: image %#x, want the newest, %#x", draw.Box, draw.ID, want)
		}
	}
	if len(ids) != 3 || d.Dirty() {
		t.Errorf("%d draws in the second batch, want 3; dirty %t", len(ids), d.Dirty())
	}
}

func TestDrawParses(t *testing.T) {
	d := Draw{
		Box: spiceproto.Rect{Top: 1, Left: 2, Bottom: 30, Right: 40},
		ID:  7, Size: 300, Type: spiceproto.ImageJPEG,
	}
	b := d.Append(nil)
	h, _ := spiceproto.ParseHeader(b)
	if int(h.Size) != d.Size || len(b) != spiceproto.MiniHeaderSize+d.Size {
		t.Fatalf("header says %d, %d bytes in all", h.Size, len(b))
	}
	head, err := spiceproto.ParseDrawHead(h.Type, h.Size, b[spiceproto.MiniHeaderSize:][:spiceproto.HeadSize])
	if err != nil {
		t.Fatal(err)
	}
	want := spiceproto.Image{ID: 7, Type: spiceproto.ImageJPEG, Width: 38, Height: 29}
	if head.Box != d.Box || !head.ImageKnown || head.Image != want {
		t.Errorf("parsed %+v", head)
	}
}
