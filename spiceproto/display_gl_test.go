package spiceproto

import "testing"

var glCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayGLScanoutUnix, ParseGLScanoutUnix,
		GLScanoutUnix{
			Width: 640, Height: 480, Stride: 2560, FourCC: 0x34325258, Flags: GLScanoutTopDown,
		},
		"4001 14000000 80020000 e0010000 000a0000 58523234 01000000"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayGLDraw, ParseGLDraw,
		GLDraw{X: 1, Y: 2, Width: 3, Height: 4},
		"4101 10000000 01000000 02000000 03000000 04000000"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayGLScanout2Unix, ParseGLScanout2Unix,
		GLScanout2Unix{
			Width: 640, Height: 480, FourCC: 0x34325258, Flags: GLScanoutTopDown,
			Modifier: 0x1122334455667788, Planes: []GLPlane{{0, 2560}, {5, 6}},
		},
		`4301 29000000 80020000 e0010000 58523234 01000000 02 8877665544332211
		 00000000 000a0000 05000000 06000000`),
}

func TestDisplayGL(t *testing.T) { testCodecs(t, glCodecs) }
