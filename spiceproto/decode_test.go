package spiceproto

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// allCodecs are those of every channel but display.
var allCodecs = slices.Concat(commonCodecs, mainCodecs, mainAgentCodecs, migrateCodecs,
	inputsCodecs, mouseCodecs, cursorCodecs, playbackCodecs, recordCodecs, smartcardCodecs,
	vmcCodecs, portCodecs)

// channels are the channels on which messages of c may come.
func (c codec) channels() []ChannelType {
	switch c.channel {
	case 0:
		return []ChannelType{0, ChannelMain, ChannelDisplay, ChannelRecord, 99}
	case ChannelPort:
		return []ChannelType{ChannelPort, ChannelWebDAV}
	case ChannelUSBRedir:
		return []ChannelType{ChannelUSBRedir, ChannelPort, ChannelWebDAV}
	}
	return []ChannelType{c.channel}
}

// directions are those in which messages of c may travel.
func (c codec) directions() []Direction {
	if c.channel == ChannelUSBRedir || c.channel == ChannelSmartcard {
		return []Direction{ServerToClient, ClientToServer}
	}
	return []Direction{c.direction}
}

func TestDecode(t *testing.T) {
	for _, c := range allCodecs {
		body := fromHex(t, c.wire)[MiniHeaderSize:]
		want := any(c.value)
		for _, channel := range c.channels() {
			for _, dir := range c.directions() {
				got, err := Decode(channel, dir, c.op, body)
				if diff := cmp.Diff(want, got, equateEmpty); diff != "" || err != nil {
					t.Errorf("%v on %v %v: %v\n%s", c, channel, dir, err, diff)
				}
				if least := c.leastBody(body); least > 0 {
					wantDecodeFailure(t, channel, dir, c.op, body[:least-1])
				}
			}
		}
	}
}

func (c codec) leastBody(body []byte) int {
	if c.open {
		return c.least
	}
	return len(body)
}

// wantDecodeFailure asserts that the message is known and the body refused, with
// an error that tells where it came from.
func wantDecodeFailure(t *testing.T, channel ChannelType, dir Direction, op uint16, body []byte) {
	t.Helper()
	m, err := Decode(channel, dir, op, body)
	var e *DecodeError
	if !errors.As(err, &e) || errors.Is(err, ErrOpcode) || m != nil {
		t.Fatalf("%v %v %d %x: %+v, %v", channel, dir, op, body, m, err)
	}
	if e.Channel != channel || e.Direction != dir || e.Opcode != op {
		t.Errorf("%v %v %d: error names another message: %v", channel, dir, op, err)
	}
}

// Every type that has a name has a layout. Display has its own test.
func TestDecodeKnowsEveryMessage(t *testing.T) {
	known := 0
	for channel := ChannelMain; channel <= ChannelWebDAV; channel++ {
		if channel == ChannelDisplay {
			continue
		}
		for _, dir := range []Direction{ServerToClient, ClientToServer} {
			for op := range uint16(1000) {
				named := MessageName(channel, dir, op) != UnknownMessage
				_, err := Decode(channel, dir, op, nil)
				if named == errors.Is(err, ErrOpcode) {
					t.Errorf("%v %v %d: named %v, %v", channel, dir, op, named, err)
				}
				if named {
					known++
				}
			}
		}
	}
	if known < 200 {
		t.Errorf("only %d types", known)
	}
}

func TestDecodeUnknown(t *testing.T) {
	body := []byte{1, 2}
	for _, c := range []struct {
		channel ChannelType
		dir     Direction
		op      uint16
	}{
		{ChannelMain, ServerToClient, 119}, {ChannelMain, ServerToClient, 0},
		{ChannelMain, ServerToClient, 100}, {ChannelMain, ClientToServer, 8},
		{ChannelCursor, ClientToServer, 101}, {ChannelTunnel, ServerToClient, 101},
		{ChannelDisplay, ServerToClient, 999}, {0, ServerToClient, 101}, {200, ServerToClient, 101},
		{ChannelUSBRedir, ServerToClient, 201}, {ChannelMain, 2, 103},
	} {
		name := strconv.Itoa(int(c.channel)) + "/" + c.dir.String() + "/" + strconv.Itoa(int(c.op))
		t.Run(name, func(t *testing.T) {
			m, err := Decode(c.channel, c.dir, c.op, body)
			var e *DecodeError
			if !errors.As(err, &e) || e.Err != ErrOpcode || e.Channel != c.channel ||
				e.Direction != c.dir || e.Opcode != c.op {
				t.Errorf("error %v", err)
			}
			want := Unknown{c.op, body}
			if diff := cmp.Diff(any(want), m); diff != "" {
				t.Error(diff)
			}
			if got := want.Append(nil); !bytes.Equal(got[MiniHeaderSize:], body) {
				t.Errorf("Append: %x", got)
			}
		})
	}
}

func TestDecodeEmpty(t *testing.T) {
	for _, body := range [][]byte{nil, {1, 2, 3}} {
		m, err := Decode(ChannelCursor, ServerToClient, MsgCursorHide, body)
		if m != any(Empty{MsgCursorHide}) || err != nil {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if got := (Empty{MsgCursorHide}).Append(nil); !bytes.Equal(got, fromHex(t, "6900 00000000")) {
		t.Errorf("Append: %x", got)
	}
}

// captures are whole sessions from server to client.
var captures = map[string]ChannelType{
	"main.bin": ChannelMain, "inputs.bin": ChannelInputs, "cursor.bin": ChannelCursor,
}

// What a real server sent comes out byte for byte.
func TestCapturesRoundTrip(t *testing.T) {
	for name, channel := range captures {
		for i, m := range cut(t, golden(t, name)) {
			got, err := Decode(channel, ServerToClient, m.Type, m.body)
			if err != nil {
				t.Errorf("%s: message %d: %v", name, i, err)
				continue
			}
			want := append(m.Header.Append(nil), m.body...)
			if wire := got.(message).Append(nil); !bytes.Equal(wire, want) {
				t.Errorf("%s: message %d, %T:\n got %x\nwant %x", name, i, got, wire, want)
			}
		}
	}
}
