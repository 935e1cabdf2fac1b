package firewall

import "spicepacer/spiceproto"

// opcodes is a set of message types. It has room for all that the grammar names.
type opcodes [6]uint64

func (s *opcodes) add(op uint16) { s[op/64] |= 1 << (op % 64) }

func (s *opcodes) has(op uint16) bool {
	return int(op/64) < len(s) && s[op/64]>>(op%64)&1 != 0
}

// allowlist holds what the grammar has for each channel type and direction, the
// messages of all channels included.
var allowlist = deriveAllowlist()

func deriveAllowlist() (list [spiceproto.ChannelWebDAV + 1][2]opcodes) {
	for _, m := range spiceproto.Grammar() {
		for t := range list {
			if m.Channel == 0 || m.Channel == spiceproto.ChannelType(t) {
				list[t][m.Direction].add(m.Opcode)
			}
		}
	}
	// Nobody defines a tunnel's messages, so none is known, the common ones
	// included.
	list[spiceproto.ChannelTunnel] = [2]opcodes{}
	return list
}

// known returns the messages of a channel; it has none if nobody defines its
// type.
func known(t spiceproto.ChannelType, d spiceproto.Direction) *opcodes {
	if !t.Valid() {
		return new(opcodes)
	}
	return &allowlist[t][d]
}

// unmodelled tells of channels that Kerbside's proxy has no list for: it counts
// each of their messages and lets them through. Here only those count that the
// grammar does not know.
func unmodelled(t spiceproto.ChannelType) bool {
	switch t {
	case spiceproto.ChannelRecord, spiceproto.ChannelSmartcard, spiceproto.ChannelTunnel:
		return true
	}
	return false
}
