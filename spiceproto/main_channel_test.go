package spiceproto

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

var mainCodecs = []codec{
	codecOf(ChannelMain, ServerToClient, MsgMainInit, ParseMainInit,
		MainInit{
			SessionID: 0xba70490c, DisplayChannelsHint: 1, SupportedMouseModes: 3,
			CurrentMouseMode: 1, AgentConnected: 1, AgentTokens: 10, MultiMediaTime: 1041187,
			RAMHint: 50323456,
		},
		`6700 20000000 0c4970ba 01000000 03000000 01000000
		 01000000 0a000000 23e30f00 00e0ff02`),
	codecOf(ChannelMain, ServerToClient, MsgMainChannelsList, ParseChannelsList,
		ChannelsList{[]ChannelID{{ChannelDisplay, 0}, {ChannelCursor, 0}, {ChannelUSBRedir, 1}}},
		"6800 0a000000 03000000 0200 0400 0901"),
	codecOf(ChannelMain, ServerToClient, MsgMainMouseMode, ParseMouseMode,
		MouseMode{Supported: MouseModeServer | MouseModeClient, Current: MouseModeClient},
		"6900 04000000 0300 0200"),
	codecOf(ChannelMain, ServerToClient, MsgMainMultiMediaTime, ParseMultiMediaTime,
		MultiMediaTime{Time: 1041187}, "6a00 04000000 23e30f00"),
	codecOf(ChannelMain, ServerToClient, MsgMainName, ParseMainName,
		MainName{"QEMU 7.2.22\x00"},
		"7100 10000000 0c000000 51454d5520372e322e323200"),
	codecOf(ChannelMain, ServerToClient, MsgMainUUID, ParseMainUUID,
		MainUUID{[16]byte{0x5a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		"7200 10000000 5a0102030405060708090a0b0c0d0e0f"),
	codecOf(ChannelMain, ClientToServer, MsgcMainClientInfo, ParseClientInfo,
		ClientInfo{CacheSize: 0x1400000}, "6500 08000000 0000400100000000"),
	codecOf(ChannelMain, ClientToServer, MsgcMainMouseModeRequest, ParseMouseModeRequest,
		MouseModeRequest{Mode: MouseModeClient}, "6900 02000000 0200"),
	codecOf(ChannelMain, ClientToServer, MsgcMainQualityIndicator, ParseMainQualityIndicator,
		MainQualityIndicator{Data: []byte{1, 2}}, "7000 02000000 0102").openAfter(0),
}

func TestMainMessages(t *testing.T) { testCodecs(t, mainCodecs) }

func FuzzMainMessages(f *testing.F) { fuzzCodecs(f, mainCodecs) }

func TestAppendAttachChannels(t *testing.T) {
	want := fromHex(t, "6800 00000000")
	if got := AppendAttachChannels(nil); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestMainCapture(t *testing.T) {
	var types []uint16
	var init MainInit
	var list ChannelsList
	for _, m := range cut(t, golden(t, "main.bin")) {
		types = append(types, m.Type)
		var err error
		switch m.Type {
		case MsgMainInit:
			init, err = ParseMainInit(m.body)
		case MsgMainChannelsList:
			list, err = ParseChannelsList(m.body)
		case MsgPing:
			_, err = ParsePing(m.body)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if init.SessionID == 0 || init.DisplayChannelsHint != 1 || init.AgentTokens != 10 {
		t.Errorf("init %+v", init)
	}
	wantChannels := []ChannelID{{ChannelDisplay, 0}, {ChannelCursor, 0}, {ChannelInputs, 0}}
	if !slices.Equal(list.Channels, wantChannels) {
		t.Errorf("channels %v", list.Channels)
	}
	wantTypes := []uint16{
		MsgMainInit, MsgMainName, MsgMainUUID, MsgPing, MsgPing, MsgMainChannelsList,
	}
	if len(types) < len(wantTypes) || !slices.Equal(types[:len(wantTypes)], wantTypes) {
		t.Errorf("types %v", types)
	}
}

// A count may not make the parser allocate for channels that are not there.
func TestChannelsListCount(t *testing.T) {
	_, err := ParseChannelsList(fromHex(t, "ffffffff 0200"))
	if !errors.Is(err, ErrCount) {
		t.Errorf("error %v, want ErrCount", err)
	}
}
