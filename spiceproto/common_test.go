package spiceproto

import (
	"bytes"
	"testing"
)

var commonCodecs = []codec{
	codecOf(0, ServerToClient, MsgSetAck, ParseSetAck,
		SetAck{Generation: 1, Window: 20}, "0300 08000000 01000000 14000000"),
	codecOf(0, ClientToServer, MsgcAckSync, ParseAckSync,
		AckSync{Generation: 1}, "0100 04000000 01000000"),
	codecOf(0, ServerToClient, MsgPing, ParsePing,
		Ping{ID: 0x66334873, Timestamp: 0xf37e42ef24}, "0400 0c000000 73483366 24ef427ef3000000"),
	codecOf(0, ClientToServer, MsgcPong, ParsePong,
		Pong{ID: 0x66334873, Timestamp: 0xf37e42ef24}, "0300 0c000000 73483366 24ef427ef3000000"),
}

func TestCommonMessages(t *testing.T) { testCodecs(t, commonCodecs) }

func FuzzCommonMessages(f *testing.F) { fuzzCodecs(f, commonCodecs) }

func TestAppendAck(t *testing.T) {
	if got, want := AppendAck(nil), fromHex(t, "0200 00000000"); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// The relay handles these on the way of every display message.
func TestAckPathDoesNotAllocate(t *testing.T) {
	body := fromHex(t, "01000000 14000000 00000000")
	buf := make([]byte, 0, 64)
	allocs := testing.AllocsPerRun(100, func() {
		a, err := ParseSetAck(body)
		p, perr := ParsePing(body)
		if err != nil || perr != nil {
			panic("golden bodies rejected")
		}
		b := AckSync{a.Generation}.Append(buf)
		b = Pong(p).Append(b)
		AppendAck(b)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
