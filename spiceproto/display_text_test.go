package spiceproto

import "testing"

var textCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawText, ParseDrawText,
		DrawText{
			DrawBase: testBase, BackArea: testCopy.SrcArea,
			String: RasterString{Flags: StringRasterA1 | StringRasterTopDown, Glyphs: []Glyph{
				{
					RenderPos: Point{X: 1, Y: 2}, Origin: Point{X: 3, Y: -4}, Width: 9, Height: 2,
					Data: []byte{0xff, 0x80, 0x55, 0x00},
				},
				{Width: 0, Height: 7},
			}},
			ForeBrush: Brush{Type: BrushSolid, Color: 0x00112233},
			BackBrush: Brush{Type: BrushPattern, Pattern: testCached, Pos: Point{X: 5, Y: 6}},
			ForeMode:  RopPut, BackMode: RopPut,
		},
		`3701 80000000`+hexBase+`3f000000 0a000000 0b000000 0c000000 0d000000
		 01 33221100 02 6e000000 05000000 06000000 0800 0800
		 0200 09
		 01000000 02000000 03000000 fcffffff 0900 0200 ff80 5500
		 00000000 00000000 00000000 00000000 0000 0700`+hexCached,
	).drawnFrom(drawGenerators[MsgDisplayDrawText]),
}

func TestDisplayText(t *testing.T) { testPointerCodecs(t, textCodecs) }

// The rows of a glyph take whole bytes, whatever the depth.
func TestGlyphSizes(t *testing.T) {
	for _, c := range []struct {
		flags uint8
		width uint16
		row   int
	}{
		{StringRasterA1, 1, 1}, {StringRasterA1, 8, 1}, {StringRasterA1, 9, 2},
		{StringRasterA4, 1, 1}, {StringRasterA4, 2, 1}, {StringRasterA4, 3, 2},
		{StringRasterA8, 3, 3},
		{StringRasterA1 | StringRasterA8, 8, 1}, {StringRasterA4 | StringRasterA8, 2, 1},
		{StringRasterA8, 0xffff, 0xffff},
	} {
		m := DrawText{DrawBase: testBase, String: RasterString{Flags: c.flags, Glyphs: []Glyph{
			{Width: c.width, Height: 3, Data: make([]byte, 3*c.row)},
		}}}
		body := m.Append(nil)[MiniHeaderSize:]
		got, err := ParseDrawText(body)
		if err != nil || len(got.String.Glyphs) != 1 || len(got.String.Glyphs[0].Data) != 3*c.row {
			t.Errorf("%+v: %v", c, err)
		}
		_, err = ParseDrawText(body[:len(body)-1])
		wantReason(t, "short glyph", err, "str.glyphs.data", len(body)-3*c.row, ErrCount)
	}
}

func TestDrawTextErrors(t *testing.T) {
	const str = 47 // without brushes
	body := DrawText{DrawBase: testBase}.Append(nil)[MiniHeaderSize:]
	if m, err := ParseDrawText(body); err != nil || len(m.String.Glyphs) != 0 {
		t.Errorf("empty string: %+v, %v", m.String, err)
	}
	le.PutUint16(body[str:], 1)
	_, err := ParseDrawText(body)
	wantReason(t, "no depth", err, "str.flags", str+2, ErrValue)
	body[str+2] = StringRasterA8
	_, err = ParseDrawText(body)
	wantReason(t, "length", err, "str.length", str+3, ErrCount)
	le.PutUint32(body[21:], 0)
	_, err = ParseDrawText(body)
	wantReason(t, "no string", err, "str", 21, ErrPointer)
}
