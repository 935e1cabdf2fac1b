package spicetest

import (
	"fmt"
	"hash/crc64"

	"spicepacer/spiceproto"
)

var crcTable = crc64.MakeTable(crc64.ECMA)

func seedOf(data []byte) uint64 { return crc64.Checksum(data, crcTable) }

// draw applies a message that begins with a DrawBase.
func (r *Renderer) draw(op uint16, body []byte) error {
	switch op {
	case spiceproto.MsgDisplayCopyBits:
		m, err := spiceproto.ParseCopyBits(body)
		return r.drawn(err, func() error { return r.copyBits(m) })
	case spiceproto.MsgDisplayDrawFill:
		m, err := spiceproto.ParseDrawFill(body)
		return r.drawn(err, func() error { return r.fill(m) })
	case spiceproto.MsgDisplayDrawOpaque:
		m, err := spiceproto.ParseDrawOpaque(body)
		return r.drawn(err, func() error { return r.opaque(m) })
	case spiceproto.MsgDisplayDrawCopy:
		m, err := spiceproto.ParseDrawCopy(body)
		return r.drawn(err, func() error { return r.put(m.DrawBase, m.Src, m.SrcArea, m.Rop, m.Mask) })
	case spiceproto.MsgDisplayDrawBlackness:
		m, err := spiceproto.ParseDrawBlackness(body)
		return r.drawn(err, func() error { return r.constant(m.DrawBase, m.Mask, 0) })
	case spiceproto.MsgDisplayDrawWhiteness:
		m, err := spiceproto.ParseDrawWhiteness(body)
		return r.drawn(err, func() error { return r.constant(m.DrawBase, m.Mask, 1) })
	}
	return r.combine(op, body)
}

// drawn runs draw if the message could be read.
func (r *Renderer) drawn(err error, draw func() error) error {
	if err != nil {
		return err
	}
	return draw()
}

// copyBits moves what the surface showed when the message came.
func (r *Renderer) copyBits(m spiceproto.CopyBits) error {
	c := r.surfaces[m.Surface]
	if c == nil {
		return fmt.Errorf("surface %d does not exist", m.Surface)
	}
	left, err := r.cell(m.SrcPos.X)
	if err != nil {
		return err
	}
	top, err := r.cell(m.SrcPos.Y)
	if err != nil {
		return err
	}
	from := c.clone()
	return r.paint(m.DrawBase, func(x, y int32, _ uint64) (uint64, bool) {
		return from.at(left+x, top+y)
	})
}

func (r *Renderer) fill(m spiceproto.DrawFill) error {
	brush, err := r.brush(m.Brush)
	if err != nil {
		return err
	}
	mask, err := r.mask(m.Mask)
	if err != nil {
		return err
	}
	return r.paint(m.DrawBase, func(x, y int32, old uint64) (uint64, bool) {
		v, paints := brush(x, y)
		return combined(m.Rop, v, old), paints && mask(x, y)
	})
}

// combined is v where the rop puts it, and else something that depends on what
// was there.
func combined(rop spiceproto.Rop, v, old uint64) uint64 {
	if rop == spiceproto.RopPut {
		return v
	}
	return mix(uint64(rop), v, old)
}

func (r *Renderer) put(base spiceproto.DrawBase, src *spiceproto.Picture, area spiceproto.Rect, rop spiceproto.Rop, m spiceproto.Mask) error {
	image, err := r.source(src, area)
	if err != nil {
		return err
	}
	mask, err := r.mask(m)
	if err != nil {
		return err
	}
	return r.paint(base, func(x, y int32, old uint64) (uint64, bool) {
		v, paints := image(x, y)
		return combined(rop, v, old), paints && mask(x, y)
	})
}

// opaque paints the image, and on it the brush.
func (r *Renderer) opaque(m spiceproto.DrawOpaque) error {
	image, err := r.source(m.Src, m.SrcArea)
	if err != nil {
		return err
	}
	brush, err := r.brush(m.Brush)
	if err != nil {
		return err
	}
	mask, err := r.mask(m.Mask)
	if err != nil {
		return err
	}
	return r.paint(m.DrawBase, func(x, y int32, old uint64) (uint64, bool) {
		v, hasImage := image(x, y)
		b, hasBrush := brush(x, y)
		if !hasImage || !hasBrush {
			v = mix(v, old)
		}
		return combined(m.Rop, mix(v, b), old), mask(x, y)
	})
}

