package spiceproto

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// effectOf is ParseEffect of a whole message.
func effectOf(m message) Effect {
	wire := m.Append(nil)
	h, _ := ParseHeader(wire)
	return ParseEffect(h.Type, h.Size, wire[MiniHeaderSize:])
}

// plainPicture is an image without any tie, as large as the source area of
// plainCopy.
func plainPicture() *Picture {
	return &Picture{
		Image:   Image{ID: 1, Type: ImageLZRGB, Width: 30, Height: 20},
		Payload: EncodedData{[]byte{1, 2, 3}},
	}
}

// plainCopy overwrites its box.
func plainCopy() DrawCopy {
	return DrawCopy{
		DrawBase: DrawBase{Surface: 3, Box: Rect{Top: 10, Left: 20, Bottom: 30, Right: 50}},
		Src:      plainPicture(), SrcArea: Rect{Bottom: 20, Right: 30}, Rop: RopPut,
	}
}

// copyOf is plainCopy with a change.
func copyOf(change func(*DrawCopy)) DrawCopy {
	m := plainCopy()
	change(&m)
	return m
}

// sourceOf is plainCopy with another source.
func sourceOf(kind ImageType, flags uint8, payload ImagePayload) DrawCopy {
	return copyOf(func(m *DrawCopy) {
		m.Src.Type, m.Src.Flags, m.Src.Payload = kind, flags, payload
	})
}

func fillOf(brush Brush, rop Rop, mask Mask) DrawFill {
	return DrawFill{DrawBase: plainCopy().DrawBase, Brush: brush, Rop: rop, Mask: mask}
}

func opaqueOf(change func(*DrawOpaque)) DrawOpaque {
	p := plainCopy()
	m := DrawOpaque{
		DrawBase: p.DrawBase, Src: p.Src, SrcArea: p.SrcArea, Rop: RopPut,
		Brush: Brush{Type: BrushSolid},
	}
	change(&m)
	return m
}

var (
	solid   = Brush{Type: BrushSolid, Color: 1}
	pattern = Brush{Type: BrushPattern, Pattern: plainPicture()}
	masked  = Mask{Bitmap: plainPicture()}
)

func patternOf(change func(*Picture)) Brush {
	p := plainPicture()
	change(p)
	return Brush{Type: BrushPattern, Pattern: p}
}

