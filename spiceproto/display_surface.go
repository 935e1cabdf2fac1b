package spiceproto

// DisplayMode sets the size of the primary surface and clears it
// (MSG_DISPLAY_MODE): u32 x_res, u32 y_res, u32 bits. Current servers send
// SurfaceCreate in its stead.
type DisplayMode struct {
	Width, Height uint32
	// Bits is the colour depth.
	Bits uint32
}

// ParseDisplayMode decodes the body of MsgDisplayMode. The error is a
// *DecodeError.
func ParseDisplayMode(b []byte) (DisplayMode, error) {
	d := serverDisplayBody(MsgDisplayMode, b)
	m := DisplayMode{Width: d.u32("x_res"), Height: d.u32("y_res"), Bits: d.u32("bits")}
	return m, d.err
}

// Append appends header and body to b.
func (m DisplayMode) Append(b []byte) []byte {
	return compose(b, MsgDisplayMode, func(c *composer) { c.u32(m.Width, m.Height, m.Bits) })
}

// SurfaceDestroy removes a surface (MSG_DISPLAY_SURFACE_DESTROY): u32 surface_id.
type SurfaceDestroy struct{ ID uint32 }

// ParseSurfaceDestroy decodes the body of MsgDisplaySurfaceDestroy. The error is
// a *DecodeError.
func ParseSurfaceDestroy(b []byte) (SurfaceDestroy, error) {
	d := serverDisplayBody(MsgDisplaySurfaceDestroy, b)
	m := SurfaceDestroy{ID: d.u32("surface_id")}
	return m, d.err
}

// Append appends header and body to b.
func (m SurfaceDestroy) Append(b []byte) []byte {
	return compose(b, MsgDisplaySurfaceDestroy, func(c *composer) { c.u32(m.ID) })
}

// DisplayQualityIndicator is defined, and used by nobody
// (MSG_DISPLAY_QUALITY_INDICATOR): data up to the end of the message.
type DisplayQualityIndicator struct {
	// Data aliases the message.
	Data []byte
}

// ParseDisplayQualityIndicator decodes the body of MsgDisplayQualityIndicator.
// The error is always nil.
func ParseDisplayQualityIndicator(b []byte) (DisplayQualityIndicator, error) {
	return DisplayQualityIndicator{Data: b[:len(b):len(b)]}, nil
}

// Append appends header and body to b.
func (m DisplayQualityIndicator) Append(b []byte) []byte {
	return compose(b, MsgDisplayQualityIndicator, func(c *composer) { c.bytes(m.Data) })
}