func (r *Renderer) constant(base spiceproto.DrawBase, m spiceproto.Mask, v uint64) error {
	mask, err := r.mask(m)
	if err != nil {
		return err
	}
	return r.paint(base, func(x, y int32, _ uint64) (uint64, bool) { return v, mask(x, y) })
}

// combine applies the draws whose result always depends on what was there. What
// they do with it does not matter, only that it cannot be undone.
func (r *Renderer) combine(op uint16, body []byte) error {
	base, images, err := r.ingredients(op, body)
	if err != nil {
		return err
	}
	seed := mix(uint64(op), seedOf(body))
	for _, p := range images {
		t, err := r.texture(p)
		if err != nil {
			return err
		}
		v, _ := t.at(0, 0)
		seed = mix(seed, v)
	}
	return r.paint(base, func(x, y int32, old uint64) (uint64, bool) {
		v := mix(seed, uint64(x), uint64(y))
		return mix(v, old), v&3 != 0 // some cells stay as they are
	})
}

// ingredients returns the base of a draw and the images it names.
func (r *Renderer) ingredients(op uint16, body []byte) (spiceproto.DrawBase, []*spiceproto.Picture, error) {
	switch op {
	case spiceproto.MsgDisplayDrawBlend:
		m, err := spiceproto.ParseDrawBlend(body)
		return m.DrawBase, []*spiceproto.Picture{m.Src, m.Mask.Bitmap}, err
	case spiceproto.MsgDisplayDrawInvers:
		m, err := spiceproto.ParseDrawInvers(body)
		return m.DrawBase, []*spiceproto.Picture{m.Mask.Bitmap}, err
	case spiceproto.MsgDisplayDrawROP3:
		m, err := spiceproto.ParseDrawROP3(body)
		return m.DrawBase, []*spiceproto.Picture{m.Src, m.Brush.Pattern, m.Mask.Bitmap}, err
	case spiceproto.MsgDisplayDrawStroke:
		m, err := spiceproto.ParseDrawStroke(body)
		return m.DrawBase, []*spiceproto.Picture{m.Brush.Pattern}, err
	case spiceproto.MsgDisplayDrawText:
		m, err := spiceproto.ParseDrawText(body)
		return m.DrawBase, []*spiceproto.Picture{m.ForeBrush.Pattern, m.BackBrush.Pattern}, err
	case spiceproto.MsgDisplayDrawTransparent:
		m, err := spiceproto.ParseDrawTransparent(body)
		return m.DrawBase, []*spiceproto.Picture{m.Src}, err
	case spiceproto.MsgDisplayDrawAlphaBlend:
		m, err := spiceproto.ParseDrawAlphaBlend(body)
		return m.DrawBase, []*spiceproto.Picture{m.Src}, err
	case spiceproto.MsgDisplayDrawComposite:
		m, err := spiceproto.ParseDrawComposite(body)
		return m.DrawBase, []*spiceproto.Picture{m.Src, m.MaskBitmap}, err
	}
	return spiceproto.DrawBase{}, nil, fmt.Errorf("no draw: %d", op)
}

// source returns the part of an image that is fitted to a box, by the cell in
// the box.
func (r *Renderer) source(p *spiceproto.Picture, area spiceproto.Rect) (func(x, y int32) (uint64, bool), error) {
	t, err := r.texture(p)
	if err != nil {
		return nil, err
	}
	from, err := r.cells(area)
	return func(x, y int32) (uint64, bool) {
		v, ok := t.at(from.Left+x%max(from.Right-from.Left, 1), from.Top+y%max(from.Bottom-from.Top, 1))
		return v, ok
	}, err
}

