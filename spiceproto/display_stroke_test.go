package spiceproto

import "testing"

var strokeCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawStroke, ParseDrawStroke,
		DrawStroke{
			DrawBase: testBase,
			Path: Path{
				Segments: []PathSegment{{PathBegin, 2}, {PathEnd | PathBezier, 1}},
				Points:   []FixPoint{{16, 32}, {-16, 48}, {1, 2}},
			},
			Attr:  LineAttr{Flags: LineStyled | LineStartWithGap, Style: []int32{16, -1}},
			Brush: Brush{Type: BrushSolid, Color: 0x00112233}, ForeMode: RopPut, BackMode: RopXor,
		},
		`3601 56000000`+hexBase+`28000000 0c 02 4e000000 01 33221100 0800 4000
		 02000000
		 01 02000000 10000000 20000000 f0ffffff 30000000
		 12 01000000 01000000 02000000
		 10000000 ffffffff`).drawnFrom(drawGenerators[MsgDisplayDrawStroke]),
}

func TestDisplayStroke(t *testing.T) { testPointerCodecs(t, strokeCodecs) }

func TestDrawStrokeErrors(t *testing.T) {
	const attr, path = 25, 31 // with neither style nor brush
	plain := DrawStroke{DrawBase: testBase, Path: Path{
		Segments: []PathSegment{{0, 1}}, Points: []FixPoint{{1, 2}},
	}}
	body := func(change func(b []byte)) []byte {
		b := plain.Append(nil)[MiniHeaderSize:]
		change(b)
		return b
	}
	_, err := ParseDrawStroke(body(func(b []byte) { le.PutUint32(b[21:], 0) }))
	wantReason(t, "no path", err, "path", 21, ErrPointer)
	_, err = ParseDrawStroke(body(func(b []byte) { le.PutUint32(b[path:], 3) }))
	wantReason(t, "segments", err, "path.num_segments", path+4, ErrCount)
	_, err = ParseDrawStroke(body(func(b []byte) { le.PutUint32(b[path:], 0xffffffff) }))
	wantReason(t, "most segments", err, "path.num_segments", path+4, ErrCount)
	_, err = ParseDrawStroke(body(func(b []byte) { le.PutUint32(b[path+5:], 2) }))
	wantReason(t, "points", err, "path.segments.count", path+9, ErrCount)

	styled := plain
	styled.Attr = LineAttr{Flags: LineStyled, Style: []int32{1}}
	b := styled.Append(nil)[MiniHeaderSize:]
	le.PutUint32(b[attr+2:], 0)
	_, err = ParseDrawStroke(b)
	wantReason(t, "style without lengths", err, "attr.style", attr+2, ErrPointer)
	b[attr+1] = 0
	if m, err := ParseDrawStroke(b); err != nil || m.Attr.Style != nil {
		t.Errorf("empty style: %+v, %v", m.Attr, err)
	}
}
