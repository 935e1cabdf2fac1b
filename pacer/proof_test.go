package pacer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spicepacer/spiceproto"
)

// rawFootprint is the footprint of an encoded message.
func rawFootprint(raw []byte) footprint {
	h, _ := spiceproto.ParseHeader(raw)
	body := raw[spiceproto.MiniHeaderSize:]
	m := Message{Op: h.Type, Size: h.Size}
	if spiceproto.IsDraw(h.Type) {
		m.Effect = spiceproto.ParseEffect(h.Type, h.Size, body[:min(len(body), spiceproto.HeadSize)])
	}
	return footprintOf(m)
}

var (
	here = spiceproto.Rect{Top: 10, Left: 20, Bottom: 50, Right: 80}
	// there has no pixel of here; beside and above touch it.
	there  = spiceproto.Rect{Top: 100, Left: 20, Bottom: 140, Right: 80}
	beside = spiceproto.Rect{Top: 10, Left: 80, Bottom: 50, Right: 90}
	above  = spiceproto.Rect{Top: 0, Left: 20, Bottom: 10, Right: 80}
	// corner shares one pixel with here, and every edge one.
	corner = spiceproto.Rect{Top: 49, Left: 79, Bottom: 60, Right: 90}
)

// encoder is what all messages have.
type encoder interface{ Append([]byte) []byte }

func baseOf(box spiceproto.Rect) spiceproto.DrawBase { return spiceproto.DrawBase{Box: box} }

func areaOf(box spiceproto.Rect) spiceproto.Rect {
	return spiceproto.Rect{Bottom: int32(box.Height()), Right: int32(box.Width())}
}