func (r *Renderer) brush(b spiceproto.Brush) (func(x, y int32) (uint64, bool), error) {
	switch b.Type {
	case spiceproto.BrushSolid:
		return func(int32, int32) (uint64, bool) { return mix(uint64(b.Color)), true }, nil
	case spiceproto.BrushPattern:
		t, err := r.texture(b.Pattern)
		return t.tiled, err
	}
	return func(int32, int32) (uint64, bool) { return 0, false }, nil
}

func (r *Renderer) mask(m spiceproto.Mask) (func(x, y int32) bool, error) {
	if m.Bitmap == nil {
		return func(int32, int32) bool { return true }, nil
	}
	t, err := r.texture(m.Bitmap)
	return func(x, y int32) bool {
		v, ok := t.at(x, y)
		return ok && v&1 != 0
	}, err
}

// texture decodes an image, and does to what the client keeps what it says. A
// nil picture is no image.
func (r *Renderer) texture(p *spiceproto.Picture) (texture, error) {
	if p == nil {
		return texture{}, nil
	}
	t := texture{width: int32(p.Width) / r.grain, height: int32(p.Height) / r.grain}
	lossy := p.Type == spiceproto.ImageJPEG || p.Type == spiceproto.ImageJPEGAlpha
	switch p.Type {
	case spiceproto.ImageFromCache, spiceproto.ImageFromCacheLossless:
		c, has := r.images[p.ID]
		if !has || c.lossy && p.Type == spiceproto.ImageFromCacheLossless {
			return t, fmt.Errorf("image %d is not in the cache, as %v", p.ID, p.Type)
		}
		return c.texture, nil
	case spiceproto.ImageSurface:
		id := p.Payload.(spiceproto.SurfaceData).Surface
		c := r.surfaces[id]
		if c == nil {
			return t, fmt.Errorf("surface %d does not exist", id)
		}
		t.surface = c.clone()
	default:
		if err := r.decode(p, &t); err != nil {
			return t, err
		}
	}
	if p.Flags&(spiceproto.ImageCacheMe|spiceproto.ImageCacheReplaceMe) != 0 {
		r.images[p.ID] = cachedImage{t, lossy}
	}
	return t, nil
}

func (r *Renderer) decode(p *spiceproto.Picture, t *texture) (err error) {
	switch m := p.Payload.(type) {
	case spiceproto.BitmapData:
		t.seed, err = r.coloured(m.Data, m.Flags, m.PaletteID, m.Palette)
	case spiceproto.LZPLTData:
		t.seed, err = r.coloured(m.Data, m.Flags, m.PaletteID, m.Palette)
	case spiceproto.ZlibGLZData:
		t.seed, err = r.glzImage(m.Data)
	case spiceproto.JPEGAlphaData:
		t.seed = seedOf(m.Data)
	case spiceproto.EncodedData:
		t.seed = seedOf(m.Data)
		if p.Type == spiceproto.ImageGLZRGB {
			t.seed, err = r.glzImage(m.Data)
		}
	}
	return err
}

// coloured mixes an image's palette into its seed.
func (r *Renderer) coloured(data []byte, flags uint8, id uint64, p *spiceproto.Palette) (uint64, error) {
	seed := seedOf(data)
	switch {
	case flags&spiceproto.BitmapPaletteFromCache != 0:
		colours, has := r.palettes[id]
		if !has {
			return 0, fmt.Errorf("palette %d is not in the cache", id)
		}
		return mix(seed, colours), nil
	case p == nil:
		return seed, nil
	}
	colours := mix(uint64(len(p.Entries)))
	for _, c := range p.Entries {
		colours = mix(colours, uint64(c))
	}
	if flags&spiceproto.BitmapPaletteCacheMe != 0 {
		r.palettes[p.ID] = colours
	}
	return mix(seed, colours), nil
}

// glzImage takes an image into the window. spice-gtk waits for ever for one that
// is missing.
func (r *Renderer) glzImage(data []byte) (uint64, error) {
	h, err := spiceproto.ParseGLZHeader(data)
	if err != nil {
		return 0, err
	}
	if r.anyGLZ && h.ID != r.glz+1 {
		return 0, fmt.Errorf("GLZ image %d comes after %d", h.ID, r.glz)
	}
	r.glz, r.anyGLZ = h.ID, true
	return mix(h.ID, seedOf(data)), nil
}
