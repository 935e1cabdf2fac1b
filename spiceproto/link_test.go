package spiceproto

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// linkMessWire is the main link of a client that offers what the server does.
const linkMessWire = `
	52454451 02000000 02000000 1a000000
	00000000 01 00 01000000 01000000 12000000
	0b000000 0f000000`

func TestLinkMessGolden(t *testing.T) {
	wire := fromHex(t, linkMessWire)
	want := LinkMess{Type: ChannelMain, Common: Caps{0x0b}, Channel: Caps{0x0f}}
	if got := want.Append([]byte{0xee}); !bytes.Equal(got[1:], wire) {
		t.Errorf("Append:\n got %x\nwant %x", got[1:], wire)
	}
	r := bytes.NewReader(append(wire, "next"...))
	got, err := ReadLinkMess(r)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	if r.Len() != len("next") {
		t.Errorf("%d bytes left of the next message", r.Len())
	}
}

func TestLinkReplyGolden(t *testing.T) {
	for _, c := range []struct {
		file    string
		code    LinkError
		common  Caps
		channel Caps
	}{
		{"link_reply_main.bin", LinkOK, Caps{0x0b}, Caps{0x0f}},
		{"link_reply_cursor.bin", LinkOK, Caps{0x0b}, nil},
		{"link_reply_version_mismatch.bin", LinkErrVersionMismatch, nil, nil},
	} {
		wire := golden(t, c.file)
		m, err := ReadLinkReply(iotest.OneByteReader(bytes.NewReader(wire)))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		if diff := cmp.Diff(LinkReply{c.code, m.PubKey, c.common, c.channel}, m); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.file, diff)
		}
		if got := m.Append(nil); !bytes.Equal(got, wire) {
			t.Errorf("%s: Append gives %x", c.file, got)
		}
	}
}

// patched returns the golden LinkMess with bytes replaced at an offset.
func patched(t tester, offset int, b ...byte) []byte {
	wire := fromHex(t, linkMessWire)
	copy(wire[offset:], b)
	return wire
}

// The answers are those of spice-server 0.15.1, confirmed on the wire, but for
// the stricter bound of capability words.
func TestLinkMessRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		wire  []byte
		reply LinkError
	}{
		{"magic of another protocol", []byte("SSH-"), LinkErrInvalidMagic},
		{"magic", patched(t, 0, 'X'), LinkErrInvalidMagic},
		{"major 0", patched(t, 4, 0), LinkOK},
		{"major 1", patched(t, 4, 1), LinkErrVersionMismatch},
		{"major 3", patched(t, 4, 3), LinkErrVersionMismatch},
		{"major 2 with a high byte", patched(t, 7, 1), LinkErrVersionMismatch},
		{"size 17", patched(t, 12, 17), LinkErrInvalidData},
		{"size 4097", patched(t, 12, 0x01, 0x10), LinkErrInvalidData},
		{"size 4 GiB", patched(t, 12, 0xff, 0xff, 0xff, 0xff), LinkErrInvalidData},
		{"17 common words", patched(t, 22, 17), LinkErrInvalidData},
		{"17 channel words", patched(t, 26, 17), LinkErrInvalidData},
		{"counts whose sum overflows", patched(t, 22, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff), LinkErrInvalidData},
		{"words beyond the body", patched(t, 26, 2), LinkErrInvalidData},
		{"offset in the fixed part", patched(t, 30, 17), LinkErrInvalidData},
		{"offset one too far", patched(t, 30, 19), LinkErrInvalidData},
		{"offset 4 GiB", patched(t, 30, 0xff, 0xff, 0xff, 0xff), LinkErrInvalidData},
	} {
		_, err := ReadLinkMess(bytes.NewReader(c.wire))
		var e *LinkFormatError
		if !errors.As(err, &e) || e.Reply != c.reply || e.What == "" {
			t.Errorf("%s: error %v, want reply %v", c.name, err, c.reply.String())
		}
		if errors.Is(err, c.reply) != (c.reply != LinkOK) {
			t.Errorf("%s: errors.Is, asked for the code in %v, is wrong", c.name, err)
		}
	}
}

func TestLinkMessTolerated(t *testing.T) {
	both := LinkMess{Type: ChannelMain, Common: Caps{0x0b}, Channel: Caps{0x0f}}
	none := LinkMess{Type: ChannelMain}
	for _, c := range []struct {
		name string
		wire []byte
		want LinkMess
	}{
		{"minor version 9", patched(t, 8, 9), both},
		{"bytes behind the words", append(patched(t, 12, 28), 0xee, 0xee), both},
		{
			"words behind a gap",
			append(patched(t, 12, 30, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 22), 0x0f, 0, 0, 0),
			LinkMess{Type: ChannelMain, Common: Caps{0x0f}, Channel: Caps{0x0f}},
		},
		{"wild offset without words", patched(t, 22, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff), none},
		{"largest body", append(patched(t, 12, 0, 0x10), make([]byte, 4096-26)...), both},
		{
			"unknown channel type", patched(t, 20, 99),
			LinkMess{Type: 99, Common: Caps{0x0b}, Channel: Caps{0x0f}},
		},
	} {
		r := bytes.NewReader(c.wire)
		got, err := ReadLinkMess(r)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil || r.Len() != 0 {
			t.Errorf("%s: error %v, %d bytes left, (-want +got)\n%s", c.name, err, r.Len(), diff)
		}
	}
}

