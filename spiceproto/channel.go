package spiceproto

import "strconv"

// ChannelType is the channel_type byte of a LinkMess (spice/enums.h).
type ChannelType uint8

// The channel types. Tunnel is reserved: no server offers it.
const (
	ChannelMain      ChannelType = 1
	ChannelDisplay   ChannelType = 2
	ChannelInputs    ChannelType = 3
	ChannelCursor    ChannelType = 4
	ChannelPlayback  ChannelType = 5
	ChannelRecord    ChannelType = 6
	ChannelTunnel    ChannelType = 7
	ChannelSmartcard ChannelType = 8
	ChannelUSBRedir  ChannelType = 9
	ChannelPort      ChannelType = 10
	ChannelWebDAV    ChannelType = 11
)

var channelNames = [...]string{
	ChannelMain:      "main",
	ChannelDisplay:   "display",
	ChannelInputs:    "inputs",
	ChannelCursor:    "cursor",
	ChannelPlayback:  "playback",
	ChannelRecord:    "record",
	ChannelTunnel:    "tunnel",
	ChannelSmartcard: "smartcard",
	ChannelUSBRedir:  "usbredir",
	ChannelPort:      "port",
	ChannelWebDAV:    "webdav",
}

// Valid reports whether t is one of the types above.
func (t ChannelType) Valid() bool { return t >= ChannelMain && t <= ChannelWebDAV }

// String returns the name spice-server and spice-gtk use in their logs, or
// "channel-N" for a number that has none.
func (t ChannelType) String() string {
	if t.Valid() {
		return channelNames[t]
	}
	return "channel-" + strconv.Itoa(int(t))
}

// Direction tells which way a message travels.
type Direction uint8

// The two directions of a channel.
const (
	ServerToClient Direction = iota
	ClientToServer
)

// String returns "s2c" or "c2s".
func (d Direction) String() string {
	switch d {
	case ServerToClient:
		return "s2c"
	case ClientToServer:
		return "c2s"
	}
	return "direction-" + strconv.Itoa(int(d))
}
