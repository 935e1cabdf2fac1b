package spiceproto

import "testing"

var mouseCodecs = []codec{
	codecOf(ChannelInputs, ClientToServer, MsgcInputsMouseMotion, ParseMouseMotion,
		MouseMotion{DX: -2, DY: 3, Buttons: 1}, "6f00 0a000000 feffffff 03000000 0100"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsMousePosition, ParseMousePosition,
		MousePosition{X: 640, Y: 480, Buttons: 4, DisplayID: 1},
		"7000 0b000000 80020000 e0010000 0400 01"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsMousePress, ParseMousePress,
		MousePress{Button: 3, Buttons: 4}, "7100 03000000 03 0400"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsMouseRelease, ParseMouseRelease,
		MouseRelease{Button: 3, Buttons: 0}, "7200 03000000 03 0000"),
}

func TestMouseMessages(t *testing.T) { testCodecs(t, mouseCodecs) }
