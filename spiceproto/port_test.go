package spiceproto

import "testing"

var portCodecs = []codec{
	codecOf(ChannelPort, ServerToClient, MsgPortInit, ParsePortInit,
		PortInit{Name: "com.x\x00", Opened: 1},
		"c900 0f000000 06000000 09000000 01 636f6d2e7800"),
	codecOf(ChannelPort, ServerToClient, MsgPortEvent, ParsePortEvent,
		PortEvent{PortBreak}, "ca00 01000000 02"),
	codecOf(ChannelPort, ClientToServer, MsgcPortEvent, ParseClientPortEvent,
		ClientPortEvent{PortClosed}, "c900 01000000 01"),
}

func TestPortMessages(t *testing.T) { testCodecs(t, portCodecs) }

func TestPortEventTypeString(t *testing.T) {
	for e, want := range map[PortEventType]string{
		PortOpened: "opened", PortClosed: "closed", PortBreak: "break", 3: "event-3",
	} {
		if e.String() != want {
			t.Errorf("%d: %q, want %q", e, e.String(), want)
		}
	}
}
