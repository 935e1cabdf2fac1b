package spiceproto

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// allDisplayCodecs are the golden messages of both directions, those without a
// body excluded.
func allDisplayCodecs() []codec {
	var all []codec
	for _, family := range [][]codec{
		displayCodecs, copyCodecs, alphaCodecs, fillCodecs, strokeCodecs, textCodecs, streamCodecs,
		cacheCodecs, surfaceCodecs, glCodecs,
	} {
		all = append(all, family...)
	}
	return all
}

var emptyDisplayMessages = [...][]uint16{
	ServerToClient: {
		MsgDisplayMark, MsgDisplayReset, MsgDisplayInvalAllPalettes, MsgDisplayStreamDestroyAll,
	},
	ClientToServer: {MsgcDisplayGLDrawDone},
}

// Every opcode with a name has a parser, and a golden message that it decodes.
func TestDecodeDisplayIsComplete(t *testing.T) {
	decoded := [2]map[uint16]bool{{MsgDisplayQualityIndicator: true}, {}}
	for _, c := range allDisplayCodecs() {
		got, err := decodeDisplay(c.direction, c.op, fromHex(t, c.wire)[MiniHeaderSize:])
		if diff := cmp.Diff(any(c.value), got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v: %v (-want +got)\n%s", c, err, diff)
		}
		decoded[c.direction][c.op] = true
	}
	for direction, ops := range emptyDisplayMessages {
		for _, op := range ops {
			got, err := decodeDisplay(Direction(direction), op, []byte{1})
			if got != (Empty{op}) || err != nil {
				t.Errorf("%v %d: %+v, %v", Direction(direction), op, got, err)
			}
			decoded[direction][op] = true
		}
	}
	for direction, parsers := range displayParsers {
		for op := range uint16(1000) {
			name := MessageName(ChannelDisplay, Direction(direction), op)
			named := op > 100 && name != UnknownMessage
			if _, ok := parsers[op]; ok != named || decoded[direction][op] != named {
				t.Errorf("%v %d, %s: parser %v, golden message %v", Direction(direction), op, name,
					ok, decoded[direction][op])
			}
		}
	}
}

func TestDecodeDisplayErrors(t *testing.T) {
	for _, c := range []struct {
		direction Direction
		op        uint16
		body      []byte
		reason    error
	}{
		{ServerToClient, MsgSetAck, make([]byte, 8), ErrOpcode},
		{ServerToClient, 109, nil, ErrOpcode},
		{ClientToServer, MsgDisplayDrawCopy, make([]byte, 57), ErrOpcode},
		{Direction(2), MsgcDisplayInit, make([]byte, 14), ErrOpcode},
		{ServerToClient, MsgDisplayDrawCopy, make([]byte, 56), ErrTruncated},
	} {
		m, err := decodeDisplay(c.direction, c.op, c.body)
		var e *DecodeError
		if m != nil || !errors.As(err, &e) || e.Err != c.reason ||
			e.Channel != ChannelDisplay || e.Direction != c.direction || e.Opcode != c.op {
			t.Errorf("%v %d: %+v, %v, want %v", c.direction, c.op, m, err, c.reason)
		}
	}
}

// What is peculiar to display channels in the capture is encoded to the same
// bytes again.
func TestDisplayCaptureRoundTrip(t *testing.T) {
	n := 0
	for _, m := range cut(t, golden(t, "display.bin")) {
		if m.Type <= 100 {
			continue
		}
		n++
		got, err := decodeDisplay(ServerToClient, m.Type, m.body)
		if err != nil {
			t.Error(err)
			continue
		}
		wire := got.(message).Append(nil)
		if !bytes.Equal(wire, append(m.Header.Append(nil), m.body...)) {
			t.Errorf("type %d: not the same bytes", m.Type)
		}
	}
	if n != 7 {
		t.Errorf("%d messages", n)
	}
}

// The images of the capture, with what their codecs' headers tell.
func TestDisplayCaptureImages(t *testing.T) {
	var got []CodecHeader
	for _, m := range cut(t, golden(t, "display.bin")) {
		if m.Type != MsgDisplayDrawCopy {
			continue
		}
		c, err := ParseDrawCopy(m.body)
		if err != nil {
			t.Fatal(err)
		}
		if c.Rop != RopPut || c.Mask != (Mask{}) || c.Clip.Type != ClipNone {
			t.Errorf("%+v", c)
		}
		h, err := c.Src.CodecHeader()
		if err != nil {
			t.Error(err)
		}
		got = append(got, h)
	}
	want := []CodecHeader{
		LZHeader{Type: 8, Width: 720, Height: 400, Stride: 2880, TopDown: 1},
		GLZHeader{Type: 8, TopDown: true, Width: 9, Height: 2, Stride: 36},
		GLZHeader{
			Type: 8, TopDown: true, Width: 9, Height: 2, Stride: 36, ID: 1, WindowDistance: 1,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
