package pacer

import (
	"slices"

	"spicepacer/spiceproto"
)

const (
	// maxPerCell is how many queued messages one cell of the grid may hold. A
	// place where more of them meet is not sorted out: the next one keeps its
	// place among all.
	maxPerCell = 24
	// maxCells is how many cells a message may touch to be entered in each; the
	// others are wide, and maxWide of those are compared with every message.
	maxCells = 256
	maxWide  = 16
	// maxScanned is how many messages may be queued when a wide one comes, which
	// is compared with each of them.
	maxScanned = 512
)

// grid finds the queued messages that touch an area of the primary surface. What
// it costs depends on the area and not on how many messages are queued.
type grid struct {
	cell          int // edge of a cell in pixels
	columns, rows int
	cells         [][]*Entry // none until worth its memory
	wide          []*Entry
}

// mostCells is how many cells a grid has at most; on a larger surface each is
// larger. With maxPerCell it bounds what an attacker can make of it to 1 MB.
const mostCells = 4096

// fewWide is how many messages are compared with each other one by one before
// the grid gets cells: an unsaturated channel never needs them.
const fewWide = 4

// resize makes an empty grid, from which all messages have been removed, one for a
// surface of the given size in pixels. Beyond maxTiles it never has cells, and every
// message is wide.
func (g *grid) resize(width, height uint32) {
	*g = grid{wide: g.wide[:0], cells: g.cells[:0], cell: tileSize}
	const most = maxTiles * tileSize
	w, h := int(min(width, most)), int(min(height, most))
	across := func(pixels, cell int) int { return (pixels + cell - 1) / cell }
	if w == 0 || h == 0 || across(w, tileSize) > maxTiles/across(h, tileSize) {
		return
	}
	for across(w, g.cell)*across(h, g.cell) > mostCells {
		g.cell *= 2
	}
	g.columns, g.rows = across(w, g.cell), across(h, g.cell)
}

// span is a range of cells; left and top inclusive, right and bottom exclusive.
type span struct{ left, top, right, bottom int }

func (s span) cells() int { return max(s.right-s.left, 0) * max(s.bottom-s.top, 0) }

// touched returns the cells that share a pixel with box. What lies outside the
// surface counts to the cells at its edge.
func (g *grid) touched(box spiceproto.Rect) span {
	if box.Empty() || len(g.cells) == 0 {
		return span{}
	}
	at := func(pixel int32, cells int) int {
		return min(max(int(pixel), 0)/g.cell, cells-1)
	}
	return span{
		left: at(box.Left, g.columns), right: at(box.Right-1, g.columns) + 1,
		top: at(box.Top, g.rows), bottom: at(box.Bottom-1, g.rows) + 1,
	}
}

// insert enters e under what it writes and reads, with so many messages queued. It
// reports whether there was room; if not, e is not entered at all.
func (g *grid) insert(e *Entry, queued int) bool {
	if len(g.cells) == 0 && g.columns > 0 && len(g.wide) >= fewWide {
		g.makeCells()
	}
	e.spans = [2]span{g.touched(e.f.writes), g.touched(e.f.reads)}
	e.wide = len(g.cells) == 0 || e.spans[0].cells()+e.spans[1].cells() > maxCells
	if e.wide {
		if len(g.wide) == maxWide || queued > maxScanned {
			return false
		}
		g.wide = append(g.wide, e)
		return true
	}
	if !g.hasRoom(e) {
		return false
	}
	g.each(e, func(cell *[]*Entry) { *cell = append(*cell, e) })
	return true
}

// makeCells makes cells in the memory of those of an earlier grid, which are empty,
// if these are enough.
func (g *grid) makeCells() {
	n := g.columns * g.rows
	if cap(g.cells) < n {
		g.cells = make([][]*Entry, n)
	}
	g.cells = g.cells[:n]
}

func (g *grid) hasRoom(e *Entry) bool {
	room := true
	// A cell under both areas takes e twice.
	g.each(e, func(cell *[]*Entry) { room = room && len(*cell)+2 <= maxPerCell })
	return room
}

// remove takes e out.
func (g *grid) remove(e *Entry) {
	if e.wide {
		g.wide = without(g.wide, e)
		return
	}
	g.each(e, func(cell *[]*Entry) { *cell = without(*cell, e) })
}

// without removes one e from the list, whose order does not matter.
func without(list []*Entry, e *Entry) []*Entry {
	i := slices.Index(list, e)
	if i < 0 {
		return list
	}
	last := len(list) - 1
	list[i], list[last] = list[last], nil
	return list[:last]
}

// each calls f for the cells of e.
func (g *grid) each(e *Entry, f func(cell *[]*Entry)) {
	for _, s := range e.spans {
		for y := s.top; y < s.bottom; y++ {
			row := g.cells[y*g.columns:]
			for x := s.left; x < s.right; x++ {
				f(&row[x])
			}
		}
	}
}

// near calls f for every message that may share a pixel with e, some of them
// more than once, e perhaps among them. A wide e is compared with all messages
// from oldest on that came before it or with it.
func (g *grid) near(e, oldest *Entry, f func(*Entry)) {
	if e.wide {
		for o := oldest; o != nil && o.seq <= e.seq; o = o.newer {
			f(o)
		}
		return
	}
	for _, o := range g.wide {
		f(o)
	}
	g.each(e, func(cell *[]*Entry) {
		for _, o := range *cell {
			f(o)
		}
	})
}