// Every condition of Overwrites and ReadsDest, one at a time.
func TestEffectOverwrites(t *testing.T) {
	const (
		neither = iota
		overwrites
		reads
	)
	base := plainCopy().DrawBase
	for _, c := range []struct {
		name string
		m    message
		want int
	}{
		{"copy", plainCopy(), overwrites},
		{"clipped copy", copyOf(func(m *DrawCopy) { m.Clip = testClip }), overwrites},
		{"copy, nearest", copyOf(func(m *DrawCopy) { m.Scale = ScaleNearest }), overwrites},
		{"copy, scaled", copyOf(func(m *DrawCopy) { m.SrcArea = Rect{Bottom: 1, Right: 1} }), overwrites},
		{"copy, mask flags without mask", copyOf(func(m *DrawCopy) {
			m.Mask = Mask{Flags: MaskInvers, Pos: Point{X: 1, Y: 1}}
		}), overwrites},
		{"copy, mask", copyOf(func(m *DrawCopy) { m.Mask = masked }), reads},
		{"copy, no rop", copyOf(func(m *DrawCopy) { m.Rop = 0 }), reads},
		{"copy, or", copyOf(func(m *DrawCopy) { m.Rop = RopOr }), reads},
		{"copy, put with inverted source", copyOf(func(m *DrawCopy) { m.Rop |= RopInversSrc }), reads},
		{"copy, put with inverted result", copyOf(func(m *DrawCopy) { m.Rop |= RopInversRes }), reads},
		{"copy, area left of the image", copyOf(func(m *DrawCopy) { m.SrcArea.Left-- }), reads},
		{"copy, area above the image", copyOf(func(m *DrawCopy) { m.SrcArea.Top-- }), reads},
		{"copy, area right of the image", copyOf(func(m *DrawCopy) { m.SrcArea.Right++ }), reads},
		{"copy, area below the image", copyOf(func(m *DrawCopy) { m.SrcArea.Bottom++ }), reads},
		{"copy, empty area", copyOf(func(m *DrawCopy) { m.SrcArea.Bottom = 0 }), reads},
		{"copy, largest image", copyOf(func(m *DrawCopy) {
			m.Src.Width, m.Src.Height = math.MaxUint32, math.MaxUint32
		}), overwrites},
		{"copy, bitmap", sourceOf(ImageBitmap, 0, BitmapData{Width: 30, Height: 20}), overwrites},
		{"copy, narrow bitmap", sourceOf(ImageBitmap, 0, BitmapData{Width: 29, Height: 20}), reads},
		{"copy, low bitmap", sourceOf(ImageBitmap, 0, BitmapData{Width: 30, Height: 19}), reads},
		{"copy beside the image of a wider bitmap", copyOf(func(m *DrawCopy) {
			m.Src.Type, m.Src.Payload = ImageBitmap, BitmapData{Width: 40, Height: 20}
			m.SrcArea.Right = 31
		}), reads},
		{"copy below the image of a higher bitmap", copyOf(func(m *DrawCopy) {
			m.Src.Type, m.Src.Payload = ImageBitmap, BitmapData{Width: 30, Height: 40}
			m.SrcArea.Bottom = 21
		}), reads},
		{"copy of another surface", sourceOf(ImageSurface, 0, SurfaceData{2}), neither},
		{"copy of the same surface", sourceOf(ImageSurface, 0, SurfaceData{3}), reads},
		{"copy from the cache", sourceOf(ImageFromCache, 0, nil), overwrites},

		{"fill", fillOf(solid, RopPut, Mask{}), overwrites},
		{"fill, pattern", fillOf(pattern, RopPut, Mask{}), overwrites},
		{"fill, no brush", fillOf(Brush{}, RopPut, Mask{}), reads},
		{"fill, mask", fillOf(solid, RopPut, masked), reads},
		{"fill, xor", fillOf(solid, RopXor, Mask{}), reads},
		{"fill, put with inverted brush", fillOf(solid, RopPut|RopInversBrush, Mask{}), reads},
		{
			"fill, pattern without columns",
			fillOf(patternOf(func(p *Picture) { p.Width = 0 }), RopPut, Mask{}), reads,
		},
		{
			"fill, pattern without rows",
			fillOf(patternOf(func(p *Picture) { p.Height = 0 }), RopPut, Mask{}), reads,
		},
		{"fill, pattern is another surface", fillOf(patternOf(func(p *Picture) {
			p.Type, p.Payload = ImageSurface, SurfaceData{2}
		}), RopPut, Mask{}), neither},
		{"fill, pattern is the same surface", fillOf(patternOf(func(p *Picture) {
			p.Type, p.Payload = ImageSurface, SurfaceData{3}
		}), RopPut, Mask{}), reads},

		{"opaque", opaqueOf(func(*DrawOpaque) {}), overwrites},
		{"opaque, pattern", opaqueOf(func(m *DrawOpaque) { m.Brush = pattern }), overwrites},
		{"opaque, no brush", opaqueOf(func(m *DrawOpaque) { m.Brush = Brush{} }), reads},
		{"opaque, mask", opaqueOf(func(m *DrawOpaque) { m.Mask = masked }), reads},
		{"opaque, and", opaqueOf(func(m *DrawOpaque) { m.Rop = RopAnd }), reads},
		{"opaque, area beyond the image", opaqueOf(func(m *DrawOpaque) { m.SrcArea.Right++ }), reads},

		{"copy bits", CopyBits{DrawBase: base}, reads},
		{"blend, put", DrawBlend(plainCopy()), reads},
		{"blackness", DrawBlackness{DrawBase: base}, neither},
		{"blackness, mask", DrawBlackness{DrawBase: base, Mask: masked}, reads},
		{"whiteness", DrawWhiteness{DrawBase: base}, neither},
		{"whiteness, mask", DrawWhiteness{DrawBase: base, Mask: masked}, reads},
		{"invers", DrawInvers{DrawBase: base}, reads},
		{"rop3, source alone", DrawROP3{DrawBase: base, Src: plainPicture(), ROP3: 0xcc}, reads},
		{"stroke", DrawStroke{DrawBase: base, ForeMode: RopPut, BackMode: RopPut}, reads},
		{"text", DrawText{DrawBase: base, ForeMode: RopPut, BackMode: RopPut}, reads},
		{"transparent", DrawTransparent{DrawBase: base, Src: plainPicture()}, reads},
		{"alpha blend", DrawAlphaBlend{DrawBase: base, Alpha: 255, Src: plainPicture()}, reads},
		{"composite", DrawComposite{DrawBase: base, Src: plainPicture()}, reads},
	} {
		e := effectOf(c.m)
		if e.Doubt != DoubtNone || e.Overwrites != (c.want == overwrites) ||
			e.ReadsDest != (c.want == reads) {
			t.Errorf("%s: doubt %v, overwrites %v, reads %v", c.name, e.Doubt, e.Overwrites, e.ReadsDest)
		}
		if e.Surface != base.Surface || e.Box != base.Box {
			t.Errorf("%s: surface %d, box %+v", c.name, e.Surface, e.Box)
		}
	}
}

