package spiceproto

import "math"

// wantEffect is the effect of a decoded draw, worked out from its typed form.
func wantEffect(m any) Effect {
	switch m := m.(type) {
	case CopyBits:
		return wantCopyBits(m)
	case DrawFill:
		e := effectBase(MsgDisplayDrawFill, m.DrawBase)
		e.Brush, e.Mask = wantUse(m.Brush.Pattern), wantUse(m.Mask.Bitmap)
		return finish(e, wantPut(m.Rop, m.Mask) && paintsAll(m.Brush))
	case DrawOpaque:
		e := effectBase(MsgDisplayDrawOpaque, m.DrawBase)
		e.Source, e.Brush, e.Mask = wantUse(m.Src), wantUse(m.Brush.Pattern), wantUse(m.Mask.Bitmap)
		return sourced(e, wantPut(m.Rop, m.Mask) && paintsAll(m.Brush) && inside(m.SrcArea, m.Src))
	case DrawCopy:
		e := effectBase(MsgDisplayDrawCopy, m.DrawBase)
		e.Source, e.Mask = wantUse(m.Src), wantUse(m.Mask.Bitmap)
		return sourced(e, wantPut(m.Rop, m.Mask) && inside(m.SrcArea, m.Src))
	case DrawBlend:
		e := effectBase(MsgDisplayDrawBlend, m.DrawBase)
		e.Source, e.Mask = wantUse(m.Src), wantUse(m.Mask.Bitmap)
		return sourced(e, false)
	case DrawBlackness:
		return wantConstant(MsgDisplayDrawBlackness, m.DrawBase, m.Mask)
	case DrawWhiteness:
		return wantConstant(MsgDisplayDrawWhiteness, m.DrawBase, m.Mask)
	case DrawInvers:
		e := effectBase(MsgDisplayDrawInvers, m.DrawBase)
		e.Mask = wantUse(m.Mask.Bitmap)
		return finish(e, false)
	case DrawROP3:
		e := effectBase(MsgDisplayDrawROP3, m.DrawBase)
		e.Source, e.Brush, e.Mask = wantUse(m.Src), wantUse(m.Brush.Pattern), wantUse(m.Mask.Bitmap)
		return sourced(e, false)
	case DrawStroke:
		e := effectBase(MsgDisplayDrawStroke, m.DrawBase)
		e.Brush = wantUse(m.Brush.Pattern)
		return finish(e, false)
	case DrawText:
		e := effectBase(MsgDisplayDrawText, m.DrawBase)
		e.Brush, e.BackBrush = wantUse(m.ForeBrush.Pattern), wantUse(m.BackBrush.Pattern)
		return finish(e, false)
	case DrawTransparent:
		e := effectBase(MsgDisplayDrawTransparent, m.DrawBase)
		e.Source = wantUse(m.Src)
		return sourced(e, false)
	case DrawAlphaBlend:
		e := effectBase(MsgDisplayDrawAlphaBlend, m.DrawBase)
		e.Source = wantUse(m.Src)
		return sourced(e, false)
	case DrawComposite:
		e := effectBase(MsgDisplayDrawComposite, m.DrawBase)
		e.Source, e.Mask = wantUse(m.Src), wantUse(m.MaskBitmap)
		return sourced(e, false)
	}
	panic("no draw")
}

func effectBase(op uint16, b DrawBase) Effect {
	e := Effect{
		Op: op, Doubt: DoubtNone, Surface: b.Surface, Box: b.Box, Clip: b.Clip.Type,
		ClipCount: uint32(len(b.Clip.Rects)), ClipKnown: len(b.Clip.Rects) <= EffectClipRects,
	}
	for _, r := range b.Clip.Rects[:min(len(b.Clip.Rects), EffectClipRects)] {
		e.ClipKnown = e.ClipKnown && r.Top < r.Bottom && r.Left < r.Right
	}
	copy(e.ClipRects[:], b.Clip.Rects)
	if b.Box.Top >= b.Box.Bottom || b.Box.Left >= b.Box.Right {
		e.Doubt = DoubtArea
	}
	return e
}

