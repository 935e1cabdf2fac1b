package spiceproto

import "math"

// effectHead reads fields from a head. The first that cannot be read is the
// doubt, and later reads yield zero.
type effectHead struct {
	b    []byte
	size uint64
	off  uint64
	// doubt is DoubtUnread as long as there is none.
	doubt Doubt
}

func (h *effectHead) fail(d Doubt) {
	if h.doubt == DoubtUnread {
		h.doubt = d
	}
}

// next returns the next n bytes, nil if they are not in the head.
func (h *effectHead) next(n uint64) []byte {
	end := h.off + n
	if h.doubt != DoubtUnread || end > uint64(len(h.b)) {
		h.missing(end)
		return nil
	}
	p := h.b[h.off:end]
	h.off = end
	return p
}

func (h *effectHead) missing(end uint64) {
	if end > h.size {
		h.fail(DoubtMalformed)
	}
	h.fail(DoubtHead)
}

func (h *effectHead) u8() uint8 {
	if p := h.next(1); p != nil {
		return p[0]
	}
	return 0
}

func (h *effectHead) u32() uint32 {
	if p := h.next(4); p != nil {
		return le.Uint32(p)
	}
	return 0
}

func (h *effectHead) u64() uint64 {
	if p := h.next(8); p != nil {
		return le.Uint64(p)
	}
	return 0
}

func (h *effectHead) rect() Rect {
	p := h.next(rectSize)
	if p == nil {
		return Rect{}
	}
	return Rect{
		Top: int32(le.Uint32(p)), Left: int32(le.Uint32(p[4:])),
		Bottom: int32(le.Uint32(p[8:])), Right: int32(le.Uint32(p[12:])),
	}
}

// pointer reads a pointer that must not be null, without following it.
func (h *effectHead) pointer() {
	if p := h.u32(); p == 0 || uint64(p) >= h.size {
		h.fail(DoubtMalformed)
	}
}

func (h *effectHead) base(e *Effect) {
	e.Surface, e.Box, e.Clip = h.u32(), h.rect(), ClipType(h.u8())
	if e.Box.Empty() {
		h.fail(DoubtArea)
	}
	switch e.Clip {
	case ClipNone:
		e.ClipKnown = true
	case ClipRects:
		h.clip(e)
	default:
		h.fail(DoubtMalformed)
	}
}

// clip reads the list as far as it is kept, and goes on behind it. A rectangle
// without a pixel is none that clients must agree on, so the list is then not
// known.
func (h *effectHead) clip(e *Effect) {
	e.ClipCount = h.u32()
	end := h.off + rectSize*uint64(e.ClipCount)
	e.ClipKnown = e.ClipCount <= EffectClipRects
	for i := range min(e.ClipCount, EffectClipRects) {
		e.ClipRects[i] = h.rect()
		e.ClipKnown = e.ClipKnown && !e.ClipRects[i].Empty()
	}
	h.off = end
}

// draw reads what follows the base, by spice.proto, and judges it.
func (h *effectHead) draw(e *Effect) {
	e.ReadsDest = true
	switch e.Op {
	case MsgDisplayCopyBits:
		h.copyBits(e)
	case MsgDisplayDrawFill:
		h.put(e, h.brush(&e.Brush), ropSize)
	case MsgDisplayDrawOpaque:
		inside := h.source(e)
		h.put(e, h.brush(&e.Brush) && inside, ropSize+scaleSize)
	case MsgDisplayDrawCopy:
		h.put(e, h.source(e), ropSize+scaleSize)
	case MsgDisplayDrawBlend:
		h.source(e)
		h.next(ropSize + scaleSize)
		h.mask(e)
	case MsgDisplayDrawBlackness, MsgDisplayDrawWhiteness:
		h.mask(e)
		e.ReadsDest = e.Mask.Present
	case MsgDisplayDrawInvers:
		h.mask(e)
	case MsgDisplayDrawROP3:
		h.source(e)
		h.brush(&e.Brush)
		h.next(1 + scaleSize) // rop3
		h.mask(e)
	case MsgDisplayDrawStroke:
		h.stroke(e)
	case MsgDisplayDrawText:
		h.text(e)
	case MsgDisplayDrawTransparent:
		h.source(e)
		h.next(8) // src_color, true_color
	case MsgDisplayDrawAlphaBlend:
		h.next(2) // alpha_flags, alpha
		h.source(e)
	case MsgDisplayDrawComposite:
		h.composite(e)
	}
}

// Sizes of rop_descriptor and scale_mode.
const (
	ropSize   = 2
	scaleSize = 1
)

// put reads rop, scale mode if any, and mask. The draw overwrites its box if
//   - every pixel of it gets a value at all (complete),
//   - the rop takes that value as it is: RopPut without any other bit, since
//     each of them inverts something or competes with it, and
//   - no mask keeps pixels out.
//
// The scale mode does not matter: it decides which value, not whether.
func (h *effectHead) put(e *Effect, complete bool, size uint64) {
	p := h.next(size)
	h.mask(e)
	if p == nil {
		return
	}
	e.Overwrites = complete && Rop(le.Uint16(p)) == RopPut && !e.Mask.Present
	e.ReadsDest = !e.Overwrites
}

