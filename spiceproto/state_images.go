package spiceproto

// displayCache follows what a display's image and palette caches may hold, as
// far as the heads of draws tell.
type displayCache struct {
	images   idCache
	sole     bool // no other channel shares the image cache
	palettes bool // the palette cache may hold something
}

// forget gives up what is known, because an image was not seen.
func (c *displayCache) forget() {
	c.images.forget()
	c.palettes = true
}

// invalidate takes an INVAL_LIST: u16 count, {u8 type, u64 id} each. Entries
// beyond the head are taken for still cached.
func (c *displayCache) invalidate(m *Machine, msg *observed) {
	n := m.count(msg.Size, 2, specResourceSize, uint64(le.Uint16(msg.head)))
	for entry := msg.head[2:]; n > 0 && len(entry) >= specResourceSize; n-- {
		if entry[0] == resourcePixmap {
			c.images.drop(le.Uint64(entry[1:]))
		}
		entry = entry[specResourceSize:]
	}
}

// resourcePixmap is SPICE_RES_TYPE_PIXMAP.
const resourcePixmap = 1

// images applies the source image of a draw, and gives up the caches where the
// draw may have others: in its brush, its mask, or beyond the head.
func (r *displayRules) images(m *Machine, msg *observed, h *DrawHead) {
	base := uint64(clipCountOffset)
	if h.Clip == ClipRects {
		base = clipRectsOffset + rectSize*uint64(h.ClipRects)
	}
	if !onlySource(msg, base) || h.HasImage && !h.ImageKnown {
		r.cache.forget()
	}
	if !h.ImageKnown {
		return
	}
	r.image(m, msg, h.Image, base+sourceOffset(msg.Type))
}

// image applies the source image whose pointer stands at off.
func (r *displayRules) image(m *Machine, msg *observed, image Image, off uint64) {
	ptr, _ := msg.u32At(off)
	fields := uint64(ptr) + imageDescriptorSize
	if image.Flags&(ImageCacheMe|ImageCacheReplaceMe) != 0 {
		r.cache.images.store(image.ID)
	}
	switch image.Type {
	case ImageFromCache, ImageFromCacheLossless:
		if r.cache.sole && !m.target && !r.cache.images.holds(image.ID) {
			m.report(RuleImageCache, image.ID, 0)
		}
	case ImageSurface:
		if id, ok := msg.u32At(fields); ok {
			r.useSurface(m, id)
		}
	case ImageBitmap:
		r.palette(m, msg, fields+1, fields+14) // u8 format, flags; u32 x, y, stride
	case ImageLZPLT:
		r.palette(m, msg, fields, fields+5) // u8 flags, u32 data_size
	}
}

// Flags of a bitmap with a palette.
const (
	bitmapPaletteCacheMe   = 1 << 0
	bitmapPaletteFromCache = 1 << 1
)

// palette applies the palette of an image whose flags stand at flagsAt, and the
// palette's id, if it comes from the cache, at idAt.
func (r *displayRules) palette(m *Machine, msg *observed, flagsAt, idAt uint64) {
	if flagsAt >= uint64(len(msg.head)) {
		r.cache.palettes = true
		return
	}
	flags := msg.head[flagsAt]
	if flags&bitmapPaletteFromCache != 0 && !r.cache.palettes && !m.target {
		low, _ := msg.u32At(idAt)
		high, _ := msg.u32At(idAt + 4)
		m.report(RulePaletteCache, uint64(high)<<32|uint64(low), 0)
	}
	if flags&bitmapPaletteCacheMe != 0 {
		r.cache.palettes = true
	}
}

// sourceOffset is where the source image's pointer stands after DisplayBase.
func sourceOffset(op uint16) uint64 {
	switch op {
	case MsgDisplayDrawAlphaBlend:
		return 2 // u8 flags, u8 alpha
	case MsgDisplayDrawComposite:
		return 4 // u32 flags
	}
	return 0
}

// onlySource reports whether a draw certainly names no image beside its source:
// its brush has no pattern, and its mask no bitmap. base is the size of
// DisplayBase.
func onlySource(msg *observed, base uint64) bool {
	var mask uint64 // of the mask's pointer, from base on
	switch msg.Type {
	case MsgDisplayCopyBits, MsgDisplayDrawTransparent, MsgDisplayDrawAlphaBlend:
		return true
	case MsgDisplayDrawCopy, MsgDisplayDrawBlend:
		mask = 32 // ptr, Rect, u16, u8, then QMask: u8, Point, ptr
	case MsgDisplayDrawBlackness, MsgDisplayDrawWhiteness, MsgDisplayDrawInvers:
		mask = 9
	case MsgDisplayDrawFill:
		if base >= uint64(len(msg.head)) {
			return false
		}
		switch msg.head[base] { // Brush, u16, QMask
		case 0:
			mask = 12
		case 1:
			mask = 16
		default:
			return false
		}
	default:
		return false
	}
	ptr, ok := msg.u32At(base + mask)
	return ok && ptr == 0
}
