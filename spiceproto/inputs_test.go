package spiceproto

import "testing"

var inputsCodecs = []codec{
	codecOf(ChannelInputs, ServerToClient, MsgInputsInit, ParseInputsInit,
		InputsInit{Modifiers: 2}, "6500 02000000 0200"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsKeyDown, ParseKeyDown,
		KeyDown{Scancode: 0x48e0}, "6500 04000000 e0480000"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsKeyUp, ParseKeyUp,
		KeyUp{Scancode: 0xc8e0}, "6600 04000000 e0c80000"),
	codecOf(ChannelInputs, ServerToClient, MsgInputsKeyModifiers, ParseKeyModifiers,
		KeyModifiers{ModifierScrollLock | ModifierCapsLock}, "6600 02000000 0500"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsKeyModifiers, ParseClientKeyModifiers,
		ClientKeyModifiers{ModifierNumLock}, "6700 02000000 0200"),
	codecOf(ChannelInputs, ClientToServer, MsgcInputsKeyScancode, ParseKeyScancode,
		KeyScancode{Codes: []byte{0xe1, 0x1d, 0x45, 0xe1, 0x9d, 0xc5}},
		"6800 06000000 e11d45e19dc5").openAfter(0),
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
