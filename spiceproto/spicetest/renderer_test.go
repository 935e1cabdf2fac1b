package spicetest_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// screen is a renderer with a primary surface of 10 × 10 cells that has had
// some messages.
func screen(t *testing.T, messages ...[]byte) *spicetest.Renderer {
	t.Helper()
	r := spicetest.NewRenderer(1)
	create := spiceproto.SurfaceCreate{Width: 10, Height: 10, Format: 32, Flags: 1}.Append(nil)
	for i, m := range append([][]byte{create}, messages...) {
		if err := r.Apply(uint64(i+1), m); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func square(left, side int32) spiceproto.DrawBase {
	return spiceproto.DrawBase{Box: spiceproto.Rect{Left: left, Right: left + side, Bottom: side}}
}

func filled(left, side int32, colour uint32) []byte {
	return spiceproto.DrawFill{
		DrawBase: square(left, side), Rop: spiceproto.RopPut,
		Brush: spiceproto.Brush{Type: spiceproto.BrushSolid, Color: colour},
	}.Append(nil)
}

// imageDraw draws an image of 4 × 4 pixels.
func imageDraw(p spiceproto.Picture) []byte {
	p.Width, p.Height = 4, 4
	return spiceproto.DrawCopy{
		DrawBase: square(0, 4), Src: &p, SrcArea: spiceproto.Rect{Bottom: 4, Right: 4}, Rop: spiceproto.RopPut,
	}.Append(nil)
}

// What no client could draw is an error, and so is what no viewer should see.
func TestRendererRefuses(t *testing.T) {
	picture := func(kind spiceproto.ImageType, payload spiceproto.ImagePayload) []byte {
		return imageDraw(spiceproto.Picture{Image: spiceproto.Image{ID: 5, Type: kind}, Payload: payload})
	}
	glz := func(id uint64) []byte {
		return picture(spiceproto.ImageGLZRGB, spiceproto.EncodedData{Data: spiceproto.GLZHeader{ID: id}.Append(nil)})
	}
	lossy := imageDraw(spiceproto.Picture{
		Image: spiceproto.Image{ID: 5, Type: spiceproto.ImageJPEG, Flags: spiceproto.ImageCacheMe}, Payload: spiceproto.EncodedData{},
	})
	elsewhere := spiceproto.DrawInvers{DrawBase: spiceproto.DrawBase{Surface: 3, Box: square(0, 4).Box}}.Append(nil)
	for _, c := range []struct {
		before, m []byte
		want      string
	}{
		{nil, picture(spiceproto.ImageFromCache, nil), "not in the cache"},
		{lossy, picture(spiceproto.ImageFromCacheLossless, nil), "not in the cache"},
		{nil, picture(spiceproto.ImageLZPLT, spiceproto.LZPLTData{Flags: spiceproto.BitmapPaletteFromCache}), "not in the cache"},
		{nil, picture(spiceproto.ImageSurface, spiceproto.SurfaceData{Surface: 3}), "surface 3"},
		{glz(1), glz(3), "GLZ image 3 comes after 1"},
		{glz(1), glz(1), "GLZ image 1 comes after 1"},
		{nil, elsewhere, "surface 3"},
		{nil, spiceproto.SurfaceDestroy{ID: 3}.Append(nil), "surface 3"},
		{nil, spiceproto.StreamData{ID: 3}.Append(nil), "stream 3"},
		{nil, spiceproto.StreamDestroy{ID: 3}.Append(nil), "stream 3"},
		{nil, spiceproto.InvalPalette{ID: 3}.Append(nil), "palette 3"},
		{nil, spiceproto.InvalList{Resources: []spiceproto.Resource{{Type: 1, ID: 3}}}.Append(nil), "image 3"},
		{spiceproto.Ping{ID: 2}.Append(nil), spiceproto.Ping{ID: 1}.Append(nil), "PING 1"},
		{nil, imageDraw(spiceproto.Picture{})[:30], ""},
	} {
		r := screen(t)
		if c.before != nil {
			if err := r.Apply(2, c.before); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Apply(3, c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v", c.want, err)
		}
	}
	r := screen(t)
	if err := r.Apply(9, filled(0, 4, 1)); err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(8, filled(3, 4, 1)); err == nil || !strings.Contains(err.Error(), "paints over message 9") {
		t.Errorf("an older message over a newer one: %v", err)
	}
}

// Two renderers differ if and only if a message changed something.
func TestRendererDiff(t *testing.T) {
	base := screen(t)
	for name, m := range map[string][]byte{
		"fill":      filled(2, 3, 7),
		"invers":    spiceproto.DrawInvers{DrawBase: square(0, 10)}.Append(nil),
		"copy bits": spiceproto.CopyBits{DrawBase: square(5, 5)}.Append(nil),
		"stored": imageDraw(spiceproto.Picture{
			Image: spiceproto.Image{ID: 5, Type: spiceproto.ImageLZRGB, Flags: spiceproto.ImageCacheMe}, Payload: spiceproto.EncodedData{},
		}),
		"surface": spiceproto.SurfaceCreate{ID: 1, Width: 3, Height: 3}.Append(nil),
		"stream":  spiceproto.StreamCreate{ID: 1, Dest: square(0, 2).Box}.Append(nil),
		"mark":    spiceproto.Empty{Opcode: spiceproto.MsgDisplayMark}.Append(nil),
		"ping":    spiceproto.Ping{ID: 1}.Append(nil),
	} {
		if d := screen(t, m).Diff(base); d == "" {
			t.Errorf("%s makes no difference", name)
		}
		if d := screen(t, m).Diff(screen(t, m)); d != "" {
			t.Errorf("%s twice: %s", name, d)
		}
	}
	if d := screen(t, spiceproto.InvalList{}.Append(nil)).Diff(base); d != "" {
		t.Errorf("an empty INVAL_LIST makes a difference: %s", d)
	}
}

// A renderer follows every script.
func TestScriptCanBeRendered(t *testing.T) {
	for seed := range uint64(300) {
		s := spicetest.NewScript(rand.New(rand.NewPCG(seed, 5)).IntN)
		r := spicetest.NewRenderer(s.Grain)
		for n := range uint64(300) {
			if err := r.Apply(n+1, s.Next()); err != nil {
				t.Fatalf("script %d: %v", seed, err)
			}
		}
	}
}
