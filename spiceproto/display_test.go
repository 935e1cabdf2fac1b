package spiceproto

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var displayCodecs = []codec{
	codecOf(ChannelDisplay, ClientToServer, MsgcDisplayInit, ParseDisplayInit,
		DisplayInit{
			PixmapCacheID: 1, PixmapCacheSize: 20 << 20, GLZDictionaryID: 2, GLZWindowSize: 3 << 20,
		},
		"6500 0e000000 01 0000400100000000 02 00003000"),
	codecOf(ChannelDisplay, ClientToServer, MsgcDisplayPreferredCompression,
		ParsePreferredCompression,
		PreferredCompression{CompressionAutoLZ}, "6700 01000000 03"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplaySurfaceCreate, ParseSurfaceCreate,
		SurfaceCreate{ID: 7, Width: 720, Height: 400, Format: 32, Flags: 1},
		"3a01 14000000 07000000 d0020000 90010000 20000000 01000000"),
	codecOf(ChannelDisplay, ServerToClient, MsgDisplayMonitorsConfig, ParseMonitorsConfig,
		MonitorsConfig{MaxAllowed: 4, Monitors: []Monitor{
			{ID: 0, SurfaceID: 0, Width: 720, Height: 400},
			{ID: 1, SurfaceID: 2, Width: 640, Height: 480, X: 720, Y: 5, Flags: 6},
		}},
		`3d01 3c000000 0200 0400
		 00000000 00000000 d0020000 90010000 00000000 00000000 00000000
		 01000000 02000000 80020000 e0010000 d0020000 05000000 06000000`),
}

func TestDisplayMessages(t *testing.T) { testCodecs(t, displayCodecs) }

func FuzzDisplayMessages(f *testing.F) { fuzzCodecs(f, displayCodecs) }

func TestMonitorsConfigCount(t *testing.T) {
	_, err := ParseMonitorsConfig(fromHex(t, "ffff 0100"))
	if !errors.Is(err, ErrCount) {
		t.Errorf("error %v, want ErrCount", err)
	}
}

// The start-up sequence of a display channel, and what stands in it.
func TestDisplayCapture(t *testing.T) {
	messages := cut(t, golden(t, "display.bin"))
	var types []uint16
	for _, m := range messages {
		types = append(types, m.Type)
	}
	want := []uint16{
		MsgSetAck, MsgDisplayInvalAllPalettes, MsgDisplaySurfaceCreate, MsgDisplayDrawCopy,
		MsgDisplayMonitorsConfig, MsgDisplayMark, MsgPing, MsgPing,
		MsgDisplayDrawCopy, MsgDisplayDrawCopy,
	}
	if !slices.Equal(types, want) {
		t.Fatalf("types %v, want %v", types, want)
	}
	ack, err := ParseSetAck(messages[0].body)
	if err != nil || ack != (SetAck{Generation: 1, Window: 20}) {
		t.Errorf("%+v, %v", ack, err)
	}
	surface, err := ParseSurfaceCreate(messages[2].body)
	if err != nil || surface != (SurfaceCreate{Width: 720, Height: 400, Format: 32, Flags: 1}) {
		t.Errorf("%+v, %v", surface, err)
	}
	monitors, err := ParseMonitorsConfig(messages[4].body)
	wantMonitors := MonitorsConfig{MaxAllowed: 1, Monitors: []Monitor{{Width: 720, Height: 400}}}
	if diff := cmp.Diff(wantMonitors, monitors); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
