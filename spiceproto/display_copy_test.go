package spiceproto

import "testing"

// hexCopy is what DRAW_COPY and DRAW_BLEND have behind the base, with a source
// at 57 and a mask at 75.
const hexCopy = ` 39000000 0a000000 0b000000 0c000000 0d000000 0800 01
	01 06000000 07000000 4b000000 `

var testCopy = DrawCopy{
	DrawBase: testBase, Src: testCached, SrcArea: Rect{Top: 10, Left: 11, Bottom: 12, Right: 13},
	Rop: RopPut, Scale: ScaleNearest,
	Mask: Mask{Flags: MaskInvers, Pos: Point{X: 6, Y: 7}, Bitmap: testCached},
}

var copyCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayCopyBits, ParseCopyBits,
		CopyBits{
			DrawBase: DrawBase{Surface: 1, Box: testBase.Box, Clip: testClip},
			SrcPos:   Point{X: 0x11223344, Y: -1},
		},
		`6800 41000000 01000000 02000000 03000000 04000000 05000000 `+hexClip+`
		 44332211 ffffffff`).drawnFrom(drawGenerators[MsgDisplayCopyBits]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawCopy, ParseDrawCopy, testCopy,
		"3001 5d000000"+hexBase+hexCopy+hexCached+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawCopy]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawBlend, ParseDrawBlend, DrawBlend(testCopy),
		"3101 5d000000"+hexBase+hexCopy+hexCached+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawBlend]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawOpaque, ParseDrawOpaque,
		DrawOpaque{
			DrawBase: testBase, Src: testCached, SrcArea: testCopy.SrcArea,
			Brush: Brush{Type: BrushPattern, Pattern: testCached, Pos: Point{X: 20, Y: 21}},
			Rop:   RopAnd | RopInversRes, Scale: ScaleNearest,
		},
		`2f01 6a000000`+hexBase+`46000000 0a000000 0b000000 0c000000 0d000000
		 02 58000000 14000000 15000000 2004 01 00 00000000 00000000 00000000`+hexCached+hexCached,
	).drawnFrom(drawGenerators[MsgDisplayDrawOpaque]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawROP3, ParseDrawROP3,
		DrawROP3{
			DrawBase: testBase, Src: testCached, SrcArea: testCopy.SrcArea,
			Brush: Brush{Type: BrushSolid, Color: 0x00aabbcc}, ROP3: 0xca,
		},
		`3501 4f000000`+hexBase+`3d000000 0a000000 0b000000 0c000000 0d000000
		 01 ccbbaa00 ca 00 00 00000000 00000000 00000000`+hexCached,
	).drawnFrom(drawGenerators[MsgDisplayDrawROP3]),
}

func TestDisplayCopies(t *testing.T) { testPointerCodecs(t, copyCodecs) }
