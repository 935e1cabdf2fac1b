package spiceproto

// Flags of a PathSegment (path_flags in spice.proto).
const (
	PathBegin  = 1 << 0
	PathEnd    = 1 << 1
	PathClose  = 1 << 3
	PathBezier = 1 << 4
)

// FixPoint is a place with 4 fractional bits: i32 x, i32 y in sixteenths of a
// pixel.
type FixPoint struct{ X, Y int32 }

const fixPointSize = 8

// Path is a line to draw: u32 num_segments, the segments.
type Path struct {
	Segments []PathSegment
	// Points are the segments' points, one segment after the other.
	Points []FixPoint
}

// PathSegment is a part of a Path: u8 flags, u32 count, the points.
type PathSegment struct {
	Flags uint8
	// Count is how many of the path's points are the segment's.
	Count uint32
}

const (
	pathSegmentWire   = 5
	pathSegmentMemory = 8
)

func (d *displayBody) path() Path {
	n := d.elements("path.num_segments", uint64(d.u32("path.num_segments")),
		pathSegmentWire, pathSegmentMemory)
	p := Path{Segments: make([]PathSegment, n)}
	start, points := d.off, 0
	for i := range p.Segments {
		s := PathSegment{Flags: d.u8("path.segments.flags"), Count: d.u32("path.segments.count")}
		here := d.elements("path.segments.count", uint64(s.Count), fixPointSize, fixPointSize)
		d.take("path.segments.points", here*fixPointSize)
		points += here
		p.Segments[i] = s
	}
	if d.err != nil {
		return Path{}
	}
	d.off = start
	p.Points = make([]FixPoint, 0, points)
	for _, s := range p.Segments {
		d.off += pathSegmentWire
		for range s.Count {
			p.Points = append(p.Points, FixPoint{X: d.i32("x"), Y: d.i32("y")})
		}
	}
	return p
}

func (c *composer) path(p Path) {
	c.u32(uint32(len(p.Segments)))
	points := p.Points
	for _, s := range p.Segments {
		c.u8(s.Flags)
		c.u32(s.Count)
		for _, q := range points[:s.Count] {
			c.i32(q.X, q.Y)
		}
		points = points[s.Count:]
	}
}

// Flags of a LineAttr (line_flags in spice.proto).
const (
	LineStartWithGap = 1 << 2
	LineStyled       = 1 << 3
)

// LineAttr is how a line is dashed: u8 flags and, for LineStyled only, u8
// style_nseg and a pointer to that many lengths.
type LineAttr struct {
	Flags uint8
	// Style holds the lengths of dashes and gaps in sixteenths of a pixel, at
	// most 255. It is empty without LineStyled.
	Style []int32
}

func (d *displayBody) lineAttr() LineAttr {
	a := LineAttr{Flags: d.u8("attr.flags")}
	if a.Flags&LineStyled == 0 {
		return a
	}
	n := d.u8("attr.style_nseg")
	style := target(d, "attr.style", n == 0, func(d *displayBody) []int32 {
		s := make([]int32, d.elements("attr.style", uint64(n), 4, 4))
		for i := range s {
			s[i] = d.i32("attr.style")
		}
		return s
	})
	if style != nil {
		a.Style = *style
	}
	return a
}

func (c *composer) lineAttr(a LineAttr) {
	c.u8(a.Flags)
	if a.Flags&LineStyled == 0 {
		return
	}
	c.u8(uint8(len(a.Style)))
	if len(a.Style) == 0 {
		c.u32(0)
		return
	}
	c.pointer(func(c *composer) { c.i32(a.Style...) })
}

// DrawStroke draws a line (MSG_DISPLAY_DRAW_STROKE): DrawBase, a pointer to the
// path, LineAttr, Brush, u16 fore_mode, u16 back_mode.
type DrawStroke struct {
	DrawBase
	Path  Path
	Attr  LineAttr
	Brush Brush
	// ForeMode and BackMode are the rops of dashes and gaps.
	ForeMode, BackMode Rop
}

// ParseDrawStroke decodes the body of MsgDisplayDrawStroke. The error is a
// *DecodeError.
func ParseDrawStroke(b []byte) (DrawStroke, error) {
	d := serverDisplayBody(MsgDisplayDrawStroke, b)
	m := DrawStroke{DrawBase: d.base()}
	if p := target(d, "path", false, (*displayBody).path); p != nil {
		m.Path = *p
	}
	m.Attr, m.Brush = d.lineAttr(), d.brush()
	m.ForeMode, m.BackMode = Rop(d.u16("fore_mode")), Rop(d.u16("back_mode"))
	return m, d.err
}

// Append appends header and body to b. It panics if the path's segments count
// more points than it has.
func (m DrawStroke) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawStroke, func(c *composer) {
		c.base(m.DrawBase)
		c.pointer(func(c *composer) { c.path(m.Path) })
		c.lineAttr(m.Attr)
		c.brush(m.Brush)
		c.u16(uint16(m.ForeMode))
		c.u16(uint16(m.BackMode))
	})
}