func TestLinkReplyRules(t *testing.T) {
	wire := golden(t, "link_reply_main.bin")
	for _, c := range []struct {
		name   string
		offset int
		value  byte
	}{
		{"size 177", 12, 177},
		{"17 common words", 16 + 166, 17},
		{"offset in the fixed part", 16 + 174, 177},
		{"words beyond the body", 16 + 170, 2},
	} {
		bad := bytes.Clone(wire)
		bad[c.offset] = c.value
		_, err := ReadLinkReply(bytes.NewReader(bad))
		var e *LinkFormatError
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v, want a *LinkFormatError", c.name, err)
		}
	}
}

// A peer that goes away is told from one that breaks the rules, and one that
// never spoke from one that stopped in the middle.
func TestLinkReadErrors(t *testing.T) {
	mess, reply := fromHex(t, linkMessWire), golden(t, "link_reply_cursor.bin")
	for name, c := range map[string]struct {
		wire []byte
		read func(io.Reader) error
	}{
		"ReadLinkMess":      {mess, func(r io.Reader) error { _, err := ReadLinkMess(r); return err }},
		"ReadLinkReply":     {reply, func(r io.Reader) error { _, err := ReadLinkReply(r); return err }},
		"ReadAuthMechanism": {make([]byte, 4), func(r io.Reader) error { _, err := ReadAuthMechanism(r); return err }},
		"ReadLinkResult":    {make([]byte, 4), func(r io.Reader) error { _, err := ReadLinkResult(r); return err }},
	} {
		for n := range c.wire {
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = io.EOF
			}
			if err := c.read(bytes.NewReader(c.wire[:n])); !errors.Is(err, want) {
				t.Errorf("%s: %v after %d bytes, want %v", name, err, n, want)
			}
		}
		if err := c.read(bytes.NewReader(c.wire)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinkRoundTrip(t *testing.T) {
	words := rapid.Map(rapid.SliceOfN(rapid.Uint32(), 0, MaxCapWords),
		func(w []uint32) Caps { return w })
	rapid.Check(t, func(t *rapid.T) {
		mess := LinkMess{
			ConnectionID: rapid.Uint32().Draw(t, "connection id"),
			Type:         ChannelType(rapid.Uint8().Draw(t, "type")),
			ID:           rapid.Uint8().Draw(t, "id"),
			Common:       words.Draw(t, "common"), Channel: words.Draw(t, "channel"),
		}
		gotMess, err := ReadLinkMess(bytes.NewReader(mess.Append(nil)))
		if diff := cmp.Diff(mess, gotMess, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("error %v, (-want +got)\n%s", err, diff)
		}
		reply := LinkReply{
			Error:  LinkError(rapid.Uint32().Draw(t, "error")),
			Common: mess.Common, Channel: mess.Channel,
		}
		copy(reply.PubKey[:], rapid.SliceOfN(rapid.Byte(), PubKeySize, PubKeySize).Draw(t, "key"))
		gotReply, err := ReadLinkReply(bytes.NewReader(reply.Append(nil)))
		if diff := cmp.Diff(reply, gotReply, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("error %v, (-want +got)\n%s", err, diff)
		}
	})
}

func TestAuthMechanismAndResult(t *testing.T) {
	b := AppendAuthMechanism(nil, AuthMechanismSpice)
	b = AppendLinkResult(b, LinkErrPermissionDenied)
	if want := fromHex(t, "01000000 07000000"); !bytes.Equal(b, want) {
		t.Fatalf("got %x, want %x", b, want)
	}
	r := bytes.NewReader(b)
	if m, err := ReadAuthMechanism(r); m != AuthMechanismSpice || err != nil {
		t.Errorf("mechanism %d, %v", m, err)
	}
	if e, err := ReadLinkResult(r); e != LinkErrPermissionDenied || err != nil {
		t.Errorf("result %v, %v", e, err)
	}
}

func TestLinkErrorString(t *testing.T) {
	for e, want := range map[LinkError]string{
		LinkOK: "ok", LinkErrNeedSecured: "need secured",
		LinkErrChannelNotAvailable: "channel not available", 10: "code-10",
		0xffffffff: "code-4294967295",
	} {
		if e.String() != want || e.Error() != "spice link: "+want {
			t.Errorf("%d: %q and %q", uint32(e), e.String(), e.Error())
		}
	}
}

// What a link parser accepts survives a round trip; all else is one of its
// error kinds.
func FuzzReadLinkMess(f *testing.F) {
	f.Add(fromHex(f, linkMessWire))
	f.Add(patched(f, 12, 17))
	f.Add(patched(f, 22, 17))
	f.Add(patched(f, 30, 0xff, 0xff, 0xff, 0xff))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		m, err := ReadLinkMess(bytes.NewReader(wire))
		if err != nil {
			wantLinkReadError(t, err)
			return
		}
		again, err := ReadLinkMess(bytes.NewReader(m.Append(nil)))
		if diff := cmp.Diff(m, again); diff != "" || err != nil {
			t.Errorf("error %v, (-want +got)\n%s", err, diff)
		}
	})
}

func FuzzReadLinkReply(f *testing.F) {
	f.Add(golden(f, "link_reply_main.bin"))
	f.Add(golden(f, "link_reply_version_mismatch.bin"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		m, err := ReadLinkReply(bytes.NewReader(wire))
		if err != nil {
			wantLinkReadError(t, err)
			return
		}
		again, err := ReadLinkReply(bytes.NewReader(m.Append(nil)))
		if diff := cmp.Diff(m, again); diff != "" || err != nil {
			t.Errorf("error %v, (-want +got)\n%s", err, diff)
		}
	})
}

func wantLinkReadError(t *testing.T, err error) {
	t.Helper()
	var e *LinkFormatError
	if !errors.As(err, &e) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}
