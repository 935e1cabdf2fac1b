package spiceproto

import (
	"math"
	"slices"
)

//go:generate go run ./internal/protodoc -o ../docs/protocol.md

// Unlimited is the Max of a message whose body the protocol does not bound.
const Unlimited = math.MaxUint32

// MessageSpec is what the grammar tells of one message type. The messages of
// the protocol are those of Grammar and no others.
type MessageSpec struct {
	// Channel is 0 for a message that every channel has.
	Channel   ChannelType
	Direction Direction
	Opcode    uint16
	// Name is how spice.proto spells it, without its prefix.
	Name string
	// Since is the spice-server release that introduced the message.
	Since string
	Gate  Gate
	// Min and Max bound the body, in bytes. Min holds the fixed part with every
	// variable part at its smallest. Max is Unlimited, or what the counts in the
	// body can announce, or what spice-server accepts from a client.
	Min, Max uint32
}

// Fixed reports whether every legal body has the same size.
func (s MessageSpec) Fixed() bool { return s.Min == s.Max }

// Gate is the capability that admits a message. The zero Gate admits always.
type Gate struct {
	By Advertiser
	// Bits is a set of channel capabilities, 1<<bit each; one of them suffices.
	Bits uint32
}

// Advertiser is the peer whose capabilities a Gate looks at.
type Advertiser uint8

// The advertisers.
const (
	NoGate Advertiser = iota
	ByClient
	ByServer
)

// String returns "none", "client" or "server".
func (a Advertiser) String() string {
	return enumName("advertiser", a, []string{"none", "client", "server"})
}

// admits reports whether the channel capabilities let the message pass.
func (g Gate) admits(client, server uint32) bool {
	switch g.By {
	case ByClient:
		return client&g.Bits != 0
	case ByServer:
		return server&g.Bits != 0
	}
	return true
}

// Caps returns the capabilities as they stand on the wire, nil for no gate.
func (g Gate) Caps() Caps {
	if g.By == NoGate {
		return nil
	}
	return Caps{g.Bits}
}

// Grammar returns every message type, those of all channels first, in a fresh
// slice.
func Grammar() []MessageSpec { return slices.Clone(grammar[:]) }

// LookupMessage returns the grammar of message type op, false if the channel
// has no such message in this direction. Channel 0, and a channel type nobody
// defines, have the messages of all channels only.
func LookupMessage(t ChannelType, d Direction, op uint16) (MessageSpec, bool) {
	if s := lookup(t, d, op); s != nil {
		return *s, true
	}
	return MessageSpec{}, false
}

// UnknownMessage is what MessageName returns for a type that has no name.
const UnknownMessage = "unknown"

// MessageName returns the name of message type op as spice.proto spells it,
// without its prefix ("SET_ACK", "DRAW_COPY"), or UnknownMessage. The set of
// names is bounded whatever a peer sends, so a name is fit for a metric label.
// Channel 0 knows the common messages only.
func MessageName(t ChannelType, d Direction, op uint16) string {
	if s := lookup(t, d, op); s != nil {
		return s.Name
	}
	return UnknownMessage
}

// The message types lie in four ranges, which the index below packs.
const (
	firstChannelOpcode = 101
	commonSlots        = int(MsgList) + 1
	lowSlots           = int(MsgDisplayStreamDestroyAll) - firstChannelOpcode + 1
	portSlots          = int(MsgPortEvent-MsgPortInit) + 1
	drawSlots          = int(MsgDisplayGLScanout2Unix-MsgDisplayDrawFill) + 1
	grammarSlots       = commonSlots + lowSlots + portSlots + drawSlots
)

// grammarIndex holds 1 + the index into grammar of each message, 0 for none. The
// messages of all channels stand under every channel.
var grammarIndex = indexGrammar()

// The index is a byte.
const _ = uint8(len(grammar))

func indexGrammar() (index [ChannelWebDAV + 1][2][grammarSlots]uint8) {
	for i, s := range grammar {
		for t := range index {
			if s.Channel == 0 || s.Channel == ChannelType(t) {
				index[t][s.Direction][grammarSlot(s.Opcode)] = uint8(i + 1)
			}
		}
	}
	return index
}

// grammarSlot returns where op stands in the index, or -1.
func grammarSlot(op uint16) int {
	i := int(op)
	switch {
	case i < commonSlots:
		return i
	case i >= firstChannelOpcode && i < firstChannelOpcode+lowSlots:
		return commonSlots + i - firstChannelOpcode
	case op >= MsgDisplayDrawFill && op <= MsgDisplayGLScanout2Unix:
		return commonSlots + lowSlots + portSlots + i - int(MsgDisplayDrawFill)
	case op >= MsgPortInit && op <= MsgPortEvent:
		return commonSlots + lowSlots + i - int(MsgPortInit)
	}
	return -1
}

func lookup(t ChannelType, d Direction, op uint16) *MessageSpec {
	slot := grammarSlot(op)
	if slot < 0 || d > ClientToServer {
		return nil
	}
	if !t.Valid() {
		t = 0
	}
	i := grammarIndex[t][d][slot]
	if i == 0 {
		return nil
	}
	return &grammar[i-1]
}