// What each type of image ties the draw to.
func TestEffectImageUses(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    ImageType
		flags   uint8
		payload ImagePayload
		want    ImageUses
	}{
		{"lz", ImageLZRGB, 0, EncodedData{}, 0},
		{"high bits", ImageLZRGB, ImageHighBitsSet, EncodedData{}, 0},
		{"quic", ImageQUIC, 0, EncodedData{}, 0},
		{"lz4", ImageLZ4, 0, EncodedData{}, 0},
		{"jpeg", ImageJPEG, 0, EncodedData{}, 0},
		{"jpeg alpha", ImageJPEGAlpha, 0, JPEGAlphaData{}, 0},
		{"cache me", ImageLZRGB, ImageCacheMe, EncodedData{}, UsesStore},
		{"cache replace me", ImageQUIC, ImageCacheReplaceMe, EncodedData{}, UsesStore},
		{"from cache", ImageFromCache, 0, nil, UsesCache},
		{"from cache lossless", ImageFromCacheLossless, 0, nil, UsesCache},
		{"glz", ImageGLZRGB, 0, EncodedData{}, UsesGLZ},
		{"glz, cache me", ImageGLZRGB, ImageCacheMe, EncodedData{}, UsesGLZ | UsesStore},
		{"zlib glz", ImageZlibGLZRGB, 0, ZlibGLZData{}, UsesGLZ},
		{"surface", ImageSurface, 0, SurfaceData{7}, UsesSurface},
		{"bitmap", ImageBitmap, 0, BitmapData{}, 0},
		{"bitmap with palette", ImageBitmap, 0, BitmapData{Palette: testPalette}, 0},
		{
			"bitmap, palette cache me", ImageBitmap, 0,
			BitmapData{Flags: BitmapPaletteCacheMe, Palette: testPalette}, UsesPaletteStore,
		},
		{
			"bitmap, palette from cache", ImageBitmap, ImageCacheMe,
			BitmapData{Flags: BitmapPaletteFromCache, PaletteID: 8}, UsesPaletteCache | UsesStore,
		},
		{"lz plt", ImageLZPLT, 0, LZPLTData{Palette: testPalette}, 0},
		{
			"lz plt, palette cache me", ImageLZPLT, 0,
			LZPLTData{Flags: BitmapPaletteCacheMe, Palette: testPalette}, UsesPaletteStore,
		},
		{
			"lz plt, palette from cache", ImageLZPLT, 0,
			LZPLTData{Flags: BitmapPaletteFromCache, PaletteID: 8}, UsesPaletteCache,
		},
	} {
		picture := &Picture{Image{11, c.kind, c.flags, 30, 20}, c.payload}
		brush, base := Brush{Type: BrushPattern, Pattern: picture}, plainCopy().DrawBase
		source := func(e *Effect) *ImageUse { return &e.Source }
		fore := func(e *Effect) *ImageUse { return &e.Brush }
		back := func(e *Effect) *ImageUse { return &e.BackBrush }
		mask := func(e *Effect) *ImageUse { return &e.Mask }
		for _, place := range []struct {
			m  message
			of func(*Effect) *ImageUse
		}{
			{copyOf(func(m *DrawCopy) { m.Src = picture }), source},
			{copyOf(func(m *DrawCopy) { m.Mask.Bitmap = picture }), mask},
			{DrawBlend(copyOf(func(m *DrawCopy) { m.Src = picture })), source},
			{DrawBlend(copyOf(func(m *DrawCopy) { m.Mask.Bitmap = picture })), mask},
			{opaqueOf(func(m *DrawOpaque) { m.Src = picture }), source},
			{opaqueOf(func(m *DrawOpaque) { m.Brush = brush }), fore},
			{opaqueOf(func(m *DrawOpaque) { m.Mask.Bitmap = picture }), mask},
			{fillOf(brush, RopPut, Mask{}), fore},
			{fillOf(solid, RopPut, Mask{Bitmap: picture}), mask},
			{DrawBlackness{base, Mask{Bitmap: picture}}, mask},
			{DrawWhiteness{base, Mask{Bitmap: picture}}, mask},
			{DrawInvers{base, Mask{Bitmap: picture}}, mask},
			{DrawROP3{DrawBase: base, Src: picture}, source},
			{DrawROP3{DrawBase: base, Src: plainPicture(), Brush: brush}, fore},
			{DrawROP3{DrawBase: base, Src: plainPicture(), Mask: Mask{Bitmap: picture}}, mask},
			{DrawStroke{DrawBase: base, Brush: brush}, fore},
			{DrawText{DrawBase: base, ForeBrush: brush}, fore},
			{DrawText{DrawBase: base, BackBrush: brush}, back},
			{DrawTransparent{DrawBase: base, Src: picture}, source},
			{DrawAlphaBlend{DrawBase: base, Src: picture}, source},
			{DrawComposite{DrawBase: base, Src: picture}, source},
			{DrawComposite{
				DrawBase: base, Src: plainPicture(), Flags: CompositeHasMask, MaskBitmap: picture,
			}, mask},
		} {
			e := effectOf(place.m)
			want := wantUse(picture)
			if diff := cmp.Diff(want, *place.of(&e)); diff != "" || e.Doubt != DoubtNone {
				t.Errorf("%s in %T: doubt %v (-want +got)\n%s", c.name, place.m, e.Doubt, diff)
			}
			if e.Uses != c.want || want.Uses != c.want {
				t.Errorf("%s in %T: uses %b, want %b", c.name, place.m, e.Uses, c.want)
			}
		}
	}
}