// finish adds what follows from the images.
func finish(e Effect, overwrites bool) Effect {
	if e.Doubt != DoubtNone {
		return Effect{Op: e.Op, Doubt: e.Doubt}
	}
	e.Overwrites, e.ReadsDest = overwrites, !overwrites
	for _, u := range []ImageUse{e.Source, e.Brush, e.BackBrush, e.Mask} {
		e.Uses |= u.Uses
		if u.Uses&UsesSurface != 0 {
			e.Overwrites = false
			e.ReadsDest = e.ReadsDest || u.Surface == e.Surface
		}
	}
	return e
}

// sourced is finish for the draws that need a source.
func sourced(e Effect, overwrites bool) Effect {
	if e.Doubt == DoubtNone && !e.Source.Present {
		e.Doubt = DoubtImage
	}
	return finish(e, overwrites)
}

func wantCopyBits(m CopyBits) Effect {
	e := effectBase(MsgDisplayCopyBits, m.DrawBase)
	right := int64(m.SrcPos.X) + int64(m.Box.Right) - int64(m.Box.Left)
	bottom := int64(m.SrcPos.Y) + int64(m.Box.Bottom) - int64(m.Box.Top)
	if right > math.MaxInt32 || bottom > math.MaxInt32 {
		e.Doubt = DoubtArea
	}
	e.CopyFrom = Rect{m.SrcPos.Y, m.SrcPos.X, int32(bottom), int32(right)}
	return finish(e, false)
}

// wantConstant is for the draws of a constant, which nobody calls opaque but
// which read nothing.
func wantConstant(op uint16, b DrawBase, mask Mask) Effect {
	e := effectBase(op, b)
	e.Mask = wantUse(mask.Bitmap)
	e = finish(e, false)
	e.ReadsDest = e.Doubt == DoubtNone && e.Mask.Present
	return e
}

func wantPut(rop Rop, mask Mask) bool { return rop == RopPut && mask.Bitmap == nil }

func paintsAll(b Brush) bool {
	switch b.Type {
	case BrushSolid:
		return true
	case BrushPattern:
		u := wantUse(b.Pattern)
		return u.Image.Width > 0 && u.Image.Height > 0
	}
	return false
}

func inside(area Rect, p *Picture) bool {
	u := wantUse(p)
	return area.Left >= 0 && area.Left < area.Right && area.Top >= 0 && area.Top < area.Bottom &&
		uint32(area.Right) <= u.Image.Width && uint32(area.Bottom) <= u.Image.Height
}

func wantUse(p *Picture) ImageUse {
	if p == nil {
		return ImageUse{}
	}
	u := ImageUse{Present: true, Image: p.Image}
	if p.Flags&(ImageCacheMe|ImageCacheReplaceMe) != 0 {
		u.Uses |= UsesStore
	}
	flags := uint8(0)
	switch m := p.Payload.(type) {
	case BitmapData:
		u.Image.Width, u.Image.Height = min(p.Width, m.Width), min(p.Height, m.Height)
		flags, u.PaletteID = m.Flags, m.PaletteID
	case LZPLTData:
		flags, u.PaletteID = m.Flags, m.PaletteID
	case SurfaceData:
		u.Uses |= UsesSurface
		u.Surface = m.Surface
	case ZlibGLZData:
		u.Uses |= UsesGLZ
	case nil:
		u.Uses |= UsesCache
	}
	if p.Type == ImageGLZRGB {
		u.Uses |= UsesGLZ
	}
	if flags&BitmapPaletteCacheMe != 0 {
		u.Uses |= UsesPaletteStore
	}
	if flags&BitmapPaletteFromCache != 0 {
		u.Uses |= UsesPaletteCache
	}
	return u
}
