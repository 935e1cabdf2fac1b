package spiceproto

import (
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// guardDisplayAllocs fails if parse allocates more than four times the input's
// size plus a constant, which the message itself, its few pointers and an error
// fit in. Other goroutines may allocate meanwhile, so the best of three counts.
func guardDisplayAllocs(t *testing.T, input []byte, parse func()) {
	t.Helper()
	const constant = 16 << 10
	bound := uint64(4*len(input) + constant)
	var before, after runtime.MemStats
	var used uint64
	for range 3 {
		runtime.ReadMemStats(&before)
		parse()
		runtime.ReadMemStats(&after)
		used = after.TotalAlloc - before.TotalAlloc
		if used <= bound {
			return
		}
	}
	t.Fatalf("%d bytes of input take %d bytes of memory", len(input), used)
}

// fuzzDisplay asserts that a body is refused with a typed error within it, or
// decoded to a message that survives a round trip.
func fuzzDisplay(f *testing.F, direction Direction) {
	for _, c := range allDisplayCodecs() {
		if c.direction == direction {
			f.Add(c.op, fromHex(f, c.wire)[MiniHeaderSize:])
		}
	}
	for _, op := range emptyDisplayMessages[direction] {
		f.Add(op, []byte{})
	}
	f.Fuzz(func(t *testing.T, op uint16, b []byte) {
		var m any
		var err error
		guardDisplayAllocs(t, b, func() { m, err = decodeDisplay(direction, op, b) })
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Channel != ChannelDisplay || e.Direction != direction ||
				e.Opcode != op || e.Field == "" || e.Offset < 0 || e.Offset > len(b) || m != nil {
				t.Fatalf("%+v beside error %v", m, err)
			}
			return
		}
		wire := m.(message).Append(nil)
		h, _ := ParseHeader(wire)
		if h != (Header{op, uint32(len(wire) - MiniHeaderSize)}) {
			t.Fatalf("header %+v of %d bytes", h, len(wire))
		}
		again, err := decodeDisplay(direction, op, wire[MiniHeaderSize:])
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func FuzzDisplayServer(f *testing.F) { fuzzDisplay(f, ServerToClient) }

func FuzzDisplayClient(f *testing.F) { fuzzDisplay(f, ClientToServer) }

// FuzzImage puts arbitrary bytes in the place of a source image.
func FuzzImage(f *testing.F) {
	for _, c := range imageCases {
		m := DrawCopy{DrawBase: testBase, Src: &Picture{Image: Image{Type: c.kind}, Payload: c.payload}}
		f.Add(m.Append(nil)[MiniHeaderSize+57:])
	}
	for _, c := range codecHeaderCases {
		m := DrawCopy{DrawBase: testBase, Src: &Picture{
			Image: Image{Type: c.kind}, Payload: EncodedData{c.header.Append(nil)},
		}}
		f.Add(m.Append(nil)[MiniHeaderSize+57:])
	}
	fixed := DrawCopy{DrawBase: testBase, Src: testCached}.Append(nil)[MiniHeaderSize:][:57]
	f.Fuzz(func(t *testing.T, image []byte) {
		b := append(fixed[:57:57], image...)
		var m DrawCopy
		var err error
		guardDisplayAllocs(t, b, func() { m, err = ParseDrawCopy(b) })
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Offset > len(b) {
				t.Fatalf("error %v", err)
			}
			return
		}
		h, err := m.Src.CodecHeader()
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Offset > len(b) || h != nil {
				t.Fatalf("header %+v, error %v", h, err)
			}
			return
		}
		if h == nil {
			return
		}
		again, err := (Picture{m.Src.Image, withData(m.Src.Payload, h.Append(nil))}).CodecHeader()
		if diff := cmp.Diff(h, again); diff != "" || err != nil {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
	})
}

// withData replaces the encoded bytes of an image that has a codec's header.
func withData(p ImagePayload, data []byte) ImagePayload {
	switch p.(type) {
	case LZPLTData:
		return LZPLTData{Data: data}
	case JPEGAlphaData:
		return JPEGAlphaData{Data: data}
	}
	return EncodedData{data}
}
