package dump

import "spicepacer/spiceproto"

// decode returns the fields of a message, nil if there is no parser for it.
func decode(t spiceproto.ChannelType, d spiceproto.Direction, op uint16, body []byte) (any, error) {
	if t == spiceproto.ChannelDisplay && d == spiceproto.ServerToClient && spiceproto.IsDraw(op) {
		return spiceproto.ParseDrawHead(op, uint32(len(body)), body)
	}
	if parse := parsers[message{0, d, op}]; parse != nil {
		return parse(body)
	}
	if parse := parsers[message{t, d, op}]; parse != nil {
		return parse(body)
	}
	return nil, nil
}

// message names a message; channel 0 stands for all.
type message struct {
	channel   spiceproto.ChannelType
	direction spiceproto.Direction
	opcode    uint16
}

const (
	down = spiceproto.ServerToClient
	up   = spiceproto.ClientToServer
)

var parsers = map[message]func([]byte) (any, error){
	{0, down, spiceproto.MsgSetAck}: any1(spiceproto.ParseSetAck),
	{0, down, spiceproto.MsgPing}:   any1(spiceproto.ParsePing),
	{0, up, spiceproto.MsgcAckSync}: any1(spiceproto.ParseAckSync),
	{0, up, spiceproto.MsgcPong}:    any1(spiceproto.ParsePong),

	{spiceproto.ChannelMain, down, spiceproto.MsgMainInit}:         any1(spiceproto.ParseMainInit),
	{spiceproto.ChannelMain, down, spiceproto.MsgMainChannelsList}: any1(spiceproto.ParseChannelsList),

	{spiceproto.ChannelDisplay, up, spiceproto.MsgcDisplayInit}: any1(spiceproto.ParseDisplayInit),
	{spiceproto.ChannelDisplay, up, spiceproto.MsgcDisplayPreferredCompression}: any1(
		spiceproto.ParsePreferredCompression),
	{spiceproto.ChannelDisplay, down, spiceproto.MsgDisplaySurfaceCreate}:  any1(spiceproto.ParseSurfaceCreate),
	{spiceproto.ChannelDisplay, down, spiceproto.MsgDisplayMonitorsConfig}: any1(spiceproto.ParseMonitorsConfig),

	{spiceproto.ChannelInputs, down, spiceproto.MsgInputsInit}:   any1(spiceproto.ParseInputsInit),
	{spiceproto.ChannelInputs, up, spiceproto.MsgcInputsKeyDown}: any1(spiceproto.ParseKeyDown),
	{spiceproto.ChannelInputs, up, spiceproto.MsgcInputsKeyUp}:   any1(spiceproto.ParseKeyUp),
}

// any1 hides the type a parser returns.
func any1[T any](parse func([]byte) (T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return parse(b) }
}
