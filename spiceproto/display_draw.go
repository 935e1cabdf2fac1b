package spiceproto

import "strconv"

// ImageType is the encoding of an image (SPICE_IMAGE_TYPE_* in spice/enums.h).
type ImageType uint8

// The image types.
const (
	ImageBitmap            ImageType = 0
	ImageQUIC              ImageType = 1
	ImageLZPLT             ImageType = 100
	ImageLZRGB             ImageType = 101
	ImageGLZRGB            ImageType = 102
	ImageFromCache         ImageType = 103
	ImageSurface           ImageType = 104
	ImageJPEG              ImageType = 105
	ImageFromCacheLossless ImageType = 106
	ImageZlibGLZRGB        ImageType = 107
	ImageJPEGAlpha         ImageType = 108
	ImageLZ4               ImageType = 109
)

// String returns the type's name, or "image-N" for a number that has none.
func (t ImageType) String() string {
	switch t {
	case ImageBitmap:
		return "bitmap"
	case ImageQUIC:
		return "quic"
	case ImageLZPLT:
		return "lz-plt"
	case ImageLZRGB:
		return "lz-rgb"
	case ImageGLZRGB:
		return "glz-rgb"
	case ImageFromCache:
		return "from-cache"
	case ImageSurface:
		return "surface"
	case ImageJPEG:
		return "jpeg"
	case ImageFromCacheLossless:
		return "from-cache-lossless"
	case ImageZlibGLZRGB:
		return "zlib-glz-rgb"
	case ImageJPEGAlpha:
		return "jpeg-alpha"
	case ImageLZ4:
		return "lz4"
	}
	return "image-" + strconv.Itoa(int(t))
}

// Image flags.
const (
	// ImageCacheMe: the client stores the image under its id.
	ImageCacheMe = 1 << 0
	// ImageHighBitsSet: the client sets every alpha byte to 0xff.
	ImageHighBitsSet = 1 << 1
	// ImageCacheReplaceMe: the image replaces a lossy one in the cache.
	ImageCacheReplaceMe = 1 << 2
)

// Image is the descriptor every image on the wire begins with: u64 id, u8 type,
// u8 flags, u32 width, u32 height.
type Image struct {
	ID            uint64
	Type          ImageType
	Flags         uint8
	Width, Height uint32
}

const imageDescriptorSize = 18

// ClipType is the kind of clip list in a draw.
type ClipType uint8

// The clip types; a draw with any other is not decodable, because what follows
// the clip moves with its size.
const (
	ClipNone  ClipType = 0
	ClipRects ClipType = 1
)

// Offsets of DisplayBase, which every draw begins with: u32 surface_id, Rect
// box, Clip clip. A rectangle list stands inline and shifts all that follows.
const (
	boxOffset       = 4
	clipOffset      = 20
	clipCountOffset = clipOffset + 1
	clipRectsOffset = clipCountOffset + 4
	rectSize        = 16
)

// DrawHead is what a draw's first bytes tell: where it paints, and from which
// image.
type DrawHead struct {
	Op      uint16
	Surface uint32
	// Box bounds the pixels written, before clipping.
	Box  Rect
	Clip ClipType
	// ClipRects is the length of the clip list; 0 unless Clip is ClipRects.
	ClipRects uint32
	// HasImage: the draw names a source image. It is also set when the list of
	// clip rectangles pushed the pointer out of the head, since there may be one.
	// Images of brushes and masks do not count.
	HasImage bool
	// ImageKnown: the source image's descriptor lay in the head, and is Image.
	ImageKnown bool
	Image      Image
}

// drawLayout describes what follows DisplayBase in a draw.
type drawLayout struct {
	// size is the least number of bytes after the base, with every variable
	// part (Brush, LineAttr, Transform) at its smallest.
	size uint64
	// source is the offset of the source image pointer after the base, or
	// noSource.
	source uint64
}

const noSource = ^uint64(0)

