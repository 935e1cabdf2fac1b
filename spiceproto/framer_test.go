package spiceproto

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// eventsOf lists the segments' flags, with their lengths, for one input.
func eventsOf(f *Framer, p []byte) []event {
	var events []event
	for len(p) > 0 {
		s := f.Next(p)
		events = append(events, event{len(s.Bytes), s.Start, s.HeaderDone, s.HeadDone, s.End})
		p = p[len(s.Bytes):]
	}
	return events
}

type event struct {
	n                                int
	start, headerDone, headDone, end bool
}

func TestFramerEvents(t *testing.T) {
	message := func(size int) []byte {
		return append(Header{7, uint32(size)}.Append(nil), make([]byte, size)...)
	}
	for _, c := range []struct {
		name  string
		parts [][]byte
		want  []event
	}{
		{"empty message", [][]byte{message(0)}, []event{{6, true, true, true, true}}},
		{
			"empty message, torn header", [][]byte{message(0)[:2], message(0)[2:]},
			[]event{{2, true, false, false, false}, {4, false, true, true, true}},
		},
		{
			"body within the head", [][]byte{message(HeadSize)},
			[]event{{6, true, true, false, false}, {HeadSize, false, false, true, true}},
		},
		{
			"body beyond the head", [][]byte{message(HeadSize + 1)},
			[]event{
				{6, true, true, false, false}, {HeadSize, false, false, true, false},
				{1, false, false, false, true},
			},
		},
		{
			"torn head and rest", [][]byte{message(300)[:16], message(300)[16:206], message(300)[206:]},
			[]event{
				{6, true, true, false, false}, {10, false, false, false, false},
				{150, false, false, true, false}, {40, false, false, false, false},
				{100, false, false, false, true},
			},
		},
		{
			"two messages in one read", [][]byte{append(message(1), message(0)...)},
			[]event{
				{6, true, true, false, false}, {1, false, false, true, true},
				{6, true, true, true, true},
			},
		},
	} {
		var f Framer
		var got []event
		for _, p := range c.parts {
			got = append(got, eventsOf(&f, p)...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
	}
}

func TestFramerNoInput(t *testing.T) {
	var f Framer
	f.Next([]byte{1, 0})
	before := f
	if s := f.Next(nil); s.Bytes != nil || s.Start || s.HeaderDone || s.HeadDone || s.End {
		t.Errorf("segment %+v", s)
	}
	if f != before {
		t.Error("the framer changed")
	}
}

// The size field is a full u32, and the framer neither overflows nor waits.
func TestFramerLargestMessage(t *testing.T) {
	var f Framer
	f.Next(Header{304, math.MaxUint32}.Append(nil))
	chunk := make([]byte, 1<<20)
	seen := 0
	for range 3 {
		for p := chunk; len(p) > 0; {
			s := f.Next(p)
			seen += len(s.Bytes)
			p = p[len(s.Bytes):]
		}
	}
	if want := uint32(math.MaxUint32 - 3<<20); f.Remaining() != want || !f.InMessage() || seen != 3<<20 {
		t.Errorf("remaining %d, want %d; seen %d", f.Remaining(), want, seen)
	}
}

// layout tells at which stream offsets the events of a list of messages lie.
type layout struct {
	stream                       []byte
	starts, headers, heads, ends map[int]bool
	message                      []int // of each stream byte, index into messages
	messages                     []wireMessage
	firstByte                    []int // of each message
	full                         bool
}

// layoutOf lays the messages out with mini or full headers, whose serials count
// from 1.
func layoutOf(full bool, messages []wireMessage) *layout {
	l := &layout{
		starts: map[int]bool{}, headers: map[int]bool{}, heads: map[int]bool{},
		ends: map[int]bool{}, messages: messages, full: full,
	}
	for i, m := range messages {
		at := len(l.stream)
		l.firstByte = append(l.firstByte, at)
		l.stream = append(l.appendHeader(l.stream, i), m.body...)
		l.starts[at] = true
		l.headers[at+l.headerSize()] = true
		l.heads[at+l.headerSize()+min(len(m.body), HeadSize)] = true
		l.ends[len(l.stream)] = true
		for range len(l.stream) - at {
			l.message = append(l.message, i)
		}
	}
	return l
}

func (l *layout) headerSize() int { return len(l.appendHeader(nil, 0)) }

func (l *layout) appendHeader(b []byte, i int) []byte {
	if l.full {
		return l.fullHeader(i).Append(b)
	}
	return l.messages[i].Header.Append(b)
}

// fullHeader is what the framer knows of a message's header.
func (l *layout) fullHeader(i int) FullHeader {
	h := FullHeader{Type: l.messages[i].Type, Size: l.messages[i].Size}
	if l.full {
		h.Serial, h.SubList = uint64(i+1), uint32(i)
	}
	return h
}

// check compares one segment, and the framer after it, with the layout.
func (l *layout) check(t tester, f *Framer, at int, s Segment) {
	t.Helper()
	end := at + len(s.Bytes)
	got := event{end, s.Start, s.HeaderDone, s.HeadDone, s.End}
	want := event{end, l.starts[at], l.headers[end], l.heads[end], l.ends[end]}
	if got != want {
		t.Fatalf("segment at %d: got %+v, want %+v", at, got, want)
	}
	for i := at + 1; i < end; i++ {
		if l.starts[i] || l.headers[i] || l.heads[i] {
			t.Fatalf("segment %d..%d runs over the event at %d", at, end, i)
		}
	}
	i := l.message[end-1]
	seen := end - l.firstByte[i] - l.headerSize()
	var header FullHeader
	var body []byte
	if seen >= 0 {
		header, body = l.fullHeader(i), l.messages[i].body[:seen]
	}
	if f.FullHeader() != header || f.Header() != header.Mini() || !bytes.Equal(f.Head(), body[:min(len(body), HeadSize)]) {
		t.Fatalf("after %d: header %+v, head %x", end, f.FullHeader(), f.Head())
	}
	if raw := l.stream[l.firstByte[i]:min(end, l.firstByte[i]+l.headerSize())]; !bytes.Equal(f.RawHeader(), raw) {
		t.Fatalf("after %d: raw header %x, want %x", end, f.RawHeader(), raw)
	}
	if f.Remaining() != header.Size-uint32(len(body)) || f.InMessage() == l.ends[end] {
		t.Fatalf("after %d: remaining %d, in message %v", end, f.Remaining(), f.InMessage())
	}
}

// feed runs the stream through a fresh framer in pieces of the given sizes, the
// last of which takes all the rest.
func (l *layout) feed(t tester, pieces []int) {
	t.Helper()
	f := Framer{Full: l.full}
	var out []byte
	for rest := l.stream; len(rest) > 0; {
		n := len(rest)
		if len(pieces) > 0 {
			n, pieces = min(n, pieces[0]), pieces[1:]
		}
		for p := rest[:n]; len(p) > 0; {
			s := f.Next(p)
			if len(s.Bytes) == 0 || &s.Bytes[0] != &p[0] {
				t.Fatalf("segment at %d does not alias the input", len(out))
			}
			l.check(t, &f, len(out), s)
			out = append(out, s.Bytes...)
			p = p[len(s.Bytes):]
		}
		rest = rest[n:]
	}
	if !bytes.Equal(out, l.stream) {
		t.Fatalf("%d bytes in, %d bytes out, or not the same", len(l.stream), len(out))
	}
}

// Any split of any sequence of messages gives the same messages, each event
// exactly at its byte, and all the bytes.
func TestFramerAnySplit(t *testing.T) {
	size := rapid.OneOf(
		rapid.SampledFrom([]int{0, 1, HeadSize - 1, HeadSize, HeadSize + 1}),
		rapid.IntRange(0, 2*HeadSize), rapid.IntRange(0, 3000))
	piece := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 400), rapid.IntRange(1, 5000))
	rapid.Check(t, func(t *rapid.T) {
		var messages []wireMessage
		for i, n := range rapid.SliceOfN(size, 1, 8).Draw(t, "sizes") {
			body := make([]byte, n)
			for j := range body {
				body[j] = byte(i + j)
			}
			op := rapid.Uint16().Draw(t, "type")
			messages = append(messages, wireMessage{Header{op, uint32(n)}, body})
		}
		full := rapid.Bool().Draw(t, "full")
		layoutOf(full, messages).feed(t, rapid.SliceOf(piece).Draw(t, "pieces"))
	})
}

