package spiceproto

// DrawTransparent paints the pixels of an image that have not a certain colour
// (MSG_DISPLAY_DRAW_TRANSPARENT): DrawBase, a pointer to the image, Rect
// src_area, u32 src_color, u32 true_color.
type DrawTransparent struct {
	DrawBase
	Src     *Picture
	SrcArea Rect
	// SrcColor is the colour left out, in the image's format, and TrueColor the
	// same with 8 bits a component.
	SrcColor, TrueColor uint32
}

// ParseDrawTransparent decodes the body of MsgDisplayDrawTransparent. The error
// is a *DecodeError.
func ParseDrawTransparent(b []byte) (DrawTransparent, error) {
	d := serverDisplayBody(MsgDisplayDrawTransparent, b)
	m := DrawTransparent{
		DrawBase: d.base(), Src: d.source(), SrcArea: d.rect("src_area"),
		SrcColor: d.u32("src_color"), TrueColor: d.u32("true_color"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawTransparent) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawTransparent, func(c *composer) {
		c.base(m.DrawBase)
		c.picture(m.Src)
		c.rect(m.SrcArea)
		c.u32(m.SrcColor, m.TrueColor)
	})
}

// DrawAlphaBlend lays an image over what is there
// (MSG_DISPLAY_DRAW_ALPHA_BLEND): DrawBase, u8 alpha_flags, u8 alpha, a pointer
// to the image, Rect src_area.
type DrawAlphaBlend struct {
	DrawBase
	// AlphaFlags: bit 0 the destination has alpha, bit 1 the source surface has.
	AlphaFlags uint8
	// Alpha weighs the whole image; 255 leaves it to the image's own alpha.
	Alpha   uint8
	Src     *Picture
	SrcArea Rect
}

// ParseDrawAlphaBlend decodes the body of MsgDisplayDrawAlphaBlend. The error is
// a *DecodeError.
func ParseDrawAlphaBlend(b []byte) (DrawAlphaBlend, error) {
	d := serverDisplayBody(MsgDisplayDrawAlphaBlend, b)
	m := DrawAlphaBlend{
		DrawBase: d.base(), AlphaFlags: d.u8("alpha_flags"), Alpha: d.u8("alpha"),
		Src: d.source(), SrcArea: d.rect("src_area"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m DrawAlphaBlend) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawAlphaBlend, func(c *composer) {
		c.base(m.DrawBase)
		c.u8(m.AlphaFlags)
		c.u8(m.Alpha)
		c.picture(m.Src)
		c.rect(m.SrcArea)
	})
}

// Flags of a DrawComposite that say which of its parts are there. The others
// (composite_flags in spice.proto): bits 0 to 7 operator, 8 to 10 filter and 14
// to 15 repeat of the source, 11 to 13 and 16 to 17 of the mask, 18 component
// alpha, 22 to 24 source, mask, destination are opaque.
const (
	CompositeHasMask          = 1 << 19
	CompositeHasSrcTransform  = 1 << 20
	CompositeHasMaskTransform = 1 << 21
)

// Transform is an affine map, six u32 t00 to t12: two rows of a matrix in 16.16
// fixed point.
type Transform [6]uint32

const transformSize = 24

// Origin is a place in an image: i16 x, i16 y (Point16 in spice.proto).
type Origin struct{ X, Y int16 }

// DrawComposite is an operation of the X Render extension
// (MSG_DISPLAY_DRAW_COMPOSITE, sent to clients with the COMPOSITE capability):
// DrawBase, u32 flags, a pointer to the image, then as the flags say a pointer to
// the mask and two Transforms, and two Point16.
type DrawComposite struct {
	DrawBase
	Flags uint32
	Src   *Picture
	// MaskBitmap is for CompositeHasMask.
	MaskBitmap *Picture
	// SrcTransform is for CompositeHasSrcTransform.
	SrcTransform Transform
	// MaskTransform is for CompositeHasMaskTransform.
	MaskTransform         Transform
	SrcOrigin, MaskOrigin Origin
}

// ParseDrawComposite decodes the body of MsgDisplayDrawComposite. The error is a
// *DecodeError.
func ParseDrawComposite(b []byte) (DrawComposite, error) {
	d := serverDisplayBody(MsgDisplayDrawComposite, b)
	m := DrawComposite{DrawBase: d.base(), Flags: d.u32("flags"), Src: d.source()}
	if m.Flags&CompositeHasMask != 0 {
		m.MaskBitmap = target(d, "mask_bitmap", true, (*displayBody).picture)
	}
	if m.Flags&CompositeHasSrcTransform != 0 {
		m.SrcTransform = d.transform("src_transform")
	}
	if m.Flags&CompositeHasMaskTransform != 0 {
		m.MaskTransform = d.transform("mask_transform")
	}
	m.SrcOrigin, m.MaskOrigin = d.origin("src_origin"), d.origin("mask_origin")
	return m, d.err
}

// Append appends header and body to b.
func (m DrawComposite) Append(b []byte) []byte {
	return compose(b, MsgDisplayDrawComposite, func(c *composer) {
		c.base(m.DrawBase)
		c.u32(m.Flags)
		c.picture(m.Src)
		if m.Flags&CompositeHasMask != 0 {
			c.picture(m.MaskBitmap)
		}
		if m.Flags&CompositeHasSrcTransform != 0 {
			c.u32(m.SrcTransform[:]...)
		}
		if m.Flags&CompositeHasMaskTransform != 0 {
			c.u32(m.MaskTransform[:]...)
		}
		for _, o := range [...]Origin{m.SrcOrigin, m.MaskOrigin} {
			c.u16(uint16(o.X))
			c.u16(uint16(o.Y))
		}
	})
}

func (d *displayBody) transform(field string) Transform {
	var t Transform
	for i := range t {
		t[i] = d.u32(field)
	}
	return t
}

func (d *displayBody) origin(field string) Origin {
	return Origin{X: int16(d.u16(field)), Y: int16(d.u16(field))}
}
