package dump

import (
	"time"

	"spicepacer/spiceproto"
)

// Kind tells what a Record is about.
type Kind uint8

// The kinds of records.
const (
	// Link is a part of the link stage.
	Link Kind = iota
	// Message is a SPICE message.
	Message
	// Event is what a trace of the proxy tells beside messages.
	Event
	// Notice tells what could not be read, and why.
	Notice
	// Finding tells that the message before it is not admitted where it stands.
	Finding
)

var kindNames = [...]string{"link", "message", "event", "notice", "finding"}

// String returns the kind as --json spells it.
func (k Kind) String() string { return kindNames[k] }

// Record is one line of a dump.
type Record struct {
	Kind Kind
	// Time is when its last byte was captured, or when the proxy wrote it down.
	Time time.Time
	// Conn counts the TCP connections of a capture from 0, as Wireshark does, and
	// Packet is the number of the packet that completed the record; 0 in traces.
	Conn, Packet int
	// Channel and ID are zero until the link message has told them.
	Channel   spiceproto.ChannelType
	ID        uint8
	Direction spiceproto.Direction
	Opcode    uint16
	// Name is the message's, the link stage's step, the event, or the rule that was
	// broken.
	Name string
	// Size counts the bytes of the body, Header those of a message's header.
	Size, Header int
	// Full is the 18-byte header's own part; nil with the header of 6 bytes.
	Full *FullHeader
	// Body is the message's, valid while the record is being visited; nil in
	// traces, which have no payload.
	Body []byte
	// Fields is a struct or map of what was decoded, nil if nothing was.
	Fields any
	// Text is a notice's or a finding's.
	Text string
	// Err is why the message could not be decoded.
	Err error
}

// FullHeader is what a peer without MINI_HEADER adds to each message.
type FullHeader struct {
	Serial uint64
	// SubList is where in the body the list of sub-messages is; 0: none.
	SubList uint32
}

// Visit takes the records of a dump in order. It may stop the dump with an error.
type Visit func(*Record) error
