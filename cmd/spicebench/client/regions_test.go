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

func span(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

func TestRegionsCovered(t *testing.T) {
	// The rig's activity at 1280x800 (kerbside-rig.md, section 3).
	activity := box(624, 160, 1264, 640)
	small := box(0, 0, 33, 32) // a full column and one a pixel wide
	tests := []struct {
		name       string
		activities []spiceproto.Rect
		draw       spiceproto.Rect
		want       []int
	}{
		{"whole activity", []spiceproto.Rect{activity}, activity, span(0, 20)},
		{"whole screen", []spiceproto.Rect{activity}, box(0, 0, 1280, 800), span(0, 20)},
		{"one column", []spiceproto.Rect{activity}, box(656, 160, 688, 640), []int{1}},
		{"a column of another alignment renews the one whose centre it holds", []spiceproto.Rect{activity}, box(650, 160, 682, 640), []int{1}},
		{"aligned half a column off, up to but without the centre", []spiceproto.Rect{activity}, box(640, 160, 672, 640), []int{0}},
		{"key box", []spiceproto.Rect{activity}, box(16, 16, 112, 112), nil},
		{"left neighbour", []spiceproto.Rect{activity}, box(592, 160, 624, 640), nil},
		{"right neighbour", []spiceproto.Rect{activity}, box(1264, 160, 1280, 640), nil},
		{"eight upper rows of fifteen", []spiceproto.Rect{activity}, box(624, 160, 656, 401), []int{0}},
		{"seven upper rows of fifteen", []spiceproto.Rect{activity}, box(624, 160, 656, 400), nil},
		{"lower rows", []spiceproto.Rect{activity}, box(624, 380, 656, 800), []int{0}},
		{"empty draw", []spiceproto.Rect{activity}, box(700, 200, 700, 600), nil},
		{"narrow last column counts by its own centre", []spiceproto.Rect{small}, box(32, 0, 33, 32), []int{1}},
		{"narrow last column missed", []spiceproto.Rect{small}, box(0, 0, 32, 32), []int{0}},
		{"two activities are numbered on", []spiceproto.Rect{small, activity}, box(656, 160, 688, 640), []int{3}},
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
	if got := r.count(); got != 22 {
		t.Errorf("count = %d, want 20 + 2", got)
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
		var want []int
		columns := 0
		for x := g.area.Left; x < g.area.Right; x += g.cell {
			centreX := float64(x+min(x+g.cell, g.area.Right)) / 2
			renewed, all := 0, 0
			for y := g.area.Top; y < g.area.Bottom; y += g.cell {
				centreY := float64(y+min(y+g.cell, g.area.Bottom)) / 2
				all++
				if centreX >= float64(draw.Left) && centreX < float64(draw.Right) && centreY >= float64(draw.Top) && centreY < float64(draw.Bottom) {
					renewed++
				}
			}
			if 2*renewed >= all {
				want = append(want, columns)
			}
			columns++
		}
		from, to := g.covered(draw)
		if got := span(from, to); !slices.Equal(got, want) || g.columns() != columns {
			t.Fatalf("%v over %+v: columns %v of %d, want %v of %d", draw, g, got, g.columns(), want, columns)
		}
	})
}
