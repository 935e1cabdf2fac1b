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
	d := inputsBody(ClientToServer, op, b)
	code := d.u32("code")
	return code, d.err
}

func appendKey(b []byte, op uint16, code uint32) []byte { return appendU32(b, op, code) }

// inputsBody begins to decode a message of the inputs channel.
func inputsBody(dir Direction, op uint16, b []byte) body {
	return body{b: b, channel: ChannelInputs, direction: dir, opcode: op}
}

// Keyboard modifiers, as bits.
const (
	ModifierScrollLock = 1 << 0
	ModifierNumLock    = 1 << 1
	ModifierCapsLock   = 1 << 2
)

// KeyModifiers tells which locks the guest's keyboard shows
// (MSG_INPUTS_KEY_MODIFIERS): u16.
type KeyModifiers struct {
	// Modifiers are the Modifier… bits.
	Modifiers uint16
}

// ParseKeyModifiers decodes the body of MsgInputsKeyModifiers. The error is a
// *DecodeError.
func ParseKeyModifiers(b []byte) (KeyModifiers, error) {
	d := inputsBody(ServerToClient, MsgInputsKeyModifiers, b)
	m := KeyModifiers{Modifiers: d.u16("modifiers")}
	return m, d.err
}

// Append appends header and body to b.
func (m KeyModifiers) Append(b []byte) []byte {
	return le.AppendUint16(Header{MsgInputsKeyModifiers, 2}.Append(b), m.Modifiers)
}

// ClientKeyModifiers sets the locks of the guest's keyboard
// (MSGC_INPUTS_KEY_MODIFIERS): u16.
type ClientKeyModifiers struct {
	// Modifiers are the Modifier… bits.
	Modifiers uint16
}

// ParseClientKeyModifiers decodes the body of MsgcInputsKeyModifiers. The error
// is a *DecodeError.
func ParseClientKeyModifiers(b []byte) (ClientKeyModifiers, error) {
	d := inputsBody(ClientToServer, MsgcInputsKeyModifiers, b)
	m := ClientKeyModifiers{Modifiers: d.u16("modifiers")}
	return m, d.err
}

// Append appends header and body to b.
func (m ClientKeyModifiers) Append(b []byte) []byte {
	return le.AppendUint16(Header{MsgcInputsKeyModifiers, 2}.Append(b), m.Modifiers)
}

// KeyScancode is a sequence of keyboard bytes (MSGC_INPUTS_KEY_SCANCODE), for
// servers with CapInputsKeyScancode.
type KeyScancode struct {
	// Codes are PC/AT set 1 bytes. They alias the parsed body.
	Codes []byte
}

// ParseKeyScancode takes the body of MsgcInputsKeyScancode, whatever it holds.
func ParseKeyScancode(b []byte) (KeyScancode, error) {
	d := inputsBody(ClientToServer, MsgcInputsKeyScancode, b)
	return KeyScancode{Codes: d.rest("code")}, d.err
}

// Append appends header and body to b.
func (m KeyScancode) Append(b []byte) []byte { return appendRest(b, MsgcInputsKeyScancode, m.Codes) }
