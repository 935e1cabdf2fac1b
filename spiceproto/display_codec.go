package spiceproto

import "encoding/binary"

// CodecHeader is the head of an encoded image: QUICHeader, LZHeader, GLZHeader or
// LZ4Header. Append appends its bytes to b.
type CodecHeader interface{ Append(b []byte) []byte }

// CodecHeader decodes the head of the image's payload: a QUICHeader, an LZHeader
// (for ImageJPEGAlpha that of the alpha plane), a GLZHeader or an LZ4Header. It
// is nil for the types without one that could be read without decompressing.
// The error is a *DecodeError with opcode 0 and offsets counted from the first
// payload byte.
func (p Picture) CodecHeader() (CodecHeader, error) {
	switch m := p.Payload.(type) {
	case EncodedData:
		return encodedHeader(p.Type, m.Data)
	case LZPLTData:
		return someHeader(ParseLZHeader(m.Data))
	case JPEGAlphaData:
		return someHeader(ParseLZHeader(m.Data[m.JPEGSize:]))
	}
	return nil, nil
}

func encodedHeader(t ImageType, data []byte) (CodecHeader, error) {
	switch t {
	case ImageQUIC:
		return someHeader(ParseQUICHeader(data))
	case ImageLZRGB:
		return someHeader(ParseLZHeader(data))
	case ImageGLZRGB:
		return someHeader(ParseGLZHeader(data))
	case ImageLZ4:
		return someHeader(ParseLZ4Header(data))
	}
	return nil, nil
}

func someHeader[H CodecHeader](h H, err error) (CodecHeader, error) {
	if err != nil {
		return nil, err
	}
	return h, nil
}

// QUICHeader begins a QUIC image (spice-common quic.c), five u32: the letters
// "QUIC", version 0, and the fields below.
type QUICHeader struct {
	// Type: 1 gray, 2 RGB16, 3 RGB24, 4 RGB32, 5 RGBA.
	Type          uint32
	Width, Height uint32
}

// quicMagic is "QUIC" read as little-endian.
const quicMagic = 'Q' | 'U'<<8 | 'I'<<16 | 'C'<<24

// ParseQUICHeader decodes the first 20 bytes of a QUIC image. The error is a
// *DecodeError.
func ParseQUICHeader(b []byte) (QUICHeader, error) {
	d := serverDisplayBody(0, b)
	d.want("quic.magic", d.u32("quic.magic"), quicMagic)
	d.want("quic.version", d.u32("quic.version"), 0)
	h := QUICHeader{
		Type: d.u32("quic.type"), Width: d.u32("quic.width"), Height: d.u32("quic.height"),
	}
	return h, d.err
}

// Append appends the 20 bytes of the header to b.
func (h QUICHeader) Append(b []byte) []byte {
	for _, v := range [...]uint32{quicMagic, 0, h.Type, h.Width, h.Height} {
		b = le.AppendUint32(b, v)
	}
	return b
}

// LZ and GLZ images begin with these two big-endian words (spice-common
// lz_common.h): "  ZL", and version 1.1.
const (
	lzMagic   = 0x20205a4c
	lzVersion = 0x00010001
)

// LZHeader begins an LZ image, seven big-endian u32: magic, version, and the
// fields below.
type LZHeader struct {
	// Type: 1 to 5 palettes, 6 RGB16, 7 RGB24, 8 RGB32, 9 RGBA, 10 XXXA, 11 A8.
	Type          uint32
	Width, Height uint32
	// Stride is the size of a decoded row in bytes.
	Stride  uint32
	TopDown uint32
}

// ParseLZHeader decodes the first 28 bytes of an LZ image. The error is a
// *DecodeError.
func ParseLZHeader(b []byte) (LZHeader, error) {
	d := serverDisplayBody(0, b)
	d.lzMagic()
	h := LZHeader{
		Type: d.be32("lz.type"), Width: d.be32("lz.width"), Height: d.be32("lz.height"),
		Stride: d.be32("lz.stride"), TopDown: d.be32("lz.top_down"),
	}
	return h, d.err
}

