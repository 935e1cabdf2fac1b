package spiceproto

import (
	"testing"

	"pgregory.net/rapid"
)

var streamCodecs = []codec{
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayStreamCreate, ParseStreamCreate,
		StreamCreate{
			SurfaceID: 0, ID: 49, Flags: StreamTopDown, Codec: VideoVP8, Stamp: 0x1122334455667788,
			StreamWidth: 1, StreamHeight: 2, SrcWidth: 3, SrcHeight: 4,
			Dest: Rect{Top: 5, Left: 6, Bottom: 7, Right: 8}, Clip: testClip,
		},
		`7a00 57000000 00000000 31000000 01 02 8877665544332211
		 01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000`+hexClip,
	).drawnFrom(rapid.Custom(func(t *rapid.T) message {
		return StreamCreate{
			SurfaceID: rapid.Uint32().Draw(t, "surface"), ID: rapid.Uint32().Draw(t, "id"),
			Codec: rapid.Make[VideoCodec]().Draw(t, "codec"), Stamp: rapid.Uint64().Draw(t, "stamp"),
			SrcWidth: rapid.Uint32().Draw(t, "width"), Dest: rapid.Make[Rect]().Draw(t, "dest"),
			Clip: genClip(t),
		}
	})),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayStreamData, ParseStreamData,
		StreamData{ID: 1, MultiMediaTime: 0x11223344, Data: []byte{0xaa, 0xbb, 0xcc}},
		"7b00 0f000000 01000000 44332211 03000000 aabbcc"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayStreamClip, ParseStreamClip,
		StreamClip{ID: 2, Clip: testClip}, "7c00 29000000 02000000"+hexClip,
	).drawnFrom(rapid.Custom(func(t *rapid.T) message {
		return StreamClip{ID: rapid.Uint32().Draw(t, "id"), Clip: genClip(t)}
	})),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayStreamDestroy, ParseStreamDestroy,
		StreamDestroy{ID: 3}, "7d00 04000000 03000000"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayStreamDataSized, ParseStreamDataSized,
		StreamDataSized{
			ID: 1, MultiMediaTime: 2, Width: 3, Height: 4,
			Dest: Rect{Top: 5, Left: 6, Bottom: 7, Right: 8}, Data: []byte{0xaa},
		},
		`3c01 25000000 01000000 02000000 03000000 04000000
		 05000000 06000000 07000000 08000000 01000000 aa`),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayStreamActivateReport, ParseStreamActivateReport,
		StreamActivateReport{StreamID: 1, UniqueID: 2, MaxWindow: 5, Timeout: 1000},
		"3f01 10000000 01000000 02000000 05000000 e8030000"),
	codecOf(ChannelDisplay, ClientToServer, MsgcDisplayStreamReport, ParseStreamReport,
		StreamReport{
			StreamID: 1, UniqueID: 2, StartTime: 3, EndTime: 4, Frames: 5,
			Drops: StreamReportCannotDecode, LastFrameDelay: -6, AudioDelay: 7,
		},
		`6600 20000000 01000000 02000000 03000000 04000000 05000000 ffffffff faffffff 07000000`),
	codecOf(ChannelDisplay, ClientToServer, MsgcDisplayPreferredVideoCodecType,
		ParsePreferredVideoCodecs,
		PreferredVideoCodecs{[]VideoCodec{VideoH264, VideoMJPEG}}, "6900 03000000 02 03 01"),
}

func TestDisplayStreams(t *testing.T) { testCodecs(t, streamCodecs) }

func TestVideoCodecString(t *testing.T) {
	for v, want := range map[VideoCodec]string{
		VideoMJPEG: "mjpeg", VideoVP8: "vp8", VideoH264: "h264", VideoVP9: "vp9", VideoH265: "h265",
		0: "codec-0", 6: "codec-6",
	} {
		if v.String() != want {
			t.Errorf("%d: %q, want %q", v, v.String(), want)
		}
	}
}
