package spiceproto

// GLScanoutTopDown is the flag of a scanout whose first row is the top one.
const GLScanoutTopDown = 1 << 0

// GLScanoutUnix shows a dma-buf (MSG_DISPLAY_GL_SCANOUT_UNIX, sent over unix
// sockets to clients with the GL_SCANOUT capability), five u32 in the order of the
// fields below. One byte '@' with the file descriptor follows the message, and is
// not part of it.
type GLScanoutUnix struct {
	Width, Height uint32
	// Stride is the size of a row in bytes.
	Stride uint32
	// FourCC is the pixel format (drm_fourcc.h).
	FourCC uint32
	Flags  uint32
}

// ParseGLScanoutUnix decodes the body of MsgDisplayGLScanoutUnix. The error is a
// *DecodeError.
func ParseGLScanoutUnix(b []byte) (GLScanoutUnix, error) {
	d := serverDisplayBody(MsgDisplayGLScanoutUnix, b)
	m := GLScanoutUnix{
		Width: d.u32("width"), Height: d.u32("height"), Stride: d.u32("stride"),
		FourCC: d.u32("drm_fourcc_format"), Flags: d.u32("flags"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m GLScanoutUnix) Append(b []byte) []byte {
	return compose(b, MsgDisplayGLScanoutUnix, func(c *composer) {
		c.u32(m.Width, m.Height, m.Stride, m.FourCC, m.Flags)
	})
}

// GLPlane is one plane of a GLScanout2Unix: u32 offset, u32 stride, in bytes.
type GLPlane struct{ Offset, Stride uint32 }

const glPlaneSize = 8

// GLScanout2Unix shows a dma-buf of several planes
// (MSG_DISPLAY_GL_SCANOUT2_UNIX, spice-server 0.16, for clients with the
// GL_SCANOUT2 capability): u32 width, u32 height, u32 drm_fourcc_format, u32
// flags, u8 num_planes, u64 modifier, the planes. As many file descriptors follow
// as with GLScanoutUnix.
type GLScanout2Unix struct {
	Width, Height uint32
	// FourCC and Modifier are the pixel format (drm_fourcc.h).
	FourCC   uint32
	Flags    uint32
	Modifier uint64
	// Planes are at most 4 from spice-server.
	Planes []GLPlane
}

// ParseGLScanout2Unix decodes the body of MsgDisplayGLScanout2Unix. The error is
// a *DecodeError.
func ParseGLScanout2Unix(b []byte) (GLScanout2Unix, error) {
	d := serverDisplayBody(MsgDisplayGLScanout2Unix, b)
	m := GLScanout2Unix{
		Width: d.u32("width"), Height: d.u32("height"), FourCC: d.u32("drm_fourcc_format"),
		Flags: d.u32("flags"),
	}
	planes := d.u8("num_planes")
	m.Modifier = d.u64("modifier")
	m.Planes = make([]GLPlane,
		d.elements("num_planes", uint64(planes), glPlaneSize, glPlaneSize))
	for i := range m.Planes {
		m.Planes[i] = GLPlane{Offset: d.u32("planes.offset"), Stride: d.u32("planes.stride")}
	}
	return m, d.err
}

// Append appends header and body to b. It holds at most 255 planes.
func (m GLScanout2Unix) Append(b []byte) []byte {
	return compose(b, MsgDisplayGLScanout2Unix, func(c *composer) {
		c.u32(m.Width, m.Height, m.FourCC, m.Flags)
		c.u8(uint8(len(m.Planes)))
		c.u64(m.Modifier)
		for _, p := range m.Planes {
			c.u32(p.Offset, p.Stride)
		}
	})
}

// GLDraw tells which part of the scanout changed (MSG_DISPLAY_GL_DRAW): u32 x, u32
// y, u32 w, u32 h. The client answers with one GL_DRAW_DONE.
type GLDraw struct{ X, Y, Width, Height uint32 }

// ParseGLDraw decodes the body of MsgDisplayGLDraw. The error is a *DecodeError.
func ParseGLDraw(b []byte) (GLDraw, error) {
	d := serverDisplayBody(MsgDisplayGLDraw, b)
	m := GLDraw{X: d.u32("x"), Y: d.u32("y"), Width: d.u32("w"), Height: d.u32("h")}
	return m, d.err
}

// Append appends header and body to b.
func (m GLDraw) Append(b []byte) []byte {
	return compose(b, MsgDisplayGLDraw, func(c *composer) {
		c.u32(m.X, m.Y, m.Width, m.Height)
	})
}
