package spiceproto

import "testing"

var inputsCodecs = []codec{
	codecOf(ChannelInputs, ServerToClient, MsgInputsInit, ParseInputsInit,
		InputsInit{Modifiers: 2}, "6500 02000000 0200"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsKeyDown, ParseKeyDown,
		KeyDown{Scancode: 0x48e0}, "6500 04000000 e0480000"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsKeyUp, ParseKeyUp,
		KeyUp{Scancode: 0xc8e0}, "6600 04000000 e0c80000"),
}

func TestInputsMessages(t *testing.T) { testCodecs(t, inputsCodecs) }

func FuzzInputsMessages(f *testing.F) { fuzzCodecs(f, inputsCodecs) }

func TestInputsCapture(t *testing.T) {
	first := cut(t, golden(t, "inputs.bin"))[0]
	m, err := ParseInputsInit(first.body)
	if first.Type != MsgInputsInit || err != nil || m != (InputsInit{}) {
		t.Errorf("type %d, %+v, %v", first.Type, m, err)
	}
}
