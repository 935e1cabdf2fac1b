package pacer

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"spicepacer/spiceproto"
)

func TestTilingSpan(t *testing.T) {
	for _, c := range []struct {
		name                     string
		width, height            uint32
		box                      spiceproto.Rect
		left, top, right, bottom int
	}{
		{"a column of QEMU's", 1280, 800, spiceproto.Rect{Left: 32, Right: 64, Bottom: 800}, 1, 0, 2, 25},
		{"centres decide", 1280, 800, spiceproto.Rect{Left: 16, Top: 17, Right: 80, Bottom: 80}, 0, 1, 2, 2},
		{"no centre inside", 1280, 800, spiceproto.Rect{Left: 60, Top: 33, Right: 62, Bottom: 36}, 1, 1, 2, 2},
		{"cut to the surface", 64, 64, spiceproto.Rect{Left: -90, Top: -90, Right: 9000, Bottom: 9000}, 0, 0, 2, 2},
		{"outside", 64, 64, spiceproto.Rect{Left: 90, Right: 900, Bottom: 64}, 2, 0, 2, 2},
		{"larger tiles", 16384, 8192, spiceproto.Rect{Left: 128, Top: 128, Right: 256, Bottom: 384}, 1, 1, 2, 3},
		{"no tiles", math.MaxUint32, math.MaxUint32, spiceproto.Rect{Right: 64, Bottom: 64}, 0, 0, 0, 0},
	} {
		left, top, right, bottom := tilesOf(c.width, c.height).span(c.box)
		if left != c.left || top != c.top || right != c.right || bottom != c.bottom {
			t.Errorf("%s: %d,%d to %d,%d", c.name, left, top, right, bottom)
		}
	}
}

// Whatever a server announces and draws, the tiles exist and are few, and boxes side
// by side, each as large as a tile at least, share none.
func TestTilingIsBounded(t *testing.T) {
	corner := rapid.Int32()
	rapid.Check(t, func(t *rapid.T) {
		g := tilesOf(rapid.Uint32().Draw(t, "width"), rapid.Uint32Range(0, 1<<14).Draw(t, "height"))
		if g.count() > mostTiles {
			t.Fatalf("%d tiles", g.count())
		}
		box := spiceproto.Rect{Left: corner.Draw(t, "left"), Top: corner.Draw(t, "top"), Right: corner.Draw(t, "right"), Bottom: corner.Draw(t, "bottom")}
		left, top, right, bottom := g.span(box)
		if left < 0 || top < 0 || right > g.columns || bottom > g.rows {
			t.Fatalf("%d,%d to %d,%d of %d by %d tiles", left, top, right, bottom, g.columns, g.rows)
		}
		middle := rapid.Int32Range(0, 1<<20).Draw(t, "middle")
		_, end := g.along(middle-int32(g.size), middle, g.columns)
		if next, _ := g.along(middle, middle+int32(g.size), g.columns); g.count() > 0 && middle >= int32(g.size) && next != end {
			t.Fatalf("one box ends at tile %d, the next begins at %d", end, next)
		}
	})
}

func TestResized(t *testing.T) {
	s := []int{1, 2, 3}
	if got := resized(s, 2); len(got) != 2 || got[0] != 0 || &got[0] != &s[0] {
		t.Errorf("%v, want two zeros in the same memory", got)
	}
	if got := resized(s, 4); len(got) != 4 || &got[0] == &s[0] {
		t.Errorf("%v, want memory of its own", got)
	}
}
