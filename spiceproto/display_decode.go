package spiceproto

// displayParsers is indexed by Direction.
var displayParsers = [...]parsers{
	ServerToClient: {
		MsgDisplaySurfaceCreate:  parserOf(ParseSurfaceCreate),
		MsgDisplayMonitorsConfig: parserOf(ParseMonitorsConfig),
	},
	ClientToServer: {
		MsgcDisplayInit:                 parserOf(ParseDisplayInit),
		MsgcDisplayPreferredCompression: parserOf(ParsePreferredCompression),
	},
}

// decodeDisplay decodes a message of a display channel; ErrOpcode for one that
// has no layout here.
func decodeDisplay(dir Direction, opcode uint16, b []byte) (any, error) {
	if p := displayParsers[dir][opcode]; p != nil {
		return p(ChannelDisplay, b)
	}
	return nil, unknownOpcode(ChannelDisplay, dir, opcode)
}
