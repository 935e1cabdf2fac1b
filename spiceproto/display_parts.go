package spiceproto

// Point is a place in surface pixels: i32 x, i32 y.
type Point struct{ X, Y int32 }

func (d *displayBody) point(field string) Point {
	return Point{X: d.i32(field), Y: d.i32(field)}
}

func (c *composer) point(p Point) { c.i32(p.X, p.Y) }

// Clip limits what a draw or a stream paints: u8 type and, for ClipRects only,
// u32 num_rects and the rectangles, inline.
type Clip struct {
	Type ClipType
	// Rects is empty unless Type is ClipRects. They may overlap.
	Rects []Rect
}

func (d *displayBody) clip() Clip {
	at := d.off
	c := Clip{Type: ClipType(d.u8("clip.type"))}
	switch c.Type {
	case ClipNone:
	case ClipRects:
		n := d.elements("clip.num_rects", uint64(d.u32("clip.num_rects")), rectSize, rectSize)
		c.Rects = make([]Rect, n)
		for i := range c.Rects {
			c.Rects[i] = d.rect("clip.rects")
		}
	default:
		d.fail("clip.type", at, ErrValue)
	}
	return c
}

func (c *composer) clip(clip Clip) {
	c.u8(uint8(clip.Type))
	if clip.Type != ClipRects {
		return
	}
	c.u32(uint32(len(clip.Rects)))
	for _, r := range clip.Rects {
		c.rect(r)
	}
}

// DrawBase is what every draw begins with (DisplayBase): u32 surface_id, Rect
// box, Clip clip. It writes no pixel outside Box, nor outside Clip.
type DrawBase struct {
	Surface uint32
	Box     Rect
	Clip    Clip
}

func (d *displayBody) base() DrawBase {
	return DrawBase{Surface: d.u32("base.surface_id"), Box: d.rect("base.box"), Clip: d.clip()}
}

func (c *composer) base(b DrawBase) {
	c.u32(b.Surface)
	c.rect(b.Box)
	c.clip(b.Clip)
}

// BrushType is the kind of a brush (SPICE_BRUSH_TYPE_* in spice/enums.h).
type BrushType uint8

// The brush types; a draw with any other is not decodable.
const (
	BrushNone    BrushType = 0
	BrushSolid   BrushType = 1
	BrushPattern BrushType = 2
)

// Brush is what a draw paints with: u8 type, then nothing, u32 color, or a
// pointer to an image and Point pos.
type Brush struct {
	Type BrushType
	// Color is for BrushSolid, in the surface's format.
	Color uint32
	// Pattern is tiled from Pos on; both are for BrushPattern, which always has
	// an image.
	Pattern *Picture
	Pos     Point
}

func (d *displayBody) brush() Brush {
	at := d.off
	b := Brush{Type: BrushType(d.u8("brush.type"))}
	switch b.Type {
	case BrushNone:
	case BrushSolid:
		b.Color = d.u32("brush.color")
	case BrushPattern:
		b.Pattern = target(d, "brush.pattern.pat", false, (*displayBody).picture)
		b.Pos = d.point("brush.pattern.pos")
	default:
		d.fail("brush.type", at, ErrValue)
	}
	return b
}

func (c *composer) brush(b Brush) {
	c.u8(uint8(b.Type))
	switch b.Type {
	case BrushSolid:
		c.u32(b.Color)
	case BrushPattern:
		c.picture(b.Pattern)
		c.point(b.Pos)
	}
}

// MaskInvers is the flag of a Mask whose clear bits are to be painted.
const MaskInvers = 1 << 0

// Mask picks the pixels a draw paints (QMask): u8 flags, Point pos, a pointer to
// a one bit image.
type Mask struct {
	Flags uint8
	Pos   Point
	// Bitmap is nil for a draw without mask, whatever Flags and Pos say.
	Bitmap *Picture
}

func (d *displayBody) mask() Mask {
	return Mask{
		Flags: d.u8("mask.flags"), Pos: d.point("mask.pos"),
		Bitmap: target(d, "mask.bitmap", true, (*displayBody).picture),
	}
}

func (c *composer) mask(m Mask) {
	c.u8(m.Flags)
	c.point(m.Pos)
	c.picture(m.Bitmap)
}

// Rop tells how a draw combines source, brush and destination (ropd in
// spice.proto). With RopPut alone it replaces the destination.
type Rop uint16

// The bits of a Rop.
const (
	RopInversSrc   Rop = 1 << 0
	RopInversBrush Rop = 1 << 1
	RopInversDest  Rop = 1 << 2
	RopPut         Rop = 1 << 3
	RopOr          Rop = 1 << 4
	RopAnd         Rop = 1 << 5
	RopXor         Rop = 1 << 6
	RopBlackness   Rop = 1 << 7
	RopWhiteness   Rop = 1 << 8
	RopInvers      Rop = 1 << 9
	RopInversRes   Rop = 1 << 10
)

// ScaleMode is how a draw fits the source to a box of another size.
type ScaleMode uint8

// The scale modes.
const (
	ScaleInterpolate ScaleMode = 0
	ScaleNearest     ScaleMode = 1
)
