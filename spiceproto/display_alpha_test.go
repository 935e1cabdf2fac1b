package spiceproto

import "testing"

var alphaCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawTransparent, ParseDrawTransparent,
		DrawTransparent{
			DrawBase: testBase, Src: testCached, SrcArea: testCopy.SrcArea,
			SrcColor: 0x01020304, TrueColor: 0x05060708,
		},
		`3801 43000000`+hexBase+`31000000 0a000000 0b000000 0c000000 0d000000
		 04030201 08070605`+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawTransparent]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawAlphaBlend, ParseDrawAlphaBlend,
		DrawAlphaBlend{
			DrawBase: testBase, AlphaFlags: 2, Alpha: 0x80, Src: testCached,
			SrcArea: testCopy.SrcArea,
		},
		`3901 3d000000`+hexBase+`02 80 2b000000 0a000000 0b000000 0c000000 0d000000`+hexCached,
	).drawnFrom(drawGenerators[MsgDisplayDrawAlphaBlend]),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayDrawComposite, ParseDrawComposite,
		DrawComposite{
			DrawBase: testBase, Src: testCached, MaskBitmap: testCached,
			Flags:         3 | CompositeHasMask | CompositeHasSrcTransform | CompositeHasMaskTransform,
			SrcTransform:  Transform{1, 2, 3, 4, 5, 6},
			MaskTransform: Transform{7, 8, 9, 10, 11, 12},
			SrcOrigin:     Origin{X: -1, Y: 2}, MaskOrigin: Origin{X: 3, Y: 4},
		},
		`3e01 7d000000`+hexBase+`03003800 59000000 6b000000
		 01000000 02000000 03000000 04000000 05000000 06000000
		 07000000 08000000 09000000 0a000000 0b000000 0c000000
		 ffff 0200 0300 0400`+hexCached+hexCached).drawnFrom(drawGenerators[MsgDisplayDrawComposite]),
}

func TestDisplayAlpha(t *testing.T) { testPointerCodecs(t, alphaCodecs) }

// Each optional part of a composite is there if, and only if, its flag is.
func TestDrawCompositeParts(t *testing.T) {
	for flags, want := range map[uint32]int{
		0:                         21 + 16,
		CompositeHasMask:          21 + 16 + 4,
		CompositeHasSrcTransform:  21 + 16 + 24,
		CompositeHasMaskTransform: 21 + 16 + 24,
	} {
		m := DrawComposite{DrawBase: testBase, Flags: flags}
		if got := len(m.Append(nil)) - MiniHeaderSize; got != want {
			t.Errorf("flags %x: %d bytes, want %d", flags, got, want)
		}
	}
}
