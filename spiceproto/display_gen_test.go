package spiceproto

import "pgregory.net/rapid"

// Generators of the parts of display messages, with the consistency the
// encoders ask for.

func genData(t *rapid.T, size int) []byte {
	return rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")
}

func genClip(t *rapid.T) Clip {
	if rapid.Bool().Draw(t, "clipped") {
		return Clip{Type: ClipRects, Rects: rapid.SliceOfN(rapid.Make[Rect](), 0, 12).Draw(t, "clip")}
	}
	return Clip{}
}

func genBase(t *rapid.T) DrawBase {
	return DrawBase{
		Surface: rapid.Uint32Max(3).Draw(t, "surface"), Box: rapid.Make[Rect]().Draw(t, "box"),
		Clip: genClip(t),
	}
}

func genPalette(t *rapid.T) *Palette {
	p := rapid.Custom(func(t *rapid.T) Palette {
		return Palette{
			ID:      rapid.Uint64().Draw(t, "id"),
			Entries: rapid.SliceOfN(rapid.Uint32(), 0, 20).Draw(t, "entries"),
		}
	}).Draw(t, "palette")
	return &p
}

var imageTypes = []ImageType{
	ImageBitmap, ImageQUIC, ImageLZPLT, ImageLZRGB, ImageGLZRGB, ImageFromCache, ImageSurface,
	ImageJPEG, ImageFromCacheLossless, ImageZlibGLZRGB, ImageJPEGAlpha, ImageLZ4,
}

func genPicture(t *rapid.T) *Picture {
	p := &Picture{Image: Image{
		ID: rapid.Uint64().Draw(t, "id"), Type: rapid.SampledFrom(imageTypes).Draw(t, "type"),
		Flags: rapid.Byte().Draw(t, "flags"),
		Width: rapid.Uint32Max(100).Draw(t, "width"), Height: rapid.Uint32Max(100).Draw(t, "height"),
	}}
	p.Payload = genPayload(t, p.Type)
	return p
}

func genPayload(t *rapid.T, kind ImageType) ImagePayload {
	size := rapid.IntRange(0, 40).Draw(t, "size")
	flags := rapid.Uint8Max(7).Draw(t, "bitmap flags")
	switch kind {
	case ImageBitmap:
		m := BitmapData{
			Format: BitmapFormat(rapid.Uint8Max(10).Draw(t, "format")), Flags: flags,
			Width: rapid.Uint32Max(100).Draw(t, "x"), Height: rapid.Uint32Max(5).Draw(t, "y"),
			Stride: uint32(size),
		}
		m.Data = genData(t, int(m.Stride*m.Height))
		if flags&BitmapPaletteFromCache != 0 {
			m.PaletteID = rapid.Uint64().Draw(t, "palette id")
		} else if rapid.Bool().Draw(t, "has palette") {
			m.Palette = genPalette(t)
		}
		return m
	case ImageLZPLT:
		m := LZPLTData{Flags: flags, Data: genData(t, size)}
		if flags&BitmapPaletteFromCache != 0 {
			m.PaletteID = rapid.Uint64().Draw(t, "palette id")
		} else {
			m.Palette = genPalette(t)
		}
		return m
	case ImageZlibGLZRGB:
		return ZlibGLZData{GLZSize: rapid.Uint32().Draw(t, "glz size"), Data: genData(t, size)}
	case ImageJPEGAlpha:
		return JPEGAlphaData{
			Flags: flags, JPEGSize: uint32(rapid.IntRange(0, size).Draw(t, "jpeg size")),
			Data: genData(t, size),
		}
	case ImageSurface:
		return SurfaceData{Surface: rapid.Uint32Max(3).Draw(t, "image surface")}
	case ImageFromCache, ImageFromCacheLossless:
		return nil
	}
	return EncodedData{genData(t, size)}
}

func genSource(t *rapid.T) *Picture {
	if rapid.IntRange(0, 9).Draw(t, "null source") == 0 {
		return nil
	}
	return genPicture(t)
}

func genArea(t *rapid.T) Rect {
	side := rapid.Int32Range(-1, 50)
	return Rect{
		Top: side.Draw(t, "top"), Left: side.Draw(t, "left"),
		Bottom: side.Draw(t, "bottom"), Right: side.Draw(t, "right"),
	}
}

func genPoint(t *rapid.T) Point { return rapid.Make[Point]().Draw(t, "point") }

func genBrush(t *rapid.T) Brush {
	b := Brush{Type: BrushType(rapid.Uint8Max(2).Draw(t, "brush"))}
	switch b.Type {
	case BrushSolid:
		b.Color = rapid.Uint32().Draw(t, "color")
	case BrushPattern:
		b.Pattern, b.Pos = genPicture(t), genPoint(t)
	}
	return b
}

func genMask(t *rapid.T) Mask {
	m := Mask{Flags: rapid.Byte().Draw(t, "mask flags"), Pos: genPoint(t)}
	if rapid.Bool().Draw(t, "masked") {
		m.Bitmap = genPicture(t)
	}
	return m
}

func genRop(t *rapid.T) Rop {
	return rapid.OneOf(rapid.Just(RopPut), rapid.Make[Rop]()).Draw(t, "rop")
}

func genScale(t *rapid.T) ScaleMode { return ScaleMode(rapid.Uint8Max(1).Draw(t, "scale")) }

func genCopy(t *rapid.T) DrawCopy {
	return DrawCopy{
		DrawBase: genBase(t), Src: genSource(t), SrcArea: genArea(t), Rop: genRop(t),
		Scale: genScale(t), Mask: genMask(t),
	}
}

func genBlackness(t *rapid.T) DrawBlackness {
	return DrawBlackness{DrawBase: genBase(t), Mask: genMask(t)}
}

