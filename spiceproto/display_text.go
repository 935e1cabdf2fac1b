package spiceproto

import "unsafe"

// Flags of a RasterString (string_flags in spice.proto). One of the first three
// is set and gives the bits a pixel of the glyphs has; the lowest wins.
const (
	StringRasterA1      = 1 << 0
	StringRasterA4      = 1 << 1
	StringRasterA8      = 1 << 2
	StringRasterTopDown = 1 << 3
)

// RasterString is a run of text as bitmaps (String in spice.proto): u16 length,
// u8 flags, the glyphs.
type RasterString struct {
	Flags  uint8
	Glyphs []Glyph
}

// Glyph is one character: Point render_pos, Point glyph_origin, u16 width, u16
// height, and the rows, each filled up to a whole byte.
type Glyph struct {
	RenderPos, Origin Point
	Width, Height     uint16
	// Data aliases the message.
	Data []byte
}

const glyphWire = 20

// glyphBits returns the bits of a pixel, 0 if the flags name no depth.
func glyphBits(flags uint8) uint64 {
	switch {
	case flags&StringRasterA1 != 0:
		return 1
	case flags&StringRasterA4 != 0:
		return 4
	case flags&StringRasterA8 != 0:
		return 8
	}
	return 0
}

func (d *displayBody) rasterString() RasterString {
	length, at := d.u16("str.length"), d.off
	s := RasterString{Flags: d.u8("str.flags")}
	bits := glyphBits(s.Flags)
	if bits == 0 && length > 0 {
		d.fail("str.flags", at, ErrValue)
	}
	s.Glyphs = make([]Glyph,
		d.elements("str.length", uint64(length), glyphWire, int(unsafe.Sizeof(Glyph{}))))
	for i := range s.Glyphs {
		s.Glyphs[i] = d.glyph(bits)
	}
	return s
}

func (d *displayBody) glyph(bits uint64) Glyph {
	g := Glyph{
		RenderPos: d.point("str.glyphs.render_pos"), Origin: d.point("str.glyphs.glyph_origin"),
		Width: d.u16("str.glyphs.width"), Height: d.u16("str.glyphs.height"),
	}
	g.Data = d.data("str.glyphs.data", (uint64(g.Width)*bits+7)/8*uint64(g.Height))
	return g
}

func (c *composer) rasterString(s RasterString) {
	c.u16(uint16(len(s.Glyphs)))
	c.u8(s.Flags)
	for _, g := range s.Glyphs {
		c.point(g.RenderPos)
		c.point(g.Origin)
		c.u16(g.Width)
		c.u16(g.Height)
		c.bytes(g.Data)
	}
}

// DrawText draws characters (MSG_DISPLAY_DRAW_TEXT): DrawBase, a pointer to the
// string, Rect back_area, two Brushes, u16 fore_mode, u16 back_mode.
type DrawText struct {
	DrawBase
	String RasterString
	// BackArea is painted with BackBrush before the characters, unless it is
	// empty.
	BackArea             Rect
	ForeBrush, BackBrush Brush
	ForeMode, BackMode   Rop
}

// ParseDrawText decodes the body of MsgDisplayDrawText. The error is a
// *DecodeError.
func ParseDrawText(b []byte) (DrawText, error) {
	d := serverDisplayBody(MsgDisplayDrawText, b)
	m := DrawText{DrawBase: d.base()}
	if s := target(d, "str", false, (*displayBody).rasterString); s != nil {
		m.String = *s
	}
	m.BackArea = d.rect("back_area")
	m.ForeBrush, m.BackBrush = d.brush(), d.brush()
	m.ForeMode, m.BackMode = Rop(d.u16("fore_mode")), Rop(d.u16("back_mode"))
	return m, d.err
}

// Append appends header and body to b. It holds at most 65535 glyphs.
func (m DrawText) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawText, func(c *composer) {
		c.base(m.DrawBase)
		c.pointer(func(c *composer) { c.rasterString(m.String) })
		c.rect(m.BackArea)
		c.brush(m.ForeBrush)
		c.brush(m.BackBrush)
		c.u16(uint16(m.ForeMode))
		c.u16(uint16(m.BackMode))
	})
}
