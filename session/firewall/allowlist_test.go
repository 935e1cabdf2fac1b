package firewall

import (
	"testing"

	"spicepacer/spiceproto"
)

// span is a run of message types.
type span struct{ first, last uint16 }

// kerbside is the list of Kerbside's proxy, beside the messages of all channels.
var kerbside = map[spiceproto.ChannelType][2][]span{
	spiceproto.ChannelMain:     {s2c: {{101, 118}}, c2s: {{101, 112}}},
	spiceproto.ChannelDisplay:  {s2c: {{101, 108}, {122, 126}, {302, 323}}, c2s: {{101, 105}}},
	spiceproto.ChannelInputs:   {s2c: {{101, 102}, {111, 111}}, c2s: {{101, 104}, {111, 114}}},
	spiceproto.ChannelCursor:   {s2c: {{101, 108}}},
	spiceproto.ChannelPlayback: {s2c: {{101, 107}}},
	spiceproto.ChannelUSBRedir: {s2c: {{101, 102}}, c2s: {{101, 102}}},
	spiceproto.ChannelPort:     {s2c: {{101, 102}}, c2s: {{101, 102}}},
	spiceproto.ChannelWebDAV:   {s2c: {{101, 102}}, c2s: {{101, 102}}},
}

var kerbsideCommon = [2][]span{s2c: {{1, 7}}, c2s: {{1, 6}}}

// added are the messages that are allowed here and not there.
var added = map[spiceproto.ChannelType][2][]span{
	spiceproto.ChannelPort:   {s2c: {{201, 202}}, c2s: {{201, 201}}},
	spiceproto.ChannelWebDAV: {s2c: {{201, 202}}, c2s: {{201, 201}}},
}

var addedCommon = [2][]span{s2c: {{8, 8}}}

func holds(spans []span, op uint16) bool {
	for _, s := range spans {
		if op >= s.first && op <= s.last {
			return true
		}
	}
	return false
}

// The grammar allows what Kerbside's proxy does, and LIST, PORT_INIT and
// PORT_EVENT.
func TestAllowlistIsKerbsides(t *testing.T) {
	for kind, spans := range kerbside {
		j := judge(t, kind, func(*Config) {})
		for d := range spans {
			direction := spiceproto.Direction(d)
			for op := range uint16(500) {
				allowed := holds(spans[d], op) || holds(kerbsideCommon[d], op) ||
					holds(added[kind][d], op) || holds(addedCommon[d], op)
				if got := j.Header(direction, spiceproto.Header{Type: op}) == nil; got != allowed {
					t.Errorf("%v %v %d: allowed %v, want %v", kind, direction, op, got, allowed)
				}
			}
		}
	}
}

// No channel that Kerbside's proxy has no list for is ended by a message, and
// what the protocol knows is not counted either.
func TestUnmodelledChannels(t *testing.T) {
	for _, kind := range []spiceproto.ChannelType{spiceproto.ChannelRecord, spiceproto.ChannelSmartcard, spiceproto.ChannelTunnel, 12} {
		for _, direction := range []spiceproto.Direction{s2c, c2s} {
			j := judge(t, kind, func(*Config) {})
			unknown := uint64(0)
			for op := range uint16(500) {
				if _, known := spiceproto.LookupMessage(kind, direction, op); !known || kind == spiceproto.ChannelTunnel {
					unknown++
				}
				err := j.Header(direction, spiceproto.Header{Type: op})
				if kind.Valid() && err != nil {
					t.Errorf("%v %v %d: %v", kind, direction, op, err)
				}
				if !kind.Valid() && err == nil {
					t.Errorf("channel type %d: %d let through", kind, op)
				}
			}
			if kind.Valid() {
				want(t, "counts", map[string]uint64{direction.String() + " unmodeled_type observed": unknown}, j.counts())
			}
		}
	}
}