// drawLayouts comes from spice.proto, from 302 on; the zero layout is no draw.
var drawLayouts = [...]drawLayout{
	MsgDisplayDrawFill - firstDraw:        {16, noSource}, // Brush, rop, QMask
	MsgDisplayDrawOpaque - firstDraw:      {37, 0},        // src, area, Brush, rop, scale, QMask
	MsgDisplayDrawCopy - firstDraw:        {36, 0},        // src, area, rop, scale, QMask
	MsgDisplayDrawBlend - firstDraw:       {36, 0},        // as DRAW_COPY
	MsgDisplayDrawBlackness - firstDraw:   {13, noSource}, // QMask
	MsgDisplayDrawWhiteness - firstDraw:   {13, noSource},
	MsgDisplayDrawInvers - firstDraw:      {13, noSource},
	MsgDisplayDrawROP3 - firstDraw:        {36, 0},        // src, area, Brush, rop3, scale, QMask
	MsgDisplayDrawStroke - firstDraw:      {10, noSource}, // path, LineAttr, Brush, 2 modes
	MsgDisplayDrawText - firstDraw:        {26, noSource}, // string, area, 2 Brush, 2 modes
	MsgDisplayDrawTransparent - firstDraw: {28, 0},        // src, area, 2 colours
	MsgDisplayDrawAlphaBlend - firstDraw:  {22, 2},        // flags, alpha, src, area
	MsgDisplayDrawComposite - firstDraw:   {16, 4},        // flags, src, …, 2 Point16
}

const firstDraw = MsgDisplayDrawFill

// copyBitsLayout: Point src_pos.
var copyBitsLayout = drawLayout{8, noSource}

func drawLayoutOf(op uint16) (drawLayout, bool) {
	if op == MsgDisplayCopyBits {
		return copyBitsLayout, true
	}
	if op < firstDraw || int(op-firstDraw) >= len(drawLayouts) {
		return drawLayout{}, false
	}
	l := drawLayouts[op-firstDraw]
	return l, l.size > 0
}

// IsDraw reports whether a server message on a display channel paints and
// begins with DisplayBase: COPY_BITS, the DRAW_… messages and DRAW_COMPOSITE.
func IsDraw(op uint16) bool {
	_, ok := drawLayoutOf(op)
	return ok
}

// ParseDrawHead decodes the head of a draw. size is the size of the whole body,
// head its first bytes, as a Framer keeps them; DisplayBase has to lie in them.
// The error is a *DecodeError: op is no draw, or the body contradicts itself,
// in which case a client's parser refuses the message, too.
func ParseDrawHead(op uint16, size uint32, head []byte) (DrawHead, error) {
	d := body{b: head, channel: ChannelDisplay, direction: ServerToClient, opcode: op}
	layout, ok := drawLayoutOf(op)
	if !ok {
		d.fail("type", 0, ErrOpcode)
		return DrawHead{}, d.err
	}
	h := DrawHead{Op: op}
	base := d.displayBase(&h, uint64(size))
	if base+layout.size > uint64(size) {
		d.fail("body", int(base), ErrTruncated)
	}
	if layout.source != noSource {
		d.sourceImage(&h, base+layout.source, uint64(size))
	}
	return h, d.err
}

// displayBase reads surface, box and clip, and returns the base's size, which
// is at most size unless d has failed.
func (d *body) displayBase(h *DrawHead, size uint64) uint64 {
	h.Surface = d.u32("base.surface_id")
	h.Box = d.rect("base.box")
	h.Clip = ClipType(d.u8("base.clip.type"))
	switch h.Clip {
	case ClipNone:
		return clipCountOffset
	case ClipRects:
		h.ClipRects = d.u32("base.clip.num_rects")
		base := clipRectsOffset + rectSize*uint64(h.ClipRects)
		if base > size {
			d.fail("base.clip.num_rects", clipCountOffset, ErrCount)
		}
		return base
	}
	d.fail("base.clip.type", clipOffset, ErrValue)
	return 0
}

// sourceImage follows the pointer at offset at, as far as the head reaches.
func (d *body) sourceImage(h *DrawHead, at, size uint64) {
	if d.err != nil {
		return
	}
	if at+4 > uint64(len(d.b)) {
		h.HasImage = true
		return
	}
	ptr := uint64(le.Uint32(d.b[at:]))
	end := ptr + imageDescriptorSize
	switch {
	case ptr == 0:
		return
	case end > size:
		d.fail("src_bitmap", int(at), ErrPointer)
		return
	}
	h.HasImage = true
	if end <= uint64(len(d.b)) {
		h.ImageKnown = true
		h.Image = parseImage(d.b[ptr:])
	}
}

func parseImage(b []byte) Image {
	return Image{
		ID: le.Uint64(b), Type: ImageType(b[8]), Flags: b[9],
		Width: le.Uint32(b[10:]), Height: le.Uint32(b[14:]),
	}
}