func TestFramerCapture(t *testing.T) {
	for _, full := range []bool{false, true} {
		l := layoutOf(full, cut(t, golden(t, "display.bin")))
		for n := 1; n < 200; n++ {
			l.feed(t, slices.Repeat([]int{n}, len(l.stream)/n))
		}
	}
}

// Whatever arrives, every segment makes progress and the bytes come out again,
// with either header.
func FuzzFramer(f *testing.F) {
	f.Add(golden(f, "cursor.bin"), uint16(1))
	f.Add(golden(f, "main.bin"), uint16(7))
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 2}, uint16(64))
	f.Add(layoutOf(true, cut(f, golden(f, "cursor.bin"))).stream, uint16(19))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16) {
		for _, full := range []bool{false, true} {
			fuzzFramer(t, &Framer{Full: full}, slices.Chunk(stream, 1+int(piece)), stream)
		}
	})
}

func fuzzFramer(t *testing.T, fr *Framer, chunks iter.Seq[[]byte], stream []byte) {
	var out []byte
	for chunk := range chunks {
		for p := chunk; len(p) > 0; {
			s := fr.Next(p)
			if len(s.Bytes) == 0 || len(s.Bytes) > len(p) {
				t.Fatalf("segment of %d bytes from %d", len(s.Bytes), len(p))
			}
			if s.End == fr.InMessage() || s.End && fr.Remaining() != 0 {
				t.Fatalf("end %v, in message %v, remaining %d", s.End, fr.InMessage(), fr.Remaining())
			}
			out = append(out, s.Bytes...)
			p = p[len(s.Bytes):]
		}
	}
	if !bytes.Equal(out, stream) {
		t.Fatal("the bytes changed")
	}
}