func TestEffectClip(t *testing.T) {
	for n := range EffectClipRects + 3 {
		m := plainCopy()
		m.Clip = Clip{Type: ClipRects}
		for i := range n {
			m.Clip.Rects = append(m.Clip.Rects, Rect{Bottom: 1, Right: int32(i + 1)})
		}
		e := effectOf(m)
		if e.Doubt != DoubtNone || e.Clip != ClipRects || e.ClipCount != uint32(n) ||
			e.ClipKnown != (n <= EffectClipRects) {
			t.Errorf("%d rectangles: %+v", n, e)
		}
		for i, r := range e.ClipRects {
			want := Rect{}
			if i < n {
				want = m.Clip.Rects[i]
			}
			if r != want {
				t.Errorf("%d rectangles: number %d is %+v", n, i, r)
			}
		}
	}
	if e := effectOf(plainCopy()); e.Clip != ClipNone || e.ClipCount != 0 || !e.ClipKnown {
		t.Errorf("no clip: %+v", e)
	}
	m := plainCopy()
	m.Clip = Clip{Type: ClipRects, Rects: []Rect{{Bottom: 1, Right: 1}, {Bottom: -1, Right: 1}}}
	if e := effectOf(m); e.Doubt != DoubtNone || e.ClipKnown {
		t.Errorf("inverted rectangle: %+v", e)
	}
}

