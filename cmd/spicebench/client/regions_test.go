package client

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"spicepacer/spiceproto"
)

// box builds a rectangle in the order people say it.
func box(left, top, right, bottom int32) spiceproto.Rect {
	return spiceproto.Rect{Left: left, Top: top, Right: right, Bottom: bottom}
}

// cellsOf returns the numbers of the cells from (left, top) up to but without
// (right, bottom) in a grid of so many columns whose first cell is number first.
func cellsOf(first, columns, left, top, right, bottom int) []int {
	var s []int
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			s = append(s, first+y*columns+x)
		}
	}
	return s
}

func TestRegionsCovered(t *testing.T) {
	// The rig's activity at 1280x800 (kerbside-rig.md, section 3): 20 by 15 cells.
	activity := box(624, 160, 1264, 640)
	small := box(0, 0, 33, 32) // a full cell and one a pixel wide
	tests := []struct {
		name       string
		activities []spiceproto.Rect
		draw       spiceproto.Rect
		want       []int
	}{
		{"whole activity", []spiceproto.Rect{activity}, activity, cellsOf(0, 20, 0, 0, 20, 15)},
		{"whole screen", []spiceproto.Rect{activity}, box(0, 0, 1280, 800), cellsOf(0, 20, 0, 0, 20, 15)},
		{"one column", []spiceproto.Rect{activity}, box(656, 160, 688, 640), cellsOf(0, 20, 1, 0, 2, 15)},
		{"a column of another alignment renews the one whose centres it holds", []spiceproto.Rect{activity}, box(650, 160, 682, 640), cellsOf(0, 20, 1, 0, 2, 15)},
		{"aligned half a column off, up to but without the centre", []spiceproto.Rect{activity}, box(640, 160, 672, 640), cellsOf(0, 20, 0, 0, 1, 15)},
		{"key box", []spiceproto.Rect{activity}, box(16, 16, 112, 112), nil},
		{"left neighbour", []spiceproto.Rect{activity}, box(592, 160, 624, 640), nil},
		{"right neighbour", []spiceproto.Rect{activity}, box(1264, 160, 1280, 640), nil},
		{"the letters of a line of text", []spiceproto.Rect{activity}, box(624, 163, 656, 174), []int{0}},
		{"seven rows", []spiceproto.Rect{activity}, box(624, 160, 656, 167), nil},
		{"eight rows", []spiceproto.Rect{activity}, box(624, 160, 656, 168), []int{0}},
		{"lower rows", []spiceproto.Rect{activity}, box(624, 408, 656, 800), cellsOf(0, 20, 0, 7, 1, 15)},
		{"empty draw", []spiceproto.Rect{activity}, box(700, 200, 700, 600), nil},
		{"narrow last cell counts by its own centre", []spiceproto.Rect{small}, box(32, 0, 33, 32), []int{1}},
		{"narrow last cell missed", []spiceproto.Rect{small}, box(0, 0, 32, 32), []int{0}},
		{"two activities are numbered on", []spiceproto.Rect{small, activity}, box(656, 160, 688, 192), []int{3}},
		{"a draw over two activities", []spiceproto.Rect{small, small}, box(0, 0, 32, 32), []int{0, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			newRegions(tt.activities, 32).covered(tt.draw, func(i int) { got = append(got, i) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("regions %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRegionsCount(t *testing.T) {
	r := newRegions([]spiceproto.Rect{box(624, 160, 1264, 640), box(0, 0, 33, 32)}, 32)
	if got := r.count(); got != 302 {
		t.Errorf("count = %d, want 300 + 2", got)
	}
	if got := newRegions(nil, 32).count(); got != 0 {
		t.Errorf("count without activities = %d, want 0", got)
	}
}

// TestRegionsAgainstCells walks cell by cell, as the definition says.
func TestRegionsAgainstCells(t *testing.T) {
	rect := func(t *rapid.T, name string) spiceproto.Rect {
		l := rapid.Int32Range(0, 200).Draw(t, name+" left")
		top := rapid.Int32Range(0, 200).Draw(t, name+" top")
		return box(l, top, l+rapid.Int32Range(1, 200).Draw(t, name+" width"), top+rapid.Int32Range(1, 200).Draw(t, name+" height"))
	}
	rapid.Check(t, func(t *rapid.T) {
		g := grid{area: rect(t, "area"), cell: rapid.Int32Range(1, 64).Draw(t, "cell")}
		draw := rect(t, "draw")
		var want, got []int
		n := 0
		for y := g.area.Top; y < g.area.Bottom; y += g.cell {
			bottom := min(y+g.cell, g.area.Bottom)
			rows := max(0, min(bottom, draw.Bottom)-max(y, draw.Top))
			for x := g.area.Left; x < g.area.Right; x += g.cell {
				centreX := float64(x+min(x+g.cell, g.area.Right)) / 2
				if centreX >= float64(draw.Left) && centreX < float64(draw.Right) && 4*rows >= bottom-y {
					want = append(want, n)
				}
				n++
			}
		}
		g.covered(draw, func(i int) { got = append(got, i) })
		if !slices.Equal(got, want) || g.count() != n {
			t.Fatalf("%v over %+v: cells %v of %d, want %v of %d", draw, g, got, g.count(), want, n)
		}
	})
}
