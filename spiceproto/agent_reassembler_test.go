package spiceproto

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// collect feeds the pieces and returns copies of the messages.
func collect(t tester, r *AgentReassembler, pieces ...[]byte) []AgentMessage {
	t.Helper()
	var all []AgentMessage
	for _, p := range pieces {
		for len(p) > 0 {
			n, done, err := r.Next(p)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if n <= 0 || n > len(p) {
				t.Fatalf("took %d bytes of %d", n, len(p))
			}
			if done {
				m := r.Message()
				m.Data = bytes.Clone(m.Data)
				all = append(all, m)
			}
			if done == r.InMessage() {
				t.Fatalf("done %v, in message %v", done, r.InMessage())
			}
			p = p[n:]
		}
	}
	return all
}

// Any messages, cut anywhere, come out again, up to the limit.
func TestAgentReassemblerAnyCut(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) AgentMessage {
		data := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data")
		return AgentMessage{
			AgentHeader{
				Protocol: AgentProtocol, Type: AgentType(rapid.Uint32().Draw(t, "type")),
				Opaque: rapid.Uint64().Draw(t, "opaque"), Size: uint32(len(data)),
			}, data,
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		messages := rapid.SliceOfN(draw, 1, 5).Draw(t, "messages")
		r := AgentReassembler{Limit: rapid.IntRange(1, 400).Draw(t, "limit")}
		var stream []byte
		for i, m := range messages {
			stream = append(m.AgentHeader.Append(stream), m.Data...)
			messages[i].Data = m.Data[:min(len(m.Data), r.Limit)]
		}
		piece := rapid.IntRange(1, 700).Draw(t, "piece")
		got := collect(t, &r, slices.Collect(slices.Chunk(stream, piece))...)
		if diff := cmp.Diff(messages, got, equateEmpty); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if r.InMessage() {
			t.Fatal("still in a message")
		}
	})
}

// An empty message is complete with its header.
func TestAgentReassemblerEmptyMessage(t *testing.T) {
	var r AgentReassembler
	wire := AgentClientDisconnected{}.Append(nil)
	got := collect(t, &r, wire, wire[:7], wire[7:])
	if len(got) != 2 || got[1].Type != AgentClientDisconnectedType || !got[1].Complete() {
		t.Errorf("%+v", got)
	}
}

func TestAgentReassemblerProtocol(t *testing.T) {
	r := AgentReassembler{Direction: ClientToServer}
	bad := AgentHeader{Protocol: 2, Size: 4}.Append(nil)
	if n, done, err := r.Next(bad[:10]); n != 10 || done || err != nil {
		t.Fatalf("first half: %d, %v, %v", n, done, err)
	}
	for _, p := range [][]byte{bad[10:], {1}, nil} {
		_, done, err := r.Next(p)
		var e *DecodeError
		if done || !errors.As(err, &e) || e.Err != ErrValue || e.Opcode != MsgcMainAgentData ||
			e.Direction != ClientToServer {
			t.Fatalf("%x: done %v, error %v", p, done, err)
		}
	}
	r.Reset()
	if got := collect(t, &r, AgentReply{Error: 1}.Append(nil)); len(got) != 1 {
		t.Errorf("after Reset: %+v", got)
	}
}

// Reset in the middle of a message forgets it.
func TestAgentReassemblerReset(t *testing.T) {
	for n := range AgentHeaderSize + 3 {
		var r AgentReassembler
		wire := AgentReply{Type: 2, Error: 1}.Append(nil)
		collect(t, &r, wire[:n])
		r.Reset()
		if got := collect(t, &r, wire); len(got) != 1 || r.InMessage() {
			t.Errorf("after %d bytes: %+v", n, got)
		}
	}
}

// What a header announces is not what is allocated.
func TestAgentReassemblerMemory(t *testing.T) {
	var r AgentReassembler
	got := allocated(func() {
		r.Next(AgentHeader{Protocol: 1, Type: AgentClipboardType, Size: 1 << 31}.Append(nil))
		for range 1000 {
			r.Next(make([]byte, AgentMaxData))
		}
	})
	// The pieces themselves, and a buffer that doubled up to the limit.
	if most := uint64(1000*AgentMaxData + 3*DefaultAgentLimit); got > most {
		t.Errorf("%d bytes allocated, at most %d", got, most)
	}
	if m := r.Message(); len(m.Data) != DefaultAgentLimit || m.Complete() || !r.InMessage() {
		t.Errorf("%d bytes kept", len(m.Data))
	}
}

func TestAgentReassemblerDoesNotAllocate(t *testing.T) {
	var r AgentReassembler
	wire := AgentClipboard{Data: make([]byte, 3000)}.Append(nil)
	allocs := testing.AllocsPerRun(100, func() {
		for p := range slices.Chunk(wire, AgentMaxData) {
			if _, _, err := r.Next(p); err != nil {
				panic(err)
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func FuzzAgentServer(f *testing.F) { fuzzAgent(f, ServerToClient) }
func FuzzAgentClient(f *testing.F) { fuzzAgent(f, ClientToServer) }

// fuzzAgent feeds a stream in pieces and decodes what comes out.
func fuzzAgent(f *testing.F, dir Direction) {
	for i, c := range allAgentCodecs {
		layout := uint8(0)
		if c.layout.Selection {
			layout |= 1
		}
		if c.layout.GrabSerial {
			layout |= 2
		}
		f.Add(c.value.Append(c.value.Append(nil)), uint16(i*7), layout)
	}
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16, bits uint8) {
		layout := AgentLayout{Selection: bits&1 != 0, GrabSerial: bits&2 != 0}
		r := AgentReassembler{Direction: dir, Limit: 4 << 10}
		guardAllocs(t, len(stream), func() {
			r.Reset()
			for p := range slices.Chunk(stream, 1+int(piece)) {
				for n := 0; len(p) > 0; p = p[n:] {
					if n, _, _ = r.Next(p); n == 0 {
						return
					}
				}
			}
		})
		r.Reset()
		for p := range slices.Chunk(stream, 1+int(piece)) {
			for len(p) > 0 {
				n, done, err := r.Next(p)
				if err != nil {
					return
				}
				if n <= 0 || n > len(p) || done == r.InMessage() {
					t.Fatalf("took %d of %d, done %v, in message %v", n, len(p), done, r.InMessage())
				}
				if done {
					wantAgentDecode(t, dir, r.Message(), layout)
				}
				p = p[n:]
			}
		}
	})
}

// wantAgentDecode asserts that a message is refused with a typed error, or
// survives a round trip.
func wantAgentDecode(t *testing.T, dir Direction, m AgentMessage, layout AgentLayout) {
	t.Helper()
	var v any
	var err error
	guardAllocs(t, len(m.Data), func() { v, err = DecodeAgent(dir, m, layout) })
	var e *DecodeError
	if err != nil {
		if !errors.As(err, &e) || e.Direction != dir || e.Offset > len(m.Data) {
			t.Fatalf("error %+v", err)
		}
		return
	}
	wire := v.(message).Append(nil)
	h, _ := ParseAgentHeader(wire)
	if h.Type != m.Type || int(h.Size) != len(wire)-AgentHeaderSize {
		t.Fatalf("%+v appended with header %+v", v, h)
	}
	again, err := DecodeAgent(dir, AgentMessage{h, wire[AgentHeaderSize:]}, layout)
	if diff := cmp.Diff(v, again, equateEmpty); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
}
