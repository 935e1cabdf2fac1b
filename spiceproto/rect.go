package spiceproto

// Rect is a rectangle in surface pixels, in the wire's field order: i32 top,
// left, bottom, right. Bottom and Right are exclusive.
type Rect struct{ Top, Left, Bottom, Right int32 }

// Empty reports whether r covers no pixel; an inverted rectangle covers none.
func (r Rect) Empty() bool { return r.Top >= r.Bottom || r.Left >= r.Right }

// Width returns the number of columns, 0 when r is empty. It is an int64
// because corners from the wire can be further apart than an int32 can tell.
func (r Rect) Width() int64 {
	if r.Empty() {
		return 0
	}
	return int64(r.Right) - int64(r.Left)
}

// Height returns the number of rows, 0 when r is empty.
func (r Rect) Height() int64 {
	if r.Empty() {
		return 0
	}
	return int64(r.Bottom) - int64(r.Top)
}

// Intersects reports whether r and o share a pixel.
func (r Rect) Intersects(o Rect) bool {
	return !r.Empty() && !o.Empty() &&
		r.Left < o.Right && o.Left < r.Right && r.Top < o.Bottom && o.Top < r.Bottom
}

// Contains reports whether every pixel of o is one of r. An empty o is
// contained in every rectangle.
func (r Rect) Contains(o Rect) bool {
	return o.Empty() ||
		r.Left <= o.Left && o.Right <= r.Right && r.Top <= o.Top && o.Bottom <= r.Bottom
}

// Union returns the smallest rectangle that contains r and o.
func (r Rect) Union(o Rect) Rect {
	switch {
	case r.Empty():
		return o
	case o.Empty():
		return r
	}
	return Rect{
		Top: min(r.Top, o.Top), Left: min(r.Left, o.Left),
		Bottom: max(r.Bottom, o.Bottom), Right: max(r.Right, o.Right),
	}
}

func (d *body) rect(field string) Rect {
	return Rect{Top: d.i32(field), Left: d.i32(field), Bottom: d.i32(field), Right: d.i32(field)}
}
