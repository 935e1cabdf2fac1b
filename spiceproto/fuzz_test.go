package spiceproto

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// guardAllocs runs f, which works on n bytes of input, and fails when f allocates
// more than four times as many and a constant: a peer that makes the proxy
// allocate has to send for it. Other goroutines of the process allocate, too, so
// f gets another chance.
func guardAllocs(t tester, n int, f func()) {
	t.Helper()
	const attempts, constant = 5, 8 << 10
	bound := uint64(4*n + constant)
	var least uint64
	for range attempts {
		if got := allocated(f); got <= bound {
			return
		} else if least == 0 || got < least {
			least = got
		}
	}
	t.Fatalf("%d bytes allocated for %d bytes of input, bound %d", least, n, bound)
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAllocationGuardCounts(t *testing.T) {
	var keep []byte
	if got := allocated(func() { keep = make([]byte, 1<<20) }); got < 1<<20 || len(keep) != 1<<20 {
		t.Errorf("%d bytes counted of %d", got, 1<<20)
	}
}

// fuzzDecode fuzzes Decode for one channel and direction. The seeds are the
// golden messages that belong there, and captures.
func fuzzDecode(f *testing.F, channel ChannelType, dir Direction) {
	for _, c := range allCodecs {
		if c.channel == 0 && c.direction == dir || belongs(c, channel, dir) {
			f.Add(c.op, fromHex(f, c.wire)[MiniHeaderSize:])
		}
	}
	for name, t := range captures {
		if t == channel && dir == ServerToClient {
			for _, m := range cut(f, golden(f, name)) {
				f.Add(m.Type, m.body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, op uint16, body []byte) { checkDecode(t, channel, dir, op, body) })
}

// checkDecode asserts that any body is refused with a typed error, or decoded to
// a message that survives a round trip, within the bound on allocation.
func checkDecode(t tester, channel ChannelType, dir Direction, op uint16, body []byte) {
	t.Helper()
	var m any
	var err error
	guardAllocs(t, len(body), func() { m, err = Decode(channel, dir, op, body) })
	if err != nil {
		wantTypedFailure(t, channel, dir, op, body, m, err)
		return
	}
	if list, ok := m.(List); ok && !honest(list) {
		return
	}
	wantStable(t, channel, dir, op, m)
}

// The golden messages with a few of their bytes made extreme, which is where
// counts, sizes and pointers are.
func TestDecodeDamagedBodies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(allCodecs).Draw(t, "message")
		body := fromHex(t, c.wire)[MiniHeaderSize:]
		extreme := rapid.SampledFrom([]byte{0, 1, 2, 0x7f, 0x80, 0xff})
		for range rapid.IntRange(0, 4).Draw(t, "damages") {
			if len(body) > 0 {
				body[rapid.IntRange(0, len(body)-1).Draw(t, "at")] = extreme.Draw(t, "byte")
			}
		}
		body = append(body, rapid.SliceOfN(rapid.Byte(), 0, 600).Draw(t, "surplus")...)
		body = body[:rapid.IntRange(0, len(body)).Draw(t, "length")]
		for _, channel := range c.channels() {
			for _, dir := range c.directions() {
				checkDecode(t, channel, dir, c.op, body)
			}
		}
	})
}

func belongs(c codec, channel ChannelType, dir Direction) bool {
	for _, t := range c.channels() {
		for _, d := range c.directions() {
			if c.channel != 0 && t == channel && d == dir {
				return true
			}
		}
	}
	return false
}

func wantTypedFailure(
	t tester, channel ChannelType, dir Direction, op uint16, body []byte, m any, err error,
) {
	t.Helper()
	var e *DecodeError
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a *DecodeError", err)
	}
	if e.Channel != channel || e.Direction != dir || e.Opcode != op || e.Field == "" ||
		e.Offset < 0 || e.Offset > len(body) {
		t.Fatalf("error %+v for %v %v %d of %d bytes", e, channel, dir, op, len(body))
	}
	if _, unknown := m.(Unknown); unknown != errors.Is(err, ErrOpcode) || !unknown && m != nil {
		t.Fatalf("message %T beside %v", m, err)
	}
}

// honest reports whether every size in the list is the one of its body, or
// counted; the bodies of others go on where they happen to stand.
func honest(list List) bool {
	for _, s := range list.Messages {
		counted := s.Type == MsgWaitForChannels || s.Type == MsgDisplayInvalList
		if !counted && uint64(s.Size) != uint64(len(s.Body)) {
			return false
		}
	}
	return true
}

// wantStable asserts that m survives a round trip, and that its bytes do.
func wantStable(t tester, channel ChannelType, dir Direction, op uint16, m any) {
	t.Helper()
	wire := m.(message).Append(nil)
	h, _ := ParseHeader(wire)
	if h != (Header{op, uint32(len(wire) - MiniHeaderSize)}) {
		t.Fatalf("%+v appended with header %+v", m, h)
	}
	again, err := Decode(channel, dir, op, wire[MiniHeaderSize:])
	if err != nil {
		t.Fatalf("decode %x again: %v", wire, err)
	}
	if diff := cmp.Diff(m, again, equateEmpty); diff != "" {
		t.Fatalf("(-before +after)\n%s", diff)
	}
	if got := again.(message).Append(nil); !bytes.Equal(got, wire) {
		t.Fatalf("appended again:\n got %x\nwant %x", got, wire)
	}
}

