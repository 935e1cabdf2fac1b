package spiceproto

import "strconv"

// CursorType is the encoding of a cursor's pixels (SPICE_CURSOR_TYPE_* in
// spice/enums.h).
type CursorType uint8

// The cursor types.
const (
	CursorAlpha CursorType = iota
	CursorMono
	CursorColor4
	CursorColor8
	CursorColor16
	CursorColor24
	CursorColor32
)

var cursorTypeNames = [...]string{
	"alpha", "mono", "color4", "color8", "color16", "color24", "color32",
}

// String returns the type's name, or "cursor-N" for a number that has none.
func (t CursorType) String() string {
	if int(t) < len(cursorTypeNames) {
		return cursorTypeNames[t]
	}
	return "cursor-" + strconv.Itoa(int(t))
}

// Flags of a Cursor.
const (
	// CursorNone: there is no cursor, and neither header nor data.
	CursorNone = 1 << 0
	// CursorCacheMe: the client stores the cursor under Unique.
	CursorCacheMe = 1 << 1
	// CursorFromCache: the client has the cursor under Unique; there is no data.
	CursorFromCache = 1 << 2
)

// Cursor is the shape of the pointer: u16 flags, then, unless these have
// CursorNone, u64 unique, u8 type, u16 width, u16 height, u16 hot_spot_x, u16
// hot_spot_y, and the pixels up to the end of the message.
type Cursor struct {
	// Flags are the Cursor… bits. With CursorNone all else is zero.
	Flags uint16
	// Unique is the shape's number in the client's cache; 0 for none.
	Unique        uint64
	Type          CursorType
	Width, Height uint16
	HotX, HotY    uint16
	// Data aliases the parsed body.
	Data []byte
}

const cursorHeaderSize = 17

func (d *body) cursor() Cursor {
	c := Cursor{Flags: d.u16("cursor.flags")}
	if c.Flags&CursorNone != 0 {
		return c
	}
	c.Unique = d.u64("cursor.header.unique")
	c.Type = CursorType(d.u8("cursor.header.type"))
	c.Width, c.Height = d.u16("cursor.header.width"), d.u16("cursor.header.height")
	c.HotX, c.HotY = d.u16("cursor.header.hot_spot_x"), d.u16("cursor.header.hot_spot_y")
	c.Data = d.rest("cursor.data")
	return c
}

func (c Cursor) size() int {
	if c.Flags&CursorNone != 0 {
		return 2
	}
	return 2 + cursorHeaderSize + len(c.Data)
}

func (c Cursor) append(b []byte) []byte {
	b = le.AppendUint16(b, c.Flags)
	if c.Flags&CursorNone != 0 {
		return b
	}
	b = le.AppendUint64(b, c.Unique)
	b = append(b, byte(c.Type))
	b = appendU16s(b, []uint16{c.Width, c.Height, c.HotX, c.HotY})
	return append(b, c.Data...)
}

// cursorBody begins to decode a message of the cursor channel.
func cursorBody(op uint16, b []byte) body {
	return body{b: b, channel: ChannelCursor, direction: ServerToClient, opcode: op}
}

func (d *body) i16(field string) int16 { return int16(d.u16(field)) }

// CursorInit is the first message of a cursor channel (MSG_CURSOR_INIT): i16 x,
// i16 y, u16 trail_length, u16 trail_frequency, u8 visible, the cursor.
type CursorInit struct {
	X, Y int16
	// TrailLength and TrailFrequency are as in CursorTrail.
	TrailLength, TrailFrequency uint16
	// Visible is 0 while the guest hides the pointer.
	Visible uint8
	Cursor  Cursor
}

// ParseCursorInit decodes the body of MsgCursorInit. The error is a
// *DecodeError.
func ParseCursorInit(b []byte) (CursorInit, error) {
	d := cursorBody(MsgCursorInit, b)
	m := CursorInit{
		X: d.i16("position.x"), Y: d.i16("position.y"),
		TrailLength: d.u16("trail_length"), TrailFrequency: d.u16("trail_frequency"),
		Visible: d.u8("visible"), Cursor: d.cursor(),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m CursorInit) Append(b []byte) []byte {
	b = Header{MsgCursorInit, uint32(9 + m.Cursor.size())}.Append(b)
	b = appendU16s(b, []uint16{uint16(m.X), uint16(m.Y), m.TrailLength, m.TrailFrequency})
	b = append(b, m.Visible)
	return m.Cursor.append(b)
}

// CursorSet changes the pointer's shape (MSG_CURSOR_SET): i16 x, i16 y, u8
// visible, the cursor.
type CursorSet struct {
	X, Y int16
	// Visible is 0 while the guest hides the pointer.
	Visible uint8
	Cursor  Cursor
}

// ParseCursorSet decodes the body of MsgCursorSet. The error is a *DecodeError.
func ParseCursorSet(b []byte) (CursorSet, error) {
	d := cursorBody(MsgCursorSet, b)
	m := CursorSet{
		X: d.i16("position.x"), Y: d.i16("position.y"), Visible: d.u8("visible"),
		Cursor: d.cursor(),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m CursorSet) Append(b []byte) []byte {
	b = Header{MsgCursorSet, uint32(5 + m.Cursor.size())}.Append(b)
	b = appendU16s(b, []uint16{uint16(m.X), uint16(m.Y)})
	b = append(b, m.Visible)
	return m.Cursor.append(b)
}

// CursorMove moves the pointer (MSG_CURSOR_MOVE): i16 x, i16 y. A later one
// replaces an earlier one.
type CursorMove struct{ X, Y int16 }

// ParseCursorMove decodes the body of MsgCursorMove. The error is a
// *DecodeError.
func ParseCursorMove(b []byte) (CursorMove, error) {
	d := cursorBody(MsgCursorMove, b)
	m := CursorMove{X: d.i16("position.x"), Y: d.i16("position.y")}
	return m, d.err
}

// Append appends header and body to b.
func (m CursorMove) Append(b []byte) []byte {
	return appendU16s(Header{MsgCursorMove, 4}.Append(b), []uint16{uint16(m.X), uint16(m.Y)})
}

// CursorTrail sets the pointer's trail (MSG_CURSOR_TRAIL): u16 length, u16
// frequency.
type CursorTrail struct {
	// Length is 0 for no trail.
	Length    uint16
	Frequency uint16
}

// ParseCursorTrail decodes the body of MsgCursorTrail. The error is a
// *DecodeError.
func ParseCursorTrail(b []byte) (CursorTrail, error) {
	d := cursorBody(MsgCursorTrail, b)
	m := CursorTrail{Length: d.u16("length"), Frequency: d.u16("frequency")}
	return m, d.err
}

// Append appends header and body to b.
func (m CursorTrail) Append(b []byte) []byte {
	return appendU16s(Header{MsgCursorTrail, 4}.Append(b), []uint16{m.Length, m.Frequency})
}

// CursorInvalOne drops one shape from the client's cache (MSG_CURSOR_INVAL_ONE):
// u64 id.
type CursorInvalOne struct{ Unique uint64 }

// ParseCursorInvalOne decodes the body of MsgCursorInvalOne. The error is a
// *DecodeError.
func ParseCursorInvalOne(b []byte) (CursorInvalOne, error) {
	d := cursorBody(MsgCursorInvalOne, b)
	m := CursorInvalOne{Unique: d.u64("id")}
	return m, d.err
}

// Append appends header and body to b.
func (m CursorInvalOne) Append(b []byte) []byte {
	return le.AppendUint64(Header{MsgCursorInvalOne, 8}.Append(b), m.Unique)
}