func TestEffectCopyBits(t *testing.T) {
	base := plainCopy().DrawBase // 30 by 20
	for _, c := range []struct {
		pos   Point
		doubt Doubt
		want  Rect
	}{
		{Point{X: 1, Y: 2}, DoubtNone, Rect{Top: 2, Left: 1, Bottom: 22, Right: 31}},
		{Point{X: -5, Y: -6}, DoubtNone, Rect{Top: -6, Left: -5, Bottom: 14, Right: 25}},
		{
			Point{X: math.MaxInt32 - 30, Y: math.MaxInt32 - 20}, DoubtNone,
			Rect{math.MaxInt32 - 20, math.MaxInt32 - 30, math.MaxInt32, math.MaxInt32},
		},
		{Point{X: math.MaxInt32 - 29}, DoubtArea, Rect{}},
		{Point{Y: math.MaxInt32 - 19}, DoubtArea, Rect{}},
	} {
		e := effectOf(CopyBits{DrawBase: base, SrcPos: c.pos})
		if e.Doubt != c.doubt || e.CopyFrom != c.want {
			t.Errorf("%+v: %v, %+v", c.pos, e.Doubt, e.CopyFrom)
		}
	}
}

// Every doubt, and that a doubtful effect says nothing else.
func TestEffectDoubts(t *testing.T) {
	body := func(m message) []byte { return m.Append(nil)[MiniHeaderSize:] }
	patched := func(m message, at int, v uint32) []byte {
		b := body(m)
		le.PutUint32(b[at:], v)
		return b
	}
	clipped := copyOf(func(m *DrawCopy) { m.Clip = testClip })
	long := copyOf(func(m *DrawCopy) {
		m.Clip = Clip{Type: ClipRects, Rects: make([]Rect, EffectClipRects)}
	})
	const source, copyMask, brush, image = 21, 53, 22, 57
	base := plainCopy().DrawBase
	for _, c := range []struct {
		name string
		op   uint16
		body []byte
		// short is how many bytes of the body are not in the head.
		short int
		want  Doubt
	}{
		{"mark", MsgDisplayMark, nil, 0, DoubtNoDraw},
		{"stream data", MsgDisplayStreamData, make([]byte, 60), 0, DoubtNoDraw},
		{"surface create", MsgDisplaySurfaceCreate, make([]byte, 60), 0, DoubtNoDraw},
		{"undefined opcode", 319, make([]byte, 60), 0, DoubtNoDraw},
		{"no head", MsgDisplayDrawCopy, body(plainCopy()), 82, DoubtHead},
		{"head ends before the image's last byte", MsgDisplayDrawCopy, body(plainCopy()), 8, DoubtHead},
		{"head ends with the descriptor", MsgDisplayDrawCopy, body(plainCopy()), 7, DoubtNone},
		{"body ends before the mask", MsgDisplayDrawCopy, body(plainCopy())[:56], 0, DoubtMalformed},
		{"empty body", MsgDisplayDrawCopy, nil, 0, DoubtMalformed},
		{"clip beyond the body", MsgDisplayDrawCopy, patched(clipped, 21, 20), 0, DoubtMalformed},
		{"largest clip", MsgDisplayDrawCopy, patched(clipped, 21, math.MaxUint32), 0, DoubtMalformed},
		{"clip as long as it is in 32 bits", MsgDisplayDrawCopy, patched(long, 21, 1<<28+EffectClipRects), 0, DoubtMalformed},
		{"largest clip, short head", MsgDisplayDrawCopy, patched(clipped, 21, math.MaxUint32), 80, DoubtHead},
		{"undefined clip", MsgDisplayDrawCopy, patched(plainCopy(), 20, 2), 0, DoubtMalformed},
		{"empty box", MsgDisplayDrawCopy, patched(plainCopy(), 4, 30), 0, DoubtArea},
		{"inverted box", MsgDisplayDrawCopy, patched(plainCopy(), 8, 60), 0, DoubtArea},
		{"no source", MsgDisplayDrawCopy, patched(plainCopy(), source, 0), 0, DoubtImage},
		{"source beyond the body", MsgDisplayDrawCopy, patched(plainCopy(), source, 65), 0, DoubtMalformed},
		{"largest pointer", MsgDisplayDrawCopy, patched(plainCopy(), source, math.MaxUint32), 0, DoubtMalformed},
		{"mask beyond the body", MsgDisplayDrawCopy, patched(plainCopy(), copyMask, 65), 0, DoubtMalformed},
		{"mask behind the head", MsgDisplayDrawCopy, body(copyOf(func(m *DrawCopy) { m.Mask = masked })), 8, DoubtHead},
		{"image of reserved type", MsgDisplayDrawCopy, patched(plainCopy(), image+8, 2), 0, DoubtImage},
		{"image of undefined type", MsgDisplayDrawCopy, patched(plainCopy(), image+8, 110), 0, DoubtImage},
		{"composite without source", MsgDisplayDrawComposite, body(DrawComposite{DrawBase: base}), 0, DoubtImage},
		{"rop3 without source", MsgDisplayDrawROP3, body(DrawROP3{DrawBase: base}), 0, DoubtImage},
		{"undefined brush", MsgDisplayDrawFill, patched(fillOf(solid, RopPut, Mask{}), 21, 3), 0, DoubtMalformed},
		{"pattern without image", MsgDisplayDrawFill, patched(fillOf(pattern, RopPut, Mask{}), brush, 0), 0, DoubtMalformed},
		{"no path", MsgDisplayDrawStroke, patched(DrawStroke{DrawBase: base}, 21, 0), 0, DoubtMalformed},
		{"path beyond the body", MsgDisplayDrawStroke, patched(DrawStroke{DrawBase: base}, 21, 60), 0, DoubtMalformed},
		{"no string", MsgDisplayDrawText, patched(DrawText{DrawBase: base}, 21, 0), 0, DoubtMalformed},
		{
			"bitmap's sizes behind the head", MsgDisplayDrawCopy,
			body(sourceOf(ImageBitmap, 0, BitmapData{})), 5, DoubtHead,
		},
		{
			"palette id behind the head", MsgDisplayDrawCopy,
			body(sourceOf(ImageBitmap, 0, BitmapData{Flags: BitmapPaletteFromCache})), 1, DoubtHead,
		},
		{
			"surface id behind the head", MsgDisplayDrawCopy,
			body(sourceOf(ImageSurface, 0, SurfaceData{1})), 1, DoubtHead,
		},
	} {
		head := c.body[:len(c.body)-c.short]
		e := ParseEffect(c.op, uint32(len(c.body)), head)
		if e.Doubt != c.want {
			t.Errorf("%s: doubt %v, want %v", c.name, e.Doubt, c.want)
		}
		if e.Doubt != DoubtNone && e != (Effect{Op: c.op, Doubt: c.want}) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	if (Effect{}).Doubt == DoubtNone {
		t.Error("the zero effect proves something")
	}
}

// A styled line is two fields longer.
// What follows the body in the same buffer is another message's.
func TestEffectEndsWithTheBody(t *testing.T) {
	body := plainCopy().Append(nil)[MiniHeaderSize:]
	more := append(body[:len(body):len(body)], make([]byte, 100)...)
	if d := cmp.Diff(effectOf(plainCopy()), ParseEffect(MsgDisplayDrawCopy, uint32(len(body)), more)); d != "" {
		t.Errorf("with another message behind it (-want +got)\n%s", d)
	}
	for size := range 57 + imageDescriptorSize {
		if e := ParseEffect(MsgDisplayDrawCopy, uint32(size), body); e.Doubt != DoubtMalformed {
			t.Errorf("of a body of %d bytes: doubt %v", size, e.Doubt)
		}
	}
}

// A pointer to the byte behind the last is none.
func TestEffectPointerAtTheEnd(t *testing.T) {
	body := DrawStroke{DrawBase: plainCopy().DrawBase, Brush: solid}.Append(nil)[MiniHeaderSize:]
	size := uint32(len(body))
	for at, want := range map[uint32]Doubt{size - 1: DoubtNone, size: DoubtMalformed} {
		le.PutUint32(body[21:], at)
		if e := ParseEffect(MsgDisplayDrawStroke, size, body); e.Doubt != want {
			t.Errorf("path at %d of %d: doubt %v, want %v", at, size, e.Doubt, want)
		}
	}
}

func TestEffectStroke(t *testing.T) {
	base := plainCopy().DrawBase
	for _, attr := range []LineAttr{{}, {Flags: LineStyled}, {Flags: LineStyled, Style: []int32{1, 2}}} {
		e := effectOf(DrawStroke{DrawBase: base, Attr: attr, Brush: pattern})
		if e.Doubt != DoubtNone || e.Brush != wantUse(pattern.Pattern) {
			t.Errorf("%+v: %+v", attr, e)
		}
	}
}

// The optional parts of a composite are skipped as its flags say, so that a body
// one byte too short is noticed. The source lies in the box.
func TestEffectComposite(t *testing.T) {
	base := DrawBase{Box: Rect{Top: 1, Left: 1, Bottom: int32(ImageFromCache), Right: 50}}
	for flags, size := range map[uint32]int{
		0: 37, CompositeHasMask: 41, CompositeHasSrcTransform: 61, CompositeHasMaskTransform: 61,
		CompositeHasMask | CompositeHasSrcTransform | CompositeHasMaskTransform: 89,
	} {
		body := DrawComposite{DrawBase: base, Flags: flags}.Append(nil)[MiniHeaderSize:]
		le.PutUint32(body[25:], boxOffset)
		for missing, want := range []Doubt{DoubtNone, DoubtMalformed} {
			b := body[:size-missing]
			if e := ParseEffect(MsgDisplayDrawComposite, uint32(len(b)), b); e.Doubt != want {
				t.Errorf("flags %x, %d bytes: doubt %v, want %v", flags, len(b), e.Doubt, want)
			}
		}
	}
}

// An image that is no surface is not taken for surface 0.
func TestEffectSurfaceZero(t *testing.T) {
	e := effectOf(opaqueOf(func(m *DrawOpaque) {
		m.Surface = 0
		m.Src.Type, m.Src.Payload = ImageSurface, SurfaceData{2}
	}))
	if e.Doubt != DoubtNone || e.Overwrites || e.ReadsDest {
		t.Errorf("%+v", e)
	}
}

func TestDoubtString(t *testing.T) {
	for d, want := range map[Doubt]string{
		DoubtUnread: "unread", DoubtNone: "none", DoubtNoDraw: "no-draw", DoubtHead: "head",
		DoubtMalformed: "malformed", DoubtArea: "area", DoubtImage: "image", DoubtImage + 1: "undefined",
	} {
		if d.String() != want {
			t.Errorf("%d: %q, want %q", d, d.String(), want)
		}
	}
}

// EffectHeadSize bytes of what it promises to suffice for do suffice.
func TestEffectHeadSize(t *testing.T) {
	clip := Clip{Type: ClipRects}
	for range EffectClipRects {
		clip.Rects = append(clip.Rects, Rect{Bottom: 1, Right: 1})
	}
	base := DrawBase{Box: Rect{Bottom: 1, Right: 1}, Clip: clip}
	src := &Picture{Payload: BitmapData{
		Flags: BitmapPaletteFromCache, Stride: 1000, Height: 1, Data: make([]byte, 1000),
	}}
	for _, m := range []message{
		CopyBits{DrawBase: base}, DrawFill{DrawBase: base, Brush: solid},
		DrawOpaque{DrawBase: base, Src: src, Brush: solid}, DrawCopy{DrawBase: base, Src: src},
		DrawBlend{DrawBase: base, Src: src}, DrawBlackness{DrawBase: base},
		DrawROP3{DrawBase: base, Src: src, Brush: solid},
		DrawStroke{DrawBase: base, Attr: LineAttr{Flags: LineStyled}, Brush: solid},
		DrawText{DrawBase: base, ForeBrush: solid, BackBrush: solid},
		DrawTransparent{DrawBase: base, Src: src}, DrawAlphaBlend{DrawBase: base, Src: src},
		DrawComposite{DrawBase: base, Src: src, Flags: CompositeHasMask | CompositeHasSrcTransform},
	} {
		wire := m.Append(nil)
		h, _ := ParseHeader(wire)
		body := wire[MiniHeaderSize:]
		e := ParseEffect(h.Type, h.Size, body[:min(len(body), EffectHeadSize)])
		if e.Doubt != DoubtNone || !e.ClipKnown {
			t.Errorf("%T: doubt %v", m, e.Doubt)
		}
	}
}

// ParseEffect agrees with the full decoder on every draw, and a shorter head
// proves the same or nothing.
func TestEffectAgreesWithDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom(drawOps).Draw(t, "op")
		m := drawGenerators[op].Draw(t, "draw")
		wire := m.Append(nil)
		body := wire[MiniHeaderSize:]
		whole := ParseEffect(op, uint32(len(body)), body)
		if diff := cmp.Diff(wantEffect(m), whole); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		n := rapid.IntRange(0, len(body)).Draw(t, "head")
		short := ParseEffect(op, uint32(len(body)), body[:n])
		if short != whole && short != (Effect{Op: op, Doubt: DoubtHead}) {
			t.Fatalf("head of %d bytes: %+v, whole: %+v", n, short, whole)
		}
	})
}