// pictureOf is an image as large as box without any tie.
func pictureOf(box spiceproto.Rect, change ...func(*spiceproto.Picture)) *spiceproto.Picture {
	p := &spiceproto.Picture{
		Image: spiceproto.Image{
			ID: 7, Type: spiceproto.ImageLZRGB, Width: uint32(box.Width()), Height: uint32(box.Height()),
		},
		Payload: spiceproto.EncodedData{Data: []byte{1, 2, 3}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func flagged(flags uint8) func(*spiceproto.Picture) {
	return func(p *spiceproto.Picture) { p.Flags |= flags }
}

// encodedAs changes the type of an image, and its payload.
func encodedAs(kind spiceproto.ImageType, payload spiceproto.ImagePayload) func(*spiceproto.Picture) {
	return func(p *spiceproto.Picture) { p.Type, p.Payload = kind, payload }
}

func copyOf(box spiceproto.Rect, change ...func(*spiceproto.Picture)) spiceproto.DrawCopy {
	return spiceproto.DrawCopy{
		DrawBase: baseOf(box), Src: pictureOf(box, change...), SrcArea: areaOf(box), Rop: spiceproto.RopPut,
	}
}

// changed returns m after f.
func changed[M any](m M, f func(*M)) M {
	f(&m)
	return m
}

var (
	solid   = spiceproto.Brush{Type: spiceproto.BrushSolid, Color: 5}
	pattern = spiceproto.Brush{Type: spiceproto.BrushPattern, Pattern: pictureOf(there)}
	glzData = spiceproto.EncodedData{Data: spiceproto.GLZHeader{ID: 1}.Append(nil)}
	palette = &spiceproto.Palette{ID: 3, Entries: []uint32{1, 2}}
)

func bitmap(flags uint8) spiceproto.BitmapData {
	m := spiceproto.BitmapData{
		Format: spiceproto.Bitmap8Bit, Flags: flags, Width: 60, Height: 40, Stride: 1, Palette: palette,
		Data: make([]byte, 40),
	}
	if flags&spiceproto.BitmapPaletteFromCache != 0 {
		m.Palette, m.PaletteID = nil, 3
	}
	return m
}

// The footprints of all messages that can come, and of one that cannot.
func TestProofFootprint(t *testing.T) {
	unknown := footprint{}
	kept := footprint{proved: true, chained: true}
	puts := footprint{proved: true, writes: here, overwrites: true}
	paints := footprint{proved: true, writes: here} // some pixels of here, or half of each
	mixes := footprint{proved: true, writes: here, reads: here}
	chained := func(f footprint) footprint { f.chained = true; return f }
	fill := spiceproto.DrawFill{DrawBase: baseOf(here), Brush: solid, Rop: spiceproto.RopPut}
	opaque := spiceproto.DrawOpaque{
		DrawBase: baseOf(here), Src: pictureOf(here), SrcArea: areaOf(here), Brush: solid, Rop: spiceproto.RopPut,
	}
	clip := func(rects ...spiceproto.Rect) func(*spiceproto.DrawCopy) {
		return func(m *spiceproto.DrawCopy) { m.Clip = spiceproto.Clip{Type: spiceproto.ClipRects, Rects: rects} }
	}
	mask := spiceproto.Mask{Bitmap: pictureOf(here)}
	stroke := spiceproto.DrawStroke{DrawBase: baseOf(here), Brush: solid, ForeMode: spiceproto.RopPut, BackMode: spiceproto.RopPut}
	text := spiceproto.DrawText{
		DrawBase: baseOf(here), ForeBrush: solid, BackBrush: solid,
		ForeMode: spiceproto.RopPut, BackMode: spiceproto.RopPut,
	}
	move := func(x, y int32) spiceproto.CopyBits {
		return spiceproto.CopyBits{DrawBase: baseOf(here), SrcPos: spiceproto.Point{X: x, Y: y}}
	}
	moves := func(from spiceproto.Rect) footprint { return footprint{proved: true, writes: here, reads: from} }
	surface := func(id uint32) func(*spiceproto.Picture) {
		return encodedAs(spiceproto.ImageSurface, spiceproto.SurfaceData{Surface: id})
	}
	for _, c := range []struct {
		name string
		m    encoder
		want footprint
	}{
		// Every drawing type.
		{"copy", copyOf(here), puts},
		{"fill", fill, puts},
		{"opaque", opaque, puts},
		{"blackness", spiceproto.DrawBlackness{DrawBase: baseOf(here)}, paints},
		{"whiteness", spiceproto.DrawWhiteness{DrawBase: baseOf(here)}, paints},
		{"blend", spiceproto.DrawBlend(copyOf(here)), mixes},
		{"invers", spiceproto.DrawInvers{DrawBase: baseOf(here)}, mixes},
		{"rop3", spiceproto.DrawROP3{DrawBase: baseOf(here), Src: pictureOf(here), SrcArea: areaOf(here), Brush: solid, ROP3: 0xcc}, mixes},
		{"stroke", stroke, mixes},
		{"text", text, mixes},
		{"transparent", spiceproto.DrawTransparent{DrawBase: baseOf(here), Src: pictureOf(here), SrcArea: areaOf(here)}, mixes},
		{"alpha blend", spiceproto.DrawAlphaBlend{DrawBase: baseOf(here), Alpha: 255, Src: pictureOf(here), SrcArea: areaOf(here)}, mixes},
		{"composite", spiceproto.DrawComposite{DrawBase: baseOf(here), Src: pictureOf(here)}, mixes},

		// What keeps a draw from overwriting: rop, brush, mask, clip, area.
		{"copy with xor", changed(copyOf(here), func(m *spiceproto.DrawCopy) { m.Rop = spiceproto.RopXor }), mixes},
		{"copy with put and inverted destination", changed(copyOf(here), func(m *spiceproto.DrawCopy) {
			m.Rop = spiceproto.RopPut | spiceproto.RopInversDest
		}), mixes},
		{"copy without rop", changed(copyOf(here), func(m *spiceproto.DrawCopy) { m.Rop = 0 }), mixes},
		{"fill with and", changed(fill, func(m *spiceproto.DrawFill) { m.Rop = spiceproto.RopAnd }), mixes},
		{"fill without brush", changed(fill, func(m *spiceproto.DrawFill) { m.Brush = spiceproto.Brush{} }), mixes},
		{"fill with pattern", changed(fill, func(m *spiceproto.DrawFill) { m.Brush = pattern }), puts},
		{"fill with mask", changed(fill, func(m *spiceproto.DrawFill) { m.Mask = mask }), mixes},
		{"opaque without brush", changed(opaque, func(m *spiceproto.DrawOpaque) { m.Brush = spiceproto.Brush{} }), mixes},
		{"opaque with or", changed(opaque, func(m *spiceproto.DrawOpaque) { m.Rop = spiceproto.RopOr }), mixes},
		{"copy with mask", changed(copyOf(here), func(m *spiceproto.DrawCopy) { m.Mask = mask }), mixes},
		{"blackness with mask", spiceproto.DrawBlackness{DrawBase: baseOf(here), Mask: mask}, mixes},
		{"whiteness with mask", spiceproto.DrawWhiteness{DrawBase: baseOf(here), Mask: mask}, mixes},
		{"copy of too small an image", copyOf(here, func(p *spiceproto.Picture) { p.Width-- }), mixes},
		{"copy, clipped to all of it", changed(copyOf(here), clip(here)), paints},
		{"copy, clipped to a corner", changed(copyOf(here), clip(corner)), paints},
		{"copy, clipped to nothing", changed(copyOf(here), clip()), paints},
		{"copy, scaled", changed(copyOf(here), func(m *spiceproto.DrawCopy) {
			m.SrcArea, m.Scale = spiceproto.Rect{Bottom: 1, Right: 1}, spiceproto.ScaleNearest
		}), puts},

		// COPY_BITS: from elsewhere, from a neighbour, from its own place.
		{"copy bits from elsewhere", move(20, 100), moves(there)},
		{"copy bits, overlapping", move(21, 9), moves(spiceproto.Rect{Top: 9, Left: 21, Bottom: 49, Right: 81})},
		{"copy bits from its own box", move(20, 10), moves(here)},
		{"copy bits from outside", move(-60, -40), moves(spiceproto.Rect{Top: -40, Left: -60})},
		{"copy bits from where no pixel can be", move(1<<31-1, 0), unknown},

		// What the client keeps.
		{"stored image", copyOf(here, flagged(spiceproto.ImageCacheMe)), chained(puts)},
		{"replaced image", copyOf(here, flagged(spiceproto.ImageCacheReplaceMe)), chained(puts)},
		{"image with high bits set", copyOf(here, flagged(spiceproto.ImageHighBitsSet)), puts},
		{"image from the cache", copyOf(here, encodedAs(spiceproto.ImageFromCache, nil)), chained(puts)},
		{"lossless image from the cache", copyOf(here, encodedAs(spiceproto.ImageFromCacheLossless, nil)), chained(puts)},
		{"GLZ", copyOf(here, encodedAs(spiceproto.ImageGLZRGB, glzData)), chained(puts)},
		{"GLZ in zlib", copyOf(here, encodedAs(spiceproto.ImageZlibGLZRGB, spiceproto.ZlibGLZData{})), chained(puts)},
		{"stored brush", changed(fill, func(m *spiceproto.DrawFill) {
			m.Brush.Type, m.Brush.Pattern = spiceproto.BrushPattern, pictureOf(there, flagged(spiceproto.ImageCacheMe))
		}), chained(puts)},
		{"brush of text in GLZ", changed(text, func(m *spiceproto.DrawText) {
			m.BackBrush.Type, m.BackBrush.Pattern = spiceproto.BrushPattern, pictureOf(there, encodedAs(spiceproto.ImageGLZRGB, glzData))
		}), chained(mixes)},
		{"stored mask", spiceproto.DrawInvers{
			DrawBase: baseOf(here), Mask: spiceproto.Mask{Bitmap: pictureOf(here, flagged(spiceproto.ImageCacheMe))},
		}, chained(mixes)},
		{"mask from the cache", spiceproto.DrawComposite{
			DrawBase: baseOf(here), Src: pictureOf(here), Flags: spiceproto.CompositeHasMask,
			MaskBitmap: pictureOf(here, encodedAs(spiceproto.ImageFromCache, nil)),
		}, chained(mixes)},
		{"palette", copyOf(here, encodedAs(spiceproto.ImageLZPLT, spiceproto.LZPLTData{Palette: palette})), puts},
		{"stored palette", copyOf(here, encodedAs(spiceproto.ImageLZPLT, spiceproto.LZPLTData{
			Flags: spiceproto.BitmapPaletteCacheMe, Palette: palette,
		})), chained(puts)},
		{"palette from the cache", copyOf(here, encodedAs(spiceproto.ImageLZPLT, spiceproto.LZPLTData{
			Flags: spiceproto.BitmapPaletteFromCache, PaletteID: 3,
		})), chained(puts)},
		{"bitmap", copyOf(here, encodedAs(spiceproto.ImageBitmap, bitmap(0))), puts},
		{"bitmap with a stored palette", copyOf(here, encodedAs(spiceproto.ImageBitmap, bitmap(spiceproto.BitmapPaletteCacheMe))), chained(puts)},
		{"bitmap with a palette from the cache", copyOf(here, encodedAs(spiceproto.ImageBitmap, bitmap(spiceproto.BitmapPaletteFromCache))), chained(puts)},
		{"QUIC", copyOf(here, encodedAs(spiceproto.ImageQUIC, spiceproto.EncodedData{})), puts},
		{"LZ4", copyOf(here, encodedAs(spiceproto.ImageLZ4, spiceproto.EncodedData{})), puts},
		{"JPEG", copyOf(here, encodedAs(spiceproto.ImageJPEG, spiceproto.EncodedData{})), puts},
		{"JPEG with alpha", copyOf(here, encodedAs(spiceproto.ImageJPEGAlpha, spiceproto.JPEGAlphaData{})), puts},
		{"image of an unknown type", copyOf(here, encodedAs(200, spiceproto.EncodedData{})), unknown},
		{"image that is a surface", copyOf(here, surface(1)), unknown},
		{"image that is the primary surface", copyOf(here, surface(0)), unknown},
		{"brush that is a surface", changed(fill, func(m *spiceproto.DrawFill) {
			m.Brush.Type, m.Brush.Pattern = spiceproto.BrushPattern, pictureOf(there, surface(1))
		}), unknown},
		{"mask that is a surface", spiceproto.DrawInvers{
			DrawBase: baseOf(here), Mask: spiceproto.Mask{Bitmap: pictureOf(here, surface(1))},
		}, unknown},

		// Other surfaces, and areas that are none.
		{"copy to surface 1", changed(copyOf(here), func(m *spiceproto.DrawCopy) { m.Surface = 1 }), unknown},
		{"copy bits on surface 1", changed(move(0, 0), func(m *spiceproto.CopyBits) { m.Surface = 1 }), unknown},
		{"empty box", changed(fill, func(m *spiceproto.DrawFill) { m.Box = spiceproto.Rect{} }), unknown},
		{"inverted box", changed(fill, func(m *spiceproto.DrawFill) { m.Box = spiceproto.Rect{Top: 5, Left: 5} }), unknown},
		{"copy without image", changed(copyOf(here), func(m *spiceproto.DrawCopy) { m.Src = nil }), unknown},

		// Messages that do not draw.
		{"PING", spiceproto.Ping{ID: 1}, kept},
		{"INVAL_LIST", spiceproto.InvalList{Resources: []spiceproto.Resource{{Type: 1, ID: 2}}}, kept},
		{"INVAL_PALETTE", spiceproto.InvalPalette{ID: 1}, kept},
		{"SET_ACK", spiceproto.SetAck{Generation: 1, Window: 20}, unknown},
		{"WAIT_FOR_CHANNELS", spiceproto.Empty{Opcode: spiceproto.MsgWaitForChannels}, unknown},
		{"NOTIFY", spiceproto.Empty{Opcode: spiceproto.MsgNotify}, unknown},
		{"MIGRATE", spiceproto.Empty{Opcode: spiceproto.MsgMigrate}, unknown},
		{"MIGRATE_DATA", spiceproto.Empty{Opcode: spiceproto.MsgMigrateData}, unknown},
		{"DISCONNECTING", spiceproto.Empty{Opcode: spiceproto.MsgDisconnecting}, unknown},
		{"LIST", spiceproto.Empty{Opcode: spiceproto.MsgList}, unknown},
		{"MODE", spiceproto.DisplayMode{Width: 10, Height: 10, Bits: 32}, unknown},
		{"MARK", spiceproto.Empty{Opcode: spiceproto.MsgDisplayMark}, unknown},
		{"RESET", spiceproto.Empty{Opcode: spiceproto.MsgDisplayReset}, unknown},
		{"INVAL_ALL_PIXMAPS", spiceproto.InvalAllPixmaps{}, unknown},
		{"INVAL_ALL_PALETTES", spiceproto.Empty{Opcode: spiceproto.MsgDisplayInvalAllPalettes}, unknown},
		{"SURFACE_CREATE", spiceproto.SurfaceCreate{Width: 10, Height: 10}, unknown},
		{"SURFACE_DESTROY", spiceproto.SurfaceDestroy{ID: 1}, unknown},
		{"MONITORS_CONFIG", spiceproto.MonitorsConfig{MaxAllowed: 1}, unknown},
		{"STREAM_CREATE", spiceproto.StreamCreate{Dest: here}, unknown},
		{"STREAM_DATA", spiceproto.StreamData{Data: []byte{1}}, unknown},
		{"STREAM_DATA_SIZED", spiceproto.StreamDataSized{Dest: here}, unknown},
		{"STREAM_CLIP", spiceproto.StreamClip{}, unknown},
		{"STREAM_DESTROY", spiceproto.StreamDestroy{}, unknown},
		{"STREAM_DESTROY_ALL", spiceproto.Empty{Opcode: spiceproto.MsgDisplayStreamDestroyAll}, unknown},
		{"STREAM_ACTIVATE_REPORT", spiceproto.Empty{Opcode: spiceproto.MsgDisplayStreamActivateReport}, unknown},
		{"GL_SCANOUT_UNIX", spiceproto.Empty{Opcode: spiceproto.MsgDisplayGLScanoutUnix}, unknown},
		{"QUALITY_INDICATOR", spiceproto.Empty{Opcode: spiceproto.MsgDisplayQualityIndicator}, unknown},
		{"GL_DRAW", spiceproto.Empty{Opcode: spiceproto.MsgDisplayGLDraw}, unknown},
		{"unknown", spiceproto.Empty{Opcode: 999}, unknown},
	} {
		if d := cmp.Diff(c.want, rawFootprint(c.m.Append(nil)), cmp.AllowUnexported(footprint{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// A message whose head was not read, or not far enough, proves nothing.
func TestProofNeedsTheHead(t *testing.T) {
	raw := copyOf(here).Append(nil)[spiceproto.MiniHeaderSize:]
	const enough = 21 + 36 + 18 // base, DRAW_COPY, image descriptor
	for n := range enough + 10 {
		m := Message{Op: spiceproto.MsgDisplayDrawCopy, Size: uint32(len(raw) + 1000), Draw: true, Box: here}
		m.Effect = spiceproto.ParseEffect(m.Op, m.Size, raw[:min(n, len(raw))])
		if f := footprintOf(m); f.proved != (n >= enough) {
			t.Errorf("%d bytes of the head prove %+v", n, f)
		}
	}
	if f := footprintOf(Message{Op: spiceproto.MsgDisplayDrawCopy, Draw: true, Box: here}); f != (footprint{}) {
		t.Errorf("no head proves %+v", f)
	}
}

// Footprints to combine, each of one kind.
var (
	putHere   = footprint{proved: true, writes: here, overwrites: true}
	paintHere = footprint{proved: true, writes: here}
	mixHere   = footprint{proved: true, writes: here, reads: here}
	storeHere = footprint{proved: true, writes: here, overwrites: true, chained: true}
	onlyKept  = footprint{proved: true, chained: true}
)

// at moves what a footprint writes and, if it mixes, reads.
func (f footprint) at(box spiceproto.Rect) footprint {
	if f.reads == f.writes {
		f.reads = box
	}
	f.writes = box
	return f
}

func moving(to, from spiceproto.Rect) footprint {
	return footprint{proved: true, writes: to, reads: from}
}

// Each condition of commutes alone keeps two messages in their order, whichever
// comes first.
func TestProofCommutes(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b footprint
		want bool
	}{
		{"apart", putHere, putHere.at(there), true},
		{"side by side", putHere, putHere.at(beside), true},
		{"one above the other", putHere, putHere.at(above), true},
		{"one pixel in common", putHere, putHere.at(corner), false},
		{"the same place", putHere, putHere, false},
		{"paints in the same place", paintHere, paintHere, false},
		{"nothing known of one", putHere, footprint{writes: there}, false},
		{"nothing known of either", footprint{}, footprint{}, false},
		{"one chained", storeHere, putHere.at(there), true},
		{"both chained", storeHere, storeHere.at(there), false},
		{"a draw and one that only changes caches", putHere, onlyKept, true},
		{"a store and one that only changes caches", storeHere, onlyKept, false},
		{"two that only change caches", onlyKept, onlyKept, false},
		{"mixes apart", mixHere, mixHere.at(there), true},
		{"mixes in the same place", mixHere, mixHere, false},
		{"a copy and what it reads", moving(there, here), putHere, false},
		{"a copy and one pixel of what it reads", moving(there, here), putHere.at(corner), false},
		{"a copy and what is beside what it reads", moving(there, here), putHere.at(beside), true},
		{"a copy and what it writes", moving(there, here), putHere.at(there), false},
		{"two copies of the same place", moving(there, here), moving(beside, here), true},
		{"a copy of what another wrote", moving(there, here), moving(here, beside), false},
		{"a copy in its own place and a draw apart", moving(here, here), putHere.at(there), true},
	} {
		for _, p := range [][2]footprint{{c.a, c.b}, {c.b, c.a}} {
			if got := commutes(&p[0], &p[1]); got != c.want {
				t.Errorf("%s: commutes is %v", c.name, got)
			}
		}
	}
}

// Each condition of covers and droppable alone keeps a message.
func TestProofCovers(t *testing.T) {
	for _, c := range []struct {
		name         string
		newer, older footprint
		want         bool
	}{
		{"the same place", putHere, putHere, true},
		{"one pixel", putHere.at(corner), putHere, true},
		{"a paint", putHere, paintHere, true},
		{"a mix", putHere, mixHere, true},
		{"a copy", putHere, moving(here, there), true},
		{"by a store", storeHere, putHere, true},
		{"apart", putHere.at(there), putHere, false},
		{"beside", putHere.at(beside), putHere, false},
		{"by one that paints some pixels", paintHere, putHere, false},
		{"by a mix", mixHere, putHere, false},
		{"by a copy", moving(here, there), putHere, false},
		{"by one of which nothing is known", footprint{writes: here, overwrites: true}, putHere, false},
		{"a store", putHere, storeHere, false},
		{"one that only changes caches", putHere, onlyKept, false},
		{"one of which nothing is known", putHere, footprint{writes: here}, false},
	} {
		if got := covers(&c.newer, &c.older); got != c.want {
			t.Errorf("%s: covers is %v", c.name, got)
		}
	}
	for _, c := range []struct {
		name string
		f    footprint
		want bool
	}{
		{"put", putHere, true}, {"paint", paintHere, true}, {"mix", mixHere, true}, {"copy", moving(here, there), true},
		{"store", storeHere, false}, {"caches", onlyKept, false}, {"unknown", footprint{writes: here}, false},
		{"no pixel", footprint{proved: true}, false},
	} {
		if got := droppable(&c.f); got != c.want {
			t.Errorf("%s: droppable is %v", c.name, got)
		}
	}
}
