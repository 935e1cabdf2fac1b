package spiceproto

import "testing"

// hexMask is a mask with its image at 34, where BLACKNESS and its like end.
const hexMask = " 01 06000000 07000000 22000000 "

var testMasked = DrawBlackness{DrawBase: testBase, Mask: testCopy.Mask}

var fillCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawFill, ParseDrawFill,
		DrawFill{
			DrawBase: testBase, Brush: Brush{Type: BrushSolid, Color: 0x00112233}, Rop: RopPut,
			Mask: Mask{Flags: MaskInvers, Pos: Point{X: 5, Y: 6}},
		},
		"2e01 29000000"+hexBase+"01 33221100 0800 01 05000000 06000000 00000000",
	).drawnFrom(drawGenerators[MsgDisplayDrawFill]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawFill, ParseDrawFill,
		DrawFill{
			DrawBase: testBase, Rop: RopXor,
			Brush: Brush{Type: BrushPattern, Pos: Point{X: 7, Y: 8}, Pattern: &Picture{
				Image:   Image{ID: 1, Type: ImageSurface, Width: 16, Height: 32},
				Payload: SurfaceData{9},
			}},
			Mask: Mask{Bitmap: testCached},
		},
		`2e01 59000000`+hexBase+`02 31000000 07000000 08000000 4000 00 00000000 00000000 47000000
		 0100000000000000 68 00 10000000 20000000 09000000`+hexCached,
	).drawnFrom(drawGenerators[MsgDisplayDrawFill]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawBlackness, ParseDrawBlackness, testMasked,
		"3201 34000000"+hexBase+hexMask+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawBlackness]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawWhiteness, ParseDrawWhiteness,
		DrawWhiteness(testMasked),
		"3301 34000000"+hexBase+hexMask+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawWhiteness]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawInvers, ParseDrawInvers,
		DrawInvers(testMasked),
		"3401 34000000"+hexBase+hexMask+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawInvers]),
}

func TestDisplayFills(t *testing.T) { testPointerCodecs(t, fillCodecs) }

func TestDisplayBrushErrors(t *testing.T) {
	body := func(brush ...byte) []byte {
		b := DrawBlackness{DrawBase: testBase}.Append(nil)[MiniHeaderSize:][:21]
		return append(append(b, brush...), make([]byte, 40)...)
	}
	_, err := ParseDrawFill(body(3))
	wantReason(t, "undefined brush", err, "brush.type", 21, ErrValue)
	_, err = ParseDrawFill(body(2, 0, 0, 0, 0))
	wantReason(t, "pattern without image", err, "brush.pattern.pat", 22, ErrPointer)
	if m, err := ParseDrawFill(body(0)); err != nil || m.Brush != (Brush{}) {
		t.Errorf("no brush: %+v, %v", m.Brush, err)
	}
}

func TestDisplayClipErrors(t *testing.T) {
	base := DrawBlackness{DrawBase: testBase}.Append(nil)[MiniHeaderSize:][:20]
	_, err := ParseDrawBlackness(append(base, 2, 0, 0, 0, 0))
	wantReason(t, "undefined clip", err, "clip.type", 20, ErrValue)
	_, err = ParseDrawBlackness(append(append(base, 1, 3, 0, 0, 0), make([]byte, 47)...))
	wantReason(t, "list beyond the body", err, "clip.num_rects", 25, ErrCount)
	_, err = ParseDrawBlackness(append(base, 1, 0xff, 0xff, 0xff, 0xff))
	wantReason(t, "largest list", err, "clip.num_rects", 25, ErrCount)
}
