package spiceproto

// DrawFill paints a brush (MSG_DISPLAY_DRAW_FILL): DrawBase, Brush, u16
// rop_descriptor, Mask.
type DrawFill struct {
	DrawBase
	Brush Brush
	Rop   Rop
	Mask  Mask
}

// ParseDrawFill decodes the body of MsgDisplayDrawFill. The error is a
// *DecodeError.
func ParseDrawFill(b []byte) (DrawFill, error) {
	d := serverDisplayBody(MsgDisplayDrawFill, b)
	m := DrawFill{
		DrawBase: d.base(), Brush: d.brush(), Rop: Rop(d.u16("rop_descriptor")), Mask: d.mask(),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawFill) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawFill, func(c *composer) {
		c.base(m.DrawBase)
		c.brush(m.Brush)
		c.u16(uint16(m.Rop))
		c.mask(m.Mask)
	})
}

// DrawBlackness paints black (MSG_DISPLAY_DRAW_BLACKNESS): DrawBase, Mask.
type DrawBlackness struct {
	DrawBase
	Mask Mask
}

// ParseDrawBlackness decodes the body of MsgDisplayDrawBlackness. The error is a
// *DecodeError.
func ParseDrawBlackness(b []byte) (DrawBlackness, error) {
	d := serverDisplayBody(MsgDisplayDrawBlackness, b)
	m := DrawBlackness{DrawBase: d.base(), Mask: d.mask()}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawBlackness) Append(b []byte) []byte { return m.compose(b, MsgDisplayDrawBlackness) }

func (m DrawBlackness) compose(b []byte, op uint16) []byte {
	return compose(b, op, func(c *composer) {
		c.base(m.DrawBase)
		c.mask(m.Mask)
	})
}

// DrawWhiteness paints white (MSG_DISPLAY_DRAW_WHITENESS): DrawBase, Mask.
type DrawWhiteness struct {
	DrawBase
	Mask Mask
}

// ParseDrawWhiteness decodes the body of MsgDisplayDrawWhiteness. The error is a
// *DecodeError.
func ParseDrawWhiteness(b []byte) (DrawWhiteness, error) {
	d := serverDisplayBody(MsgDisplayDrawWhiteness, b)
	m := DrawWhiteness{DrawBase: d.base(), Mask: d.mask()}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawWhiteness) Append(b []byte) []byte {
	return DrawBlackness(m).compose(b, MsgDisplayDrawWhiteness)
}

// DrawInvers inverts what is there (MSG_DISPLAY_DRAW_INVERS): DrawBase, Mask.
type DrawInvers struct {
	DrawBase
	Mask Mask
}

// ParseDrawInvers decodes the body of MsgDisplayDrawInvers. The error is a
// *DecodeError.
func ParseDrawInvers(b []byte) (DrawInvers, error) {
	d := serverDisplayBody(MsgDisplayDrawInvers, b)
	m := DrawInvers{DrawBase: d.base(), Mask: d.mask()}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawInvers) Append(b []byte) []byte {
	return DrawBlackness(m).compose(b, MsgDisplayDrawInvers)
}
