package spiceproto

import "strconv"

// PortEventType is what happened to a port (SPICE_PORT_EVENT_* in
// spice/enums.h).
type PortEventType uint8

// The port events.
const (
	PortOpened PortEventType = 0
	PortClosed PortEventType = 1
	PortBreak  PortEventType = 2
)

// String returns the event's name, or "event-N" for a number that has none.
func (t PortEventType) String() string {
	switch t {
	case PortOpened:
		return "opened"
	case PortClosed:
		return "closed"
	case PortBreak:
		return "break"
	}
	return "event-" + strconv.Itoa(int(t))
}

// portBody begins to decode a message of a port channel.
func portBody(dir Direction, op uint16, b []byte) body {
	return body{b: b, channel: ChannelPort, direction: dir, opcode: op}
}

// PortInit is the first message of a port or webdav channel (MSG_PORT_INIT): u32
// name_size, ptr name, u8 opened. The name follows.
type PortInit struct {
	// Name is as it was sent: spice-server ends it with a NUL.
	Name string
	// Opened is 0 while the guest has not opened the port.
	Opened uint8
}

const portInitSize = 9

// ParsePortInit decodes the body of MsgPortInit. The error is a *DecodeError,
// which names the port channel.
func ParsePortInit(b []byte) (PortInit, error) {
	d := portBody(ServerToClient, MsgPortInit, b)
	m := PortInit{Name: string(d.pointer("name", d.u32("name_size"))), Opened: d.u8("opened")}
	return m, d.err
}

// Append appends header and body to b.
func (m PortInit) Append(b []byte) []byte {
	b = Header{MsgPortInit, uint32(portInitSize + len(m.Name))}.Append(b)
	b = append(appendPointer(b, m.Name, portInitSize), m.Opened)
	return append(b, m.Name...)
}

// PortEvent tells what the guest did with the port (MSG_PORT_EVENT): one u8.
type PortEvent struct{ Event PortEventType }

// ParsePortEvent decodes the body of MsgPortEvent. The error is a *DecodeError,
// which names the port channel.
func ParsePortEvent(b []byte) (PortEvent, error) {
	d := portBody(ServerToClient, MsgPortEvent, b)
	m := PortEvent{Event: PortEventType(d.u8("event"))}
	return m, d.err
}

// Append appends header and body to b.
func (m PortEvent) Append(b []byte) []byte {
	return append(Header{MsgPortEvent, 1}.Append(b), byte(m.Event))
}

// ClientPortEvent tells what the client did with the port (MSGC_PORT_EVENT): one
// u8.
type ClientPortEvent struct{ Event PortEventType }

// ParseClientPortEvent decodes the body of MsgcPortEvent. The error is a
// *DecodeError, which names the port channel.
func ParseClientPortEvent(b []byte) (ClientPortEvent, error) {
	d := portBody(ClientToServer, MsgcPortEvent, b)
	m := ClientPortEvent{Event: PortEventType(d.u8("event"))}
	return m, d.err
}

// Append appends header and body to b.
func (m ClientPortEvent) Append(b []byte) []byte {
	return append(Header{MsgcPortEvent, 1}.Append(b), byte(m.Event))
}