func TestFramerDoesNotAllocate(t *testing.T) {
	for _, full := range []bool{false, true} {
		stream := layoutOf(full, cut(t, golden(t, "display.bin"))).stream
		f := Framer{Full: full}
		allocs := testing.AllocsPerRun(100, func() {
			for chunk := stream; len(chunk) > 0; {
				n := min(len(chunk), 1000)
				for p := chunk[:n]; len(p) > 0; {
					p = p[len(f.Next(p).Bytes):]
				}
				chunk = chunk[n:]
			}
		})
		if allocs != 0 || f.InMessage() {
			t.Errorf("full headers %v: %v allocations, in message %v", full, allocs, f.InMessage())
		}
	}
}

func BenchmarkFramer(b *testing.B) {
	for _, c := range []struct {
		name string
		size int // of a message with its header
	}{{"bulk16KiB", 16 << 10}, {"small64", 64}} {
		b.Run(c.name, func(b *testing.B) {
			h := Header{MsgDisplayDrawCopy, uint32(c.size - MiniHeaderSize)}
			message := append(h.Append(nil), make([]byte, h.Size)...)
			read := bytes.Repeat(message, (64<<10)/c.size)
			b.SetBytes(int64(len(read)))
			b.ReportAllocs()
			var f Framer
			for b.Loop() {
				for p := read; len(p) > 0; {
					p = p[len(f.Next(p).Bytes):]
				}
			}
		})
	}
}

// TestFramerMissing cuts a message at every byte, with either kind of header.
func TestFramerMissing(t *testing.T) {
	const body = 300
	for full, header := range map[bool]int{false: MiniHeaderSize, true: FullHeaderSize} {
		message := Header{7, body}.Append(nil)
		if full {
			message = FullHeader{Type: 7, Size: body}.Append(nil)
		}
		message = append(message, make([]byte, body)...)
		for cut := range len(message) + 1 {
			f := Framer{Full: full}
			eventsOf(&f, message[:cut])
			want, known := len(message)-cut, true
			if cut > 0 && cut < header {
				want, known = header-cut, false
			} else if cut == 0 {
				want = 0
			}
			if got, headerKnown := f.Missing(); int(got) != want || headerKnown != known {
				t.Errorf("full %v, %d bytes: %d missing, header known %v; want %d, %v", full, cut, got, headerKnown, want, known)
			}
		}
	}
}
