package spiceproto

import (
	"bytes"
	"testing"
)

var surfaceCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayMode, ParseDisplayMode,
		DisplayMode{Width: 720, Height: 400, Bits: 32}, "6500 0c000000 d0020000 90010000 20000000"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplaySurfaceDestroy, ParseSurfaceDestroy,
		SurfaceDestroy{7}, "3b01 04000000 07000000"),
}

func TestDisplaySurfaces(t *testing.T) { testCodecs(t, surfaceCodecs) }

func TestDisplayQualityIndicator(t *testing.T) {
	wire := DisplayQualityIndicator{[]byte{1, 2}}.Append(nil)
	if want := fromHex(t, "4201 02000000 0102"); !bytes.Equal(wire, want) {
		t.Errorf("got %x, want %x", wire, want)
	}
	m, err := ParseDisplayQualityIndicator(wire[MiniHeaderSize:])
	if err != nil || !bytes.Equal(m.Data, []byte{1, 2}) {
		t.Errorf("%+v, %v", m, err)
	}
}