func genPath(t *rapid.T) Path {
	var p Path
	for range rapid.IntRange(0, 4).Draw(t, "segments") {
		s := PathSegment{
			Flags: rapid.Byte().Draw(t, "path flags"), Count: rapid.Uint32Max(3).Draw(t, "count"),
		}
		p.Segments = append(p.Segments, s)
		for range s.Count {
			p.Points = append(p.Points, FixPoint(genPoint(t)))
		}
	}
	return p
}

func genLineAttr(t *rapid.T) LineAttr {
	a := LineAttr{Flags: rapid.Byte().Draw(t, "line flags")}
	if a.Flags&LineStyled != 0 {
		a.Style = rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, "style")
	}
	return a
}

func genString(t *rapid.T) RasterString {
	depth := rapid.IntRange(0, 2).Draw(t, "depth")
	s := RasterString{Flags: 1<<depth | rapid.SampledFrom([]uint8{0, StringRasterTopDown}).Draw(t, "down")}
	for range rapid.IntRange(0, 4).Draw(t, "glyphs") {
		g := Glyph{
			RenderPos: genPoint(t), Origin: genPoint(t),
			Width: rapid.Uint16Max(9).Draw(t, "width"), Height: rapid.Uint16Max(3).Draw(t, "height"),
		}
		row := (int(g.Width)*[...]int{1, 4, 8}[depth] + 7) / 8
		g.Data = genData(t, row*int(g.Height))
		s.Glyphs = append(s.Glyphs, g)
	}
	return s
}

func genComposite(t *rapid.T) DrawComposite {
	m := DrawComposite{
		DrawBase: genBase(t), Flags: rapid.Uint32().Draw(t, "flags"), Src: genSource(t),
		SrcOrigin:  rapid.Make[Origin]().Draw(t, "src origin"),
		MaskOrigin: rapid.Make[Origin]().Draw(t, "mask origin"),
	}
	if m.Flags&CompositeHasMask != 0 {
		m.MaskBitmap = genSource(t)
	}
	if m.Flags&CompositeHasSrcTransform != 0 {
		m.SrcTransform = rapid.Make[Transform]().Draw(t, "src transform")
	}
	if m.Flags&CompositeHasMaskTransform != 0 {
		m.MaskTransform = rapid.Make[Transform]().Draw(t, "mask transform")
	}
	return m
}

// drawGenerators makes every draw, by opcode.
var drawGenerators = map[uint16]*rapid.Generator[message]{
	MsgDisplayCopyBits: rapid.Custom(func(t *rapid.T) message {
		return CopyBits{DrawBase: genBase(t), SrcPos: genPoint(t)}
	}),
	MsgDisplayDrawFill: rapid.Custom(func(t *rapid.T) message {
		return DrawFill{DrawBase: genBase(t), Brush: genBrush(t), Rop: genRop(t), Mask: genMask(t)}
	}),
	MsgDisplayDrawOpaque: rapid.Custom(func(t *rapid.T) message {
		return DrawOpaque{
			DrawBase: genBase(t), Src: genSource(t), SrcArea: genArea(t), Brush: genBrush(t),
			Rop: genRop(t), Scale: genScale(t), Mask: genMask(t),
		}
	}),
	MsgDisplayDrawCopy:  rapid.Custom(func(t *rapid.T) message { return genCopy(t) }),
	MsgDisplayDrawBlend: rapid.Custom(func(t *rapid.T) message { return DrawBlend(genCopy(t)) }),
	MsgDisplayDrawBlackness: rapid.Custom(func(t *rapid.T) message {
		return genBlackness(t)
	}),
	MsgDisplayDrawWhiteness: rapid.Custom(func(t *rapid.T) message {
		return DrawWhiteness(genBlackness(t))
	}),
	MsgDisplayDrawInvers: rapid.Custom(func(t *rapid.T) message {
		return DrawInvers(genBlackness(t))
	}),
	MsgDisplayDrawROP3: rapid.Custom(func(t *rapid.T) message {
		return DrawROP3{
			DrawBase: genBase(t), Src: genSource(t), SrcArea: genArea(t), Brush: genBrush(t),
			ROP3: rapid.Byte().Draw(t, "rop3"), Scale: genScale(t), Mask: genMask(t),
		}
	}),
	MsgDisplayDrawStroke: rapid.Custom(func(t *rapid.T) message {
		return DrawStroke{
			DrawBase: genBase(t), Path: genPath(t), Attr: genLineAttr(t), Brush: genBrush(t),
			ForeMode: genRop(t), BackMode: genRop(t),
		}
	}),
	MsgDisplayDrawText: rapid.Custom(func(t *rapid.T) message {
		return DrawText{
			DrawBase: genBase(t), String: genString(t), BackArea: genArea(t),
			ForeBrush: genBrush(t), BackBrush: genBrush(t), ForeMode: genRop(t), BackMode: genRop(t),
		}
	}),
	MsgDisplayDrawTransparent: rapid.Custom(func(t *rapid.T) message {
		return DrawTransparent{
			DrawBase: genBase(t), Src: genSource(t), SrcArea: genArea(t),
			SrcColor: rapid.Uint32().Draw(t, "color"), TrueColor: rapid.Uint32().Draw(t, "true color"),
		}
	}),
	MsgDisplayDrawAlphaBlend: rapid.Custom(func(t *rapid.T) message {
		return DrawAlphaBlend{
			DrawBase: genBase(t), AlphaFlags: rapid.Byte().Draw(t, "alpha flags"),
			Alpha: rapid.Byte().Draw(t, "alpha"), Src: genSource(t), SrcArea: genArea(t),
		}
	}),
	MsgDisplayDrawComposite: rapid.Custom(func(t *rapid.T) message { return genComposite(t) }),
}
