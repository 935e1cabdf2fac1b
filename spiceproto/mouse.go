package spiceproto

// MouseMotion moves the pointer in MouseModeServer (MSGC_INPUTS_MOUSE_MOTION):
// i32 dx, i32 dy, u16 buttons_state. The server answers every fourth motion or
// position with MsgInputsMouseMotionAck.
type MouseMotion struct {
	// DX and DY are in pixels.
	DX, DY int32
	// Buttons has bit n-1 set while button n is down, with MousePress's numbers.
	Buttons uint16
}

// ParseMouseMotion decodes the body of MsgcInputsMouseMotion. The error is a
// *DecodeError.
func ParseMouseMotion(b []byte) (MouseMotion, error) {
	d := inputsBody(ClientToServer, MsgcInputsMouseMotion, b)
	m := MouseMotion{DX: d.i32("dx"), DY: d.i32("dy"), Buttons: d.u16("buttons_state")}
	return m, d.err
}

// Append appends header and body to b.
func (m MouseMotion) Append(b []byte) []byte {
	b = Header{MsgcInputsMouseMotion, 10}.Append(b)
	b = appendU32s(b, uint32(m.DX), uint32(m.DY))
	return le.AppendUint16(b, m.Buttons)
}

// MousePosition places the pointer in MouseModeClient
// (MSGC_INPUTS_MOUSE_POSITION): u32 x, u32 y, u16 buttons_state, u8 display_id.
type MousePosition struct {
	// X and Y are in pixels of the display.
	X, Y uint32
	// Buttons has bit n-1 set while button n is down, with MousePress's numbers.
	Buttons uint16
	// DisplayID is the id of the display channel.
	DisplayID uint8
}

// ParseMousePosition decodes the body of MsgcInputsMousePosition. The error is a
// *DecodeError.
func ParseMousePosition(b []byte) (MousePosition, error) {
	d := inputsBody(ClientToServer, MsgcInputsMousePosition, b)
	m := MousePosition{
		X: d.u32("x"), Y: d.u32("y"), Buttons: d.u16("buttons_state"), DisplayID: d.u8("display_id"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m MousePosition) Append(b []byte) []byte {
	b = Header{MsgcInputsMousePosition, 11}.Append(b)
	b = appendU32s(b, m.X, m.Y)
	b = le.AppendUint16(b, m.Buttons)
	return append(b, m.DisplayID)
}

// MousePress presses a mouse button (MSGC_INPUTS_MOUSE_PRESS): u8 button, u16
// buttons_state.
type MousePress struct {
	// Button: 1 left, 2 middle, 3 right, 4 wheel up, 5 wheel down, 6 side, 7 extra.
	Button uint8
	// Buttons has bit n-1 set while button n is down.
	Buttons uint16
}

// ParseMousePress decodes the body of MsgcInputsMousePress. The error is a
// *DecodeError.
func ParseMousePress(b []byte) (MousePress, error) { return parseButton(MsgcInputsMousePress, b) }

// Append appends header and body to b.
func (m MousePress) Append(b []byte) []byte { return appendButton(b, MsgcInputsMousePress, m) }

// MouseRelease releases a mouse button (MSGC_INPUTS_MOUSE_RELEASE).
type MouseRelease struct {
	// Button and Buttons are as in MousePress.
	Button  uint8
	Buttons uint16
}

// ParseMouseRelease decodes the body of MsgcInputsMouseRelease. The error is a
// *DecodeError.
func ParseMouseRelease(b []byte) (MouseRelease, error) {
	m, err := parseButton(MsgcInputsMouseRelease, b)
	return MouseRelease(m), err
}

// Append appends header and body to b.
func (m MouseRelease) Append(b []byte) []byte {
	return appendButton(b, MsgcInputsMouseRelease, MousePress(m))
}

func parseButton(op uint16, b []byte) (MousePress, error) {
	d := inputsBody(ClientToServer, op, b)
	m := MousePress{Button: d.u8("button"), Buttons: d.u16("buttons_state")}
	return m, d.err
}

func appendButton(b []byte, op uint16, m MousePress) []byte {
	b = append(Header{op, 3}.Append(b), m.Button)
	return le.AppendUint16(b, m.Buttons)
}
