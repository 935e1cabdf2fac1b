package spiceproto

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// message is what every message type of the package can do.
type message interface{ Append([]byte) []byte }

// codec is one message type under test: its identity, its parser, and one value
// with the bytes, header included, that spice.proto gives it.
type codec struct {
	channel   ChannelType
	direction Direction
	op        uint16
	value     message
	wire      string
	parse     func([]byte) (message, error)
	random    func(*rapid.T) message
	// open: the body ends with data of any length, none of it needed beyond the
	// first least bytes.
	open  bool
	least int
}

// openAfter returns c with an open end after the first least bytes.
func (c codec) openAfter(least int) codec {
	c.open, c.least = true, least
	return c
}

// drawn returns c with a generator for values that not every combination of
// fields is one of.
func (c codec) drawn(random func(*rapid.T) message) codec {
	c.random = random
	return c
}

// codecOf fills a codec from the typed pair of a message.
func codecOf[M message](
	t ChannelType, d Direction, op uint16, parse func([]byte) (M, error), value M, wire string,
) codec {
	return codec{
		channel: t, direction: d, op: op, value: value, wire: wire,
		parse:  func(b []byte) (message, error) { return parse(b) },
		random: func(t *rapid.T) message { return rapid.Make[M]().Draw(t, "message") },
	}
}

func (c codec) String() string {
	return c.channel.String() + "/" + c.direction.String() + "/" +
		MessageName(c.channel, c.direction, c.op)
}

// testCodecs checks each codec against its golden bytes, every truncation and
// surplus of them, and random values.
func testCodecs(t *testing.T, codecs []codec) {
	for _, c := range codecs {
		t.Run(c.String(), func(t *testing.T) {
			wire := fromHex(t, c.wire)
			if got := c.value.Append([]byte{0xee}); !bytes.Equal(got[1:], wire) {
				t.Errorf("Append:\n got %x\nwant %x", got[1:], wire)
			}
			h, _ := ParseHeader(wire)
			body := wire[MiniHeaderSize:]
			if h != (Header{c.op, uint32(len(body))}) {
				t.Errorf("golden header %+v does not fit", h)
			}
			c.wantParse(t, body, c.value)
			needed := body
			if c.open {
				needed = body[:c.least]
				if _, err := c.parse(needed); err != nil {
					t.Errorf("parse of the first %d bytes: %v", c.least, err)
				}
			} else {
				c.wantParse(t, append(bytes.Clone(body), 0xee, 0xee), c.value)
			}
			for n := range needed {
				c.wantDecodeError(t, body[:n])
			}
			rapid.Check(t, func(t *rapid.T) { c.wantRoundTrip(t, c.random(t)) })
		})
	}
}

// fuzzCodecs asserts on arbitrary bodies that each parser either fails with a
// *DecodeError or yields a message that survives a round trip.
func fuzzCodecs(f *testing.F, codecs []codec) {
	for i, c := range codecs {
		f.Add(uint8(i), fromHex(f, c.wire)[MiniHeaderSize:])
	}
	f.Fuzz(func(t *testing.T, i uint8, body []byte) {
		c := codecs[int(i)%len(codecs)]
		m, err := c.parse(body)
		if err != nil {
			c.wantDecodeError(t, body)
			return
		}
		c.wantRoundTrip(t, m)
	})
}

// equateEmpty: a slice without elements may be nil or not.
var equateEmpty = cmpopts.EquateEmpty()

// tester is a *testing.T, *testing.F or *rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func (c codec) wantParse(t tester, body []byte, want message) {
	t.Helper()
	got, err := c.parse(body)
	if err != nil {
		t.Fatalf("parse %x: %v", body, err)
	}
	if diff := cmp.Diff(want, got, equateEmpty); diff != "" {
		t.Fatalf("parse %x: (-want +got)\n%s", body, diff)
	}
}

// wantRoundTrip asserts that m comes back from its bytes, and its bytes from it.
func (c codec) wantRoundTrip(t tester, m message) {
	t.Helper()
	wire := m.Append(nil)
	c.wantParse(t, wire[MiniHeaderSize:], m)
	got, _ := c.parse(wire[MiniHeaderSize:])
	if again := got.Append(nil); !bytes.Equal(again, wire) {
		t.Fatalf("appended again:\n got %x\nwant %x", again, wire)
	}
}

func (c codec) wantDecodeError(t tester, body []byte) {
	t.Helper()
	_, err := c.parse(body)
	var e *DecodeError
	if !errors.As(err, &e) {
		t.Fatalf("parse %x: error %v, want a *DecodeError", body, err)
	}
	if e.Channel != c.channel || e.Direction != c.direction || e.Opcode != c.op {
		t.Errorf("parse %x: error names another message: %v", body, e)
	}
	if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCount) && !errors.Is(err, ErrPointer) {
		t.Errorf("parse %x: reason %v", body, e.Err)
	}
	if e.Field == "" || e.Offset > len(body) {
		t.Errorf("parse %x: field %q at %d", body, e.Field, e.Offset)
	}
}

func fromHex(t tester, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatalf("golden bytes: %v", err)
	}
	return b
}

// golden reads a capture; testdata/README.md tells where it comes from.
func golden(t tester, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

// wireMessage is one message cut out of a capture.
type wireMessage struct {
	Header
	body []byte
}

// cut splits a capture at its message boundaries, without a Framer.
func cut(t tester, stream []byte) []wireMessage {
	t.Helper()
	var all []wireMessage
	for len(stream) > 0 {
		h, ok := ParseHeader(stream)
		end := MiniHeaderSize + int(h.Size)
		if !ok || end > len(stream) {
			t.Fatalf("capture ends inside message %d", len(all))
		}
		all = append(all, wireMessage{h, stream[MiniHeaderSize:end]})
		stream = stream[end:]
	}
	return all
}
