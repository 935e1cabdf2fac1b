package client

import "spicepacer/spiceproto"

// grid cuts an activity's rectangle into square cells, anchored at its left top
// corner; the cells at the right and bottom edge may be smaller. A region is a
// cell. QEMU sends an animation in columns of 32 pixels and text in pieces of
// these, aligned to each update's left edge, so what a message renews is judged
// by area and never by the identity of its box.
type grid struct {
	area spiceproto.Rect
	cell int32
}

func (g grid) columns() int { return int(cells(g.area.Right-g.area.Left, g.cell)) }

func (g grid) rows() int { return int(cells(g.area.Bottom-g.area.Top, g.cell)) }

// count returns the number of regions.
func (g grid) count() int { return g.columns() * g.rows() }

// covered calls visit for the regions that a draw into box renews: those of which
// it covers the middle column and a quarter of the rows. The middle tells which of
// two cells a column of another alignment renews; text changes the rows of its
// letters only. Regions are numbered row by row.
func (g grid) covered(box spiceproto.Rect, visit func(region int)) {
	left, right := centres(g.area.Left, g.area.Right, g.cell, box.Left, box.Right)
	for y := range g.rows() {
		top := g.area.Top + int32(y)*g.cell
		bottom := min(top+g.cell, g.area.Bottom)
		if 4*(int64(min(bottom, box.Bottom))-int64(max(top, box.Top))) < int64(bottom-top) {
			continue
		}
		for x := left; x < right; x++ {
			visit(y*g.columns() + x)
		}
	}
}

// cells returns how many cells a length of pixels is cut into.
func cells(length, cell int32) int32 { return (length + cell - 1) / cell }

// centres returns the cells [from, to) of the line lo..hi whose centres lie in
// the half-open span a..b.
func centres(lo, hi, cell, a, b int32) (from, to int) {
	n := int(cells(hi-lo, cell))
	// Coordinates are doubled: the centre of an odd length is half a pixel.
	twiceCentre := func(i int) int64 {
		start := int64(lo) + int64(i)*int64(cell)
		return start + min(start+int64(cell), int64(hi))
	}
	for from < n && twiceCentre(from) < 2*int64(a) {
		from++
	}
	to = from
	for to < n && twiceCentre(to) < 2*int64(b) {
		to++
	}
	return from, to
}

// regions numbers the cells of several activities as one list.
type regions []grid

func newRegions(activities []spiceproto.Rect, cell int) regions {
	r := make(regions, len(activities))
	for i, a := range activities {
		r[i] = grid{area: a, cell: int32(cell)}
	}
	return r
}

// count returns the number of regions of all activities.
func (r regions) count() int {
	n := 0
	for _, g := range r {
		n += g.count()
	}
	return n
}

// covered calls visit for every region that a draw into box renews.
func (r regions) covered(box spiceproto.Rect, visit func(region int)) {
	first := 0
	for _, g := range r {
		g.covered(box, func(i int) { visit(first + i) })
		first += g.count()
	}
}
