package spiceproto

// CopyBits moves a part of a surface to another place on it
// (MSG_DISPLAY_COPY_BITS): DrawBase, Point src_pos.
type CopyBits struct {
	DrawBase
	// SrcPos is the top left corner of what moves; its size is the box's.
	SrcPos Point
}

// ParseCopyBits decodes the body of MsgDisplayCopyBits. The error is a
// *DecodeError.
func ParseCopyBits(b []byte) (CopyBits, error) {
	d := serverDisplayBody(MsgDisplayCopyBits, b)
	m := CopyBits{DrawBase: d.base(), SrcPos: d.point("src_pos")}
	return m, d.err
}

// Append appends header and body to b.
func (m CopyBits) Append(b []byte) []byte {
	return compose(b, MsgDisplayCopyBits, func(c *composer) {
		c.base(m.DrawBase)
		c.point(m.SrcPos)
	})
}

// source reads the pointer to a draw's source image. spice.proto lets it be
// null, though no client can draw that.
func (d *displayBody) source() *Picture {
	return target(d, "src_bitmap", true, (*displayBody).picture)
}

// DrawCopy paints an image (MSG_DISPLAY_DRAW_COPY): DrawBase, a pointer to the
// image, Rect src_area, u16 rop_descriptor, u8 scale_mode, Mask.
type DrawCopy struct {
	DrawBase
	// Src is nil for a null pointer.
	Src *Picture
	// SrcArea is the part of the image that is fitted to the box.
	SrcArea Rect
	Rop     Rop
	Scale   ScaleMode
	Mask    Mask
}

// ParseDrawCopy decodes the body of MsgDisplayDrawCopy. The error is a
// *DecodeError.
func ParseDrawCopy(b []byte) (DrawCopy, error) { return parseCopy(MsgDisplayDrawCopy, b) }

// Append appends header and body to b.
func (m DrawCopy) Append(b []byte) []byte { return m.compose(b, MsgDisplayDrawCopy) }

// DrawBlend combines an image with what is there, as its rop says
// (MSG_DISPLAY_DRAW_BLEND). Its layout is DrawCopy's.
type DrawBlend DrawCopy

// ParseDrawBlend decodes the body of MsgDisplayDrawBlend. The error is a
// *DecodeError.
func ParseDrawBlend(b []byte) (DrawBlend, error) {
	m, err := parseCopy(MsgDisplayDrawBlend, b)
	return DrawBlend(m), err
}

// Append appends header and body to b.
func (m DrawBlend) Append(b []byte) []byte { return DrawCopy(m).compose(b, MsgDisplayDrawBlend) }

func parseCopy(op uint16, b []byte) (DrawCopy, error) {
	d := serverDisplayBody(op, b)
	m := DrawCopy{
		DrawBase: d.base(), Src: d.source(), SrcArea: d.rect("src_area"),
		Rop: Rop(d.u16("rop_descriptor")), Scale: ScaleMode(d.u8("scale_mode")), Mask: d.mask(),
	}
	return m, d.err
}

func (m DrawCopy) compose(b []byte, op uint16) []byte {
	return compose(b, op, func(c *composer) {
		c.base(m.DrawBase)
		c.picture(m.Src)
		c.rect(m.SrcArea)
		c.u16(uint16(m.Rop))
		c.u8(uint8(m.Scale))
		c.mask(m.Mask)
	})
}

// DrawOpaque paints an image, then combines a brush with it
// (MSG_DISPLAY_DRAW_OPAQUE): DrawBase, a pointer to the image, Rect src_area,
// Brush, u16 rop_descriptor, u8 scale_mode, Mask.
type DrawOpaque struct {
	DrawBase
	Src     *Picture
	SrcArea Rect
	Brush   Brush
	Rop     Rop
	Scale   ScaleMode
	Mask    Mask
}

// ParseDrawOpaque decodes the body of MsgDisplayDrawOpaque. The error is a
// *DecodeError.
func ParseDrawOpaque(b []byte) (DrawOpaque, error) {
	d := serverDisplayBody(MsgDisplayDrawOpaque, b)
	m := DrawOpaque{
		DrawBase: d.base(), Src: d.source(), SrcArea: d.rect("src_area"), Brush: d.brush(),
		Rop: Rop(d.u16("rop_descriptor")), Scale: ScaleMode(d.u8("scale_mode")), Mask: d.mask(),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawOpaque) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawOpaque, func(c *composer) {
		c.base(m.DrawBase)
		c.picture(m.Src)
		c.rect(m.SrcArea)
		c.brush(m.Brush)
		c.u16(uint16(m.Rop))
		c.u8(uint8(m.Scale))
		c.mask(m.Mask)
	})
}

// DrawROP3 combines image, brush and what is there with one of the 256 ternary
// raster operations (MSG_DISPLAY_DRAW_ROP3): DrawBase, a pointer to the image,
// Rect src_area, Brush, u8 rop3, u8 scale_mode, Mask.
type DrawROP3 struct {
	DrawBase
	Src     *Picture
	SrcArea Rect
	Brush   Brush
	// ROP3 is the operation's truth table: 0xcc is the image alone.
	ROP3  uint8
	Scale ScaleMode
	Mask  Mask
}

// ParseDrawROP3 decodes the body of MsgDisplayDrawROP3. The error is a
// *DecodeError.
func ParseDrawROP3(b []byte) (DrawROP3, error) {
	d := serverDisplayBody(MsgDisplayDrawROP3, b)
	m := DrawROP3{
		DrawBase: d.base(), Src: d.source(), SrcArea: d.rect("src_area"), Brush: d.brush(),
		ROP3: d.u8("rop3"), Scale: ScaleMode(d.u8("scale_mode")), Mask: d.mask(),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawROP3) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawROP3, func(c *composer) {
		c.base(m.DrawBase)
		c.picture(m.Src)
		c.rect(m.SrcArea)
		c.brush(m.Brush)
		c.u8(m.ROP3)
		c.u8(uint8(m.Scale))
		c.mask(m.Mask)
	})
}