// Append appends the 28 bytes of the header to b.
func (h LZHeader) Append(b []byte) []byte {
	for _, v := range [...]uint32{
		lzMagic, lzVersion, h.Type, h.Width, h.Height, h.Stride, h.TopDown,
	} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// GLZHeader begins a GLZ image, all big-endian: magic, version, u8 with type and
// direction, u32 width, u32 height, u32 stride, u64 id, u32 win_head_dist
// (spice-server glz-encoder.c).
type GLZHeader struct {
	// Type is one of LZHeader's; it has four bits.
	Type          uint8
	TopDown       bool
	Width, Height uint32
	// Stride is the size of a decoded row in bytes.
	Stride uint32
	// ID counts the images of a dictionary, over all display channels that
	// share it.
	ID uint64
	// WindowDistance: no image older than ID less this is referred to.
	WindowDistance uint32
}

// The fields of a GLZHeader's ninth byte.
const (
	glzTypeMask = 0x0f
	glzTopDown  = 1 << 4
)

// ParseGLZHeader decodes the first 33 bytes of a GLZ image. The error is a
// *DecodeError.
func ParseGLZHeader(b []byte) (GLZHeader, error) {
	d := serverDisplayBody(0, b)
	d.lzMagic()
	kind := d.u8("glz.type")
	if kind&^(glzTypeMask|glzTopDown) != 0 {
		d.fail("glz.type", d.off-1, ErrValue)
	}
	h := GLZHeader{
		Type: kind & glzTypeMask, TopDown: kind&glzTopDown != 0,
		Width: d.be32("glz.width"), Height: d.be32("glz.height"), Stride: d.be32("glz.stride"),
	}
	h.ID = uint64(d.be32("glz.id"))<<32 | uint64(d.be32("glz.id"))
	h.WindowDistance = d.be32("glz.win_head_dist")
	return h, d.err
}

// Append appends the 33 bytes of the header to b.
func (h GLZHeader) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, lzMagic)
	b = binary.BigEndian.AppendUint32(b, lzVersion)
	kind := h.Type & glzTypeMask
	if h.TopDown {
		kind |= glzTopDown
	}
	b = append(b, kind)
	for _, v := range [...]uint32{h.Width, h.Height, h.Stride} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = binary.BigEndian.AppendUint64(b, h.ID)
	return binary.BigEndian.AppendUint32(b, h.WindowDistance)
}

// LZ4Header begins an LZ4 image: u8 top_down, u8 format. Blocks follow, each
// with its size as a big-endian u32.
type LZ4Header struct {
	TopDown uint8
	Format  BitmapFormat
}

// ParseLZ4Header decodes the first two bytes of an LZ4 image. The error is a
// *DecodeError.
func ParseLZ4Header(b []byte) (LZ4Header, error) {
	d := serverDisplayBody(0, b)
	h := LZ4Header{TopDown: d.u8("lz4.top_down"), Format: BitmapFormat(d.u8("lz4.format"))}
	return h, d.err
}

// Append appends the two bytes of the header to b.
func (h LZ4Header) Append(b []byte) []byte { return append(b, h.TopDown, uint8(h.Format)) }

func (d *displayBody) be32(field string) uint32 {
	if p := d.take(field, 4); p != nil {
		return binary.BigEndian.Uint32(p)
	}
	return 0
}

// want refuses a u32 just read that is not the only one defined.
func (d *displayBody) want(field string, got, want uint32) {
	if got != want {
		d.fail(field, d.off-4, ErrValue)
	}
}

func (d *displayBody) lzMagic() {
	d.want("lz.magic", d.be32("lz.magic"), lzMagic)
	d.want("lz.version", d.be32("lz.version"), lzVersion)
}