func FuzzEffect(f *testing.F) {
	for _, c := range allDisplayCodecs() {
		if body := fromHex(f, c.wire)[MiniHeaderSize:]; c.direction == ServerToClient {
			f.Add(c.op, uint16(0), body)
			f.Add(c.op, uint16(18), body)
		}
	}
	f.Fuzz(func(t *testing.T, op, short uint16, b []byte) {
		var whole Effect
		if n := testing.AllocsPerRun(1, func() { whole = ParseEffect(op, uint32(len(b)), b) }); n != 0 {
			t.Fatalf("%v allocations", n)
		}
		if whole.Doubt == DoubtUnread || whole.Doubt == DoubtHead {
			t.Fatalf("doubt %v of a whole body", whole.Doubt)
		}
		head := ParseEffect(op, uint32(len(b)), b[:max(0, len(b)-int(short))])
		if head != whole && head != (Effect{Op: op, Doubt: DoubtHead}) {
			t.Fatalf("short head: %+v, whole: %+v", head, whole)
		}
		if m, err := decodeDisplay(ServerToClient, op, b); err == nil && IsDraw(op) {
			if diff := cmp.Diff(wantEffect(m), whole); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
		}
	})
}

func BenchmarkParseEffect(b *testing.B) {
	for _, c := range []struct {
		name string
		m    message
	}{
		{"copy", plainCopy()},
		{"copy clipped", copyOf(func(m *DrawCopy) { m.Clip = testClip })},
		{"fill", fillOf(solid, RopPut, Mask{})},
		{"copy bits", CopyBits{DrawBase: plainCopy().DrawBase}},
		{"text", DrawText{DrawBase: plainCopy().DrawBase, ForeBrush: solid, BackBrush: solid}},
	} {
		b.Run(c.name, func(b *testing.B) {
			wire := c.m.Append(nil)
			h, _ := ParseHeader(wire)
			head := wire[MiniHeaderSize:]
			b.ReportAllocs()
			for b.Loop() {
				if e := ParseEffect(h.Type, h.Size, head); e.Doubt != DoubtNone {
					b.Fatal(e.Doubt)
				}
			}
		})
	}
}

func TestParseEffectDoesNotAllocate(t *testing.T) {
	for _, op := range drawOps {
		wire := drawGenerators[op].Example(1).Append(nil)
		for _, n := range []int{0, 30, len(wire) - MiniHeaderSize} {
			head := wire[MiniHeaderSize:][:n]
			size := uint32(len(wire) - MiniHeaderSize)
			if got := testing.AllocsPerRun(10, func() { ParseEffect(op, size, head) }); got != 0 {
				t.Errorf("type %d, head of %d bytes: %v allocations", op, n, got)
			}
		}
	}
}