func FuzzMainServer(f *testing.F)      { fuzzDecode(f, ChannelMain, ServerToClient) }
func FuzzMainClient(f *testing.F)      { fuzzDecode(f, ChannelMain, ClientToServer) }
func FuzzInputsServer(f *testing.F)    { fuzzDecode(f, ChannelInputs, ServerToClient) }
func FuzzInputsClient(f *testing.F)    { fuzzDecode(f, ChannelInputs, ClientToServer) }
func FuzzCursorServer(f *testing.F)    { fuzzDecode(f, ChannelCursor, ServerToClient) }
func FuzzCursorClient(f *testing.F)    { fuzzDecode(f, ChannelCursor, ClientToServer) }
func FuzzPlaybackServer(f *testing.F)  { fuzzDecode(f, ChannelPlayback, ServerToClient) }
func FuzzPlaybackClient(f *testing.F)  { fuzzDecode(f, ChannelPlayback, ClientToServer) }
func FuzzRecordServer(f *testing.F)    { fuzzDecode(f, ChannelRecord, ServerToClient) }
func FuzzRecordClient(f *testing.F)    { fuzzDecode(f, ChannelRecord, ClientToServer) }
func FuzzSmartcardServer(f *testing.F) { fuzzDecode(f, ChannelSmartcard, ServerToClient) }
func FuzzSmartcardClient(f *testing.F) { fuzzDecode(f, ChannelSmartcard, ClientToServer) }
func FuzzUSBRedirServer(f *testing.F)  { fuzzDecode(f, ChannelUSBRedir, ServerToClient) }
func FuzzUSBRedirClient(f *testing.F)  { fuzzDecode(f, ChannelUSBRedir, ClientToServer) }
func FuzzPortServer(f *testing.F)      { fuzzDecode(f, ChannelPort, ServerToClient) }
func FuzzPortClient(f *testing.F)      { fuzzDecode(f, ChannelPort, ClientToServer) }
func FuzzWebDAVServer(f *testing.F)    { fuzzDecode(f, ChannelWebDAV, ServerToClient) }
func FuzzWebDAVClient(f *testing.F)    { fuzzDecode(f, ChannelWebDAV, ClientToServer) }

// FuzzFullHeader reads a stream of messages with full headers, and the lists of
// sub-messages that the headers point to.
func FuzzFullHeader(f *testing.F) {
	var stream []byte
	for i, m := range cut(f, golden(f, "cursor.bin")) {
		stream = FullHeader{Serial: uint64(i + 1), Type: m.Type, Size: m.Size}.Append(stream)
		stream = append(stream, m.body...)
	}
	f.Add(stream)
	list := List{[]SubMessage{
		{MsgWaitForChannels, 24, WaitForChannels{make([]ChannelWait, 1)}.Append(nil)[MiniHeaderSize:]},
		{MsgDisplayInvalPalette, 8, make([]byte, 8)},
	}}.Append(nil)[MiniHeaderSize:]
	h := FullHeader{Serial: 1, Type: MsgDisplayMark, Size: uint32(len(list)), SubList: 0}
	f.Add(append(h.Append(nil), list...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		for {
			h, ok := ParseFullHeader(stream)
			if !ok || uint64(h.Size) > uint64(len(stream)-FullHeaderSize) {
				return
			}
			if got := h.Append(nil); !bytes.Equal(got, stream[:FullHeaderSize]) {
				t.Fatalf("header %+v appended as %x", h, got)
			}
			stream = stream[FullHeaderSize:]
			wantSubList(t, h, stream[:h.Size])
			stream = stream[h.Size:]
		}
	})
}

// wantSubList asserts that the list is refused with a typed error, or lies within
// the body.
func wantSubList(t *testing.T, h FullHeader, body []byte) {
	t.Helper()
	var all []SubMessage
	var err error
	guardAllocs(t, len(body), func() {
		all, err = ParseSubList(ChannelDisplay, h.Type, body, h.SubList)
	})
	var e *DecodeError
	if err != nil && (!errors.As(err, &e) || e.Opcode != h.Type || e.Offset > len(body)) {
		t.Fatalf("error %v", err)
	}
	if err != nil {
		return
	}
	for _, s := range all {
		if len(s.Body) > len(body) {
			t.Fatalf("sub-message of %d bytes in %d", len(s.Body), len(body))
		}
		if s.Type != MsgWaitForChannels {
			continue
		}
		if _, err := ParseWaitForChannels(s.Body); err != nil {
			t.Fatalf("sub-message cut wrong: %v", err)
		}
	}
}
