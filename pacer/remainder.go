package pacer

import "spicepacer/spiceproto"

// maxPieces is of how many rectangles a remainder may consist. QEMU's shifted
// columns leave one or two; a draw that many small ones nibble at is kept.
const maxPieces = 6

// remainder is the part of a draw that newer ones have not covered.
type remainder struct {
	pieces [maxPieces]spiceproto.Rect
	n      int
	lost   bool // in more pieces than fit: it counts as never covered
}

func (r *remainder) reset(box spiceproto.Rect) {
	*r = remainder{n: 1}
	r.pieces[0] = box
}

// subtract takes box away and reports whether nothing is left.
func (r *remainder) subtract(box spiceproto.Rect) bool {
	if r.lost {
		return false
	}
	var left remainder
	for _, p := range r.pieces[:r.n] {
		left.addOutside(p, box)
	}
	*r = left
	return r.n == 0 && !r.lost
}

// addOutside adds what of p is outside box: a strip above, one below, and one
// at each side between them.
func (r *remainder) addOutside(p, box spiceproto.Rect) {
	if !p.Intersects(box) {
		r.add(p)
		return
	}
	top, bottom := max(p.Top, box.Top), min(p.Bottom, box.Bottom)
	r.add(spiceproto.Rect{Top: p.Top, Left: p.Left, Bottom: top, Right: p.Right})
	r.add(spiceproto.Rect{Top: bottom, Left: p.Left, Bottom: p.Bottom, Right: p.Right})
	r.add(spiceproto.Rect{Top: top, Left: p.Left, Bottom: bottom, Right: box.Left})
	r.add(spiceproto.Rect{Top: top, Left: box.Right, Bottom: bottom, Right: p.Right})
}

func (r *remainder) add(p spiceproto.Rect) {
	switch {
	case p.Empty():
	case r.n == maxPieces:
		r.lost = true
	default:
		r.pieces[r.n] = p
		r.n++
	}
}