// copyBits reads src_pos.
func (h *effectHead) copyBits(e *Effect) {
	x, y := int64(int32(h.u32())), int64(int32(h.u32()))
	right, bottom := x+e.Box.Width(), y+e.Box.Height()
	if right > math.MaxInt32 || bottom > math.MaxInt32 {
		h.fail(DoubtArea)
	}
	e.CopyFrom = Rect{Top: int32(y), Left: int32(x), Bottom: int32(bottom), Right: int32(right)}
}

// source reads src_bitmap and src_area, and reports whether the area lies in the
// image. Clients paint nothing where it does not (spice-common's
// spice_pixman_blit clips the source).
func (h *effectHead) source(e *Effect) bool {
	h.sourceImage(e)
	area := h.rect()
	return !area.Empty() && area.Left >= 0 && area.Top >= 0 &&
		int64(area.Right) <= int64(e.Source.Image.Width) &&
		int64(area.Bottom) <= int64(e.Source.Image.Height)
}

func (h *effectHead) sourceImage(e *Effect) {
	h.image(&e.Source)
	if !e.Source.Present {
		h.fail(DoubtImage)
	}
}

func (h *effectHead) mask(e *Effect) {
	h.next(1 + 8) // flags, pos
	h.image(&e.Mask)
}

// brush reports whether the brush gives every pixel a value.
func (h *effectHead) brush(u *ImageUse) bool {
	switch BrushType(h.u8()) {
	case BrushNone:
		return false
	case BrushSolid:
		h.next(4) // color
		return true
	case BrushPattern:
		h.image(u)
		h.next(8) // pos
		if !u.Present {
			h.fail(DoubtMalformed)
		}
		return u.Image.Width > 0 && u.Image.Height > 0
	}
	h.fail(DoubtMalformed)
	return false
}

func (h *effectHead) stroke(e *Effect) {
	h.pointer() // path
	if h.u8()&LineStyled != 0 {
		h.next(5) // style_nseg, style
	}
	h.brush(&e.Brush)
	h.next(2 * ropSize) // fore_mode, back_mode
}

func (h *effectHead) text(e *Effect) {
	h.pointer()      // str
	h.next(rectSize) // back_area
	h.brush(&e.Brush)
	h.brush(&e.BackBrush)
	h.next(2 * ropSize) // fore_mode, back_mode
}

func (h *effectHead) composite(e *Effect) {
	flags := h.u32()
	h.sourceImage(e)
	if flags&CompositeHasMask != 0 {
		h.image(&e.Mask)
	}
	if flags&CompositeHasSrcTransform != 0 {
		h.next(transformSize)
	}
	if flags&CompositeHasMaskTransform != 0 {
		h.next(transformSize)
	}
	h.next(8) // src_origin, mask_origin
}

// image reads a pointer and as much of the image it points to as tells what the
// image uses.
func (h *effectHead) image(u *ImageUse) {
	ptr := h.u32()
	if ptr == 0 {
		return
	}
	back := h.off
	h.off = uint64(ptr)
	if p := h.next(imageDescriptorSize); p != nil {
		u.Present = true
		u.Image = parseImage(p)
		h.imageUses(u)
	}
	h.off = back
}

func (h *effectHead) imageUses(u *ImageUse) {
	if u.Image.Flags&(ImageCacheMe|ImageCacheReplaceMe) != 0 {
		u.Uses |= UsesStore
	}
	switch u.Image.Type {
	case ImageBitmap:
		h.bitmap(u)
	case ImageLZPLT:
		flags := h.u8()
		h.next(4) // data_size
		h.palette(u, flags)
	case ImageGLZRGB, ImageZlibGLZRGB:
		u.Uses |= UsesGLZ
	case ImageFromCache, ImageFromCacheLossless:
		u.Uses |= UsesCache
	case ImageSurface:
		u.Uses |= UsesSurface
		u.Surface = h.u32()
	case ImageQUIC, ImageLZRGB, ImageLZ4, ImageJPEG, ImageJPEGAlpha:
	default:
		h.fail(DoubtImage)
	}
}

func (h *effectHead) bitmap(u *ImageUse) {
	h.next(1) // format
	flags := h.u8()
	u.Image.Width, u.Image.Height = min(u.Image.Width, h.u32()), min(u.Image.Height, h.u32())
	h.next(4) // stride
	h.palette(u, flags)
}

func (h *effectHead) palette(u *ImageUse, flags uint8) {
	if flags&BitmapPaletteCacheMe != 0 {
		u.Uses |= UsesPaletteStore
	}
	if flags&BitmapPaletteFromCache != 0 {
		u.Uses |= UsesPaletteCache
		u.PaletteID = h.u64()
	}
}
