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
