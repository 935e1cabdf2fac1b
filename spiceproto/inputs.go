package spiceproto

// InputsInit is the first message of the inputs channel (MSG_INPUTS_INIT): u16
// modifiers, bit 0 scroll, 1 num, 2 caps lock.
type InputsInit struct{ Modifiers uint16 }

// ParseInputsInit decodes the body of MsgInputsInit. The error is a
// *DecodeError.
func ParseInputsInit(b []byte) (InputsInit, error) {
	d := body{b: b, channel: ChannelInputs, direction: ServerToClient, opcode: MsgInputsInit}
	m := InputsInit{Modifiers: d.u16("keyboard_modifiers")}
	return m, d.err
}

// Append appends header and body to b.
func (m InputsInit) Append(b []byte) []byte {
	b = Header{MsgInputsInit, 2}.Append(b)
	return le.AppendUint16(b, m.Modifiers)
}

// KeyDown presses a key (MSGC_INPUTS_KEY_DOWN): u32 scancode, PC/AT set 1, up to
// four bytes with the low one first; a zero byte ends it.
type KeyDown struct{ Scancode uint32 }

// ParseKeyDown decodes the body of MsgcInputsKeyDown. The error is a
// *DecodeError.
func ParseKeyDown(b []byte) (KeyDown, error) {
	code, err := parseKey(MsgcInputsKeyDown, b)
	return KeyDown{code}, err
}

// Append appends header and body to b.
func (m KeyDown) Append(b []byte) []byte { return appendKey(b, MsgcInputsKeyDown, m.Scancode) }

// KeyUp releases a key (MSGC_INPUTS_KEY_UP). Its scancode is the one of the
// press with bit 7 set in the last byte.
type KeyUp struct{ Scancode uint32 }

// ParseKeyUp decodes the body of MsgcInputsKeyUp. The error is a *DecodeError.
func ParseKeyUp(b []byte) (KeyUp, error) {
	code, err := parseKey(MsgcInputsKeyUp, b)
	return KeyUp{code}, err
}

// Append appends header and body to b.
func (m KeyUp) Append(b []byte) []byte { return appendKey(b, MsgcInputsKeyUp, m.Scancode) }

func parseKey(op uint16, b []byte) (uint32, error) {
	d := body{b: b, channel: ChannelInputs, direction: ClientToServer, opcode: op}
	code := d.u32("code")
	return code, d.err
}

func appendKey(b []byte, op uint16, code uint32) []byte {
	return le.AppendUint32(Header{op, 4}.Append(b), code)
}
