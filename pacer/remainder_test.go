package pacer

import (
	"testing"

	"pgregory.net/rapid"

	"spicepacer/spiceproto"
)

// A remainder is empty only when every pixel was taken away, and then unless it
// was in too many pieces at some time.
func TestProofRemainder(t *testing.T) {
	const side = 8
	box := rapid.Custom(func(t *rapid.T) spiceproto.Rect {
		at, size := rapid.Int32Range(-1, side), rapid.Int32Range(1, side+2)
		r := spiceproto.Rect{Top: at.Draw(t, "top"), Left: at.Draw(t, "left")}
		r.Bottom, r.Right = r.Top+size.Draw(t, "height"), r.Left+size.Draw(t, "width")
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		whole := spiceproto.Rect{Bottom: side, Right: side}
		var pixels [side][side]bool
		var r remainder
		r.reset(whole)
		for _, b := range rapid.SliceOfN(box, 1, 30).Draw(t, "boxes") {
			gone := r.subtract(b)
			left := 0
			for y := range int32(side) {
				for x := range int32(side) {
					pixel := spiceproto.Rect{Top: y, Left: x, Bottom: y + 1, Right: x + 1}
					pixels[y][x] = pixels[y][x] || b.Contains(pixel)
					if !pixels[y][x] {
						left++
					}
				}
			}
			if gone && left > 0 {
				t.Fatalf("nothing is left, but %d pixels are", left)
			}
			if !gone && left == 0 && !r.lost {
				t.Fatalf("all pixels are gone, but there are %d pieces", r.n)
			}
			if gone {
				return
			}
		}
	})
}

// What was in too many pieces once counts as never covered.
func TestProofRemainderLost(t *testing.T) {
	var r remainder
	r.reset(spiceproto.Rect{Bottom: 10, Right: 100})
	for x := int32(1); x < 100; x += 2 {
		if r.subtract(spiceproto.Rect{Left: x, Right: x + 1, Bottom: 10}) {
			t.Fatal("nothing is left")
		}
	}
	if !r.lost {
		t.Fatalf("50 pieces fit into %d", r.n)
	}
	if r.subtract(spiceproto.Rect{Bottom: 10, Right: 100}) {
		t.Error("what was lost is covered")
	}
}

// What is beside or apart takes nothing away, and adds nothing.
func TestProofRemainderApart(t *testing.T) {
	whole := spiceproto.Rect{Top: 10, Left: 10, Bottom: 20, Right: 20}
	for _, d := range []int32{0, 5} {
		for _, box := range []spiceproto.Rect{
			{Top: -10, Left: 10, Bottom: 10 - d, Right: 20}, {Top: 20 + d, Left: 10, Bottom: 40, Right: 20},
			{Top: 10, Left: -10, Bottom: 20, Right: 10 - d}, {Top: 10, Left: 20 + d, Bottom: 20, Right: 40},
			{Top: 25, Left: 25, Bottom: 30, Right: 30}, {},
		} {
			var r remainder
			r.reset(whole)
			if r.subtract(box) || r.n != 1 || r.pieces[0] != whole {
				t.Errorf("without %+v there are left %+v", box, r)
			}
		}
	}
}
