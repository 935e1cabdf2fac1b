package spiceproto

import (
	"bytes"
	"slices"
	"testing"
)

func TestSerials(t *testing.T) {
	var s Serials
	mini := slices.Concat(AckSync{Generation: 7}.Append(nil), AppendAck(nil))
	got := s.Append([]byte{0xee}, mini)
	want := fromHex(t, "ee"+
		"0100000000000000 0100 04000000 00000000 07000000"+
		"0200000000000000 0200 00000000 00000000")
	if !bytes.Equal(got, want) {
		t.Errorf("Append:\n got %x\nwant %x", got, want)
	}
	stamped := FullHeader{Serial: 99, Type: MsgcPong, Size: 12, SubList: 5}.Append(nil)
	s.Stamp(stamped)
	if h, _ := ParseFullHeader(stamped); h != (FullHeader{3, MsgcPong, 12, 5}) {
		t.Errorf("Stamp: %+v", h)
	}
	if got := s.Append(nil, AppendAck(nil)); got[0] != 4 {
		t.Errorf("Append after Stamp: serial %d, want 4", got[0])
	}
}

// What a framer for full headers finds behind Append is what one for mini headers
// finds before it, with serials that count from 1.
func TestSerialsKeepMessages(t *testing.T) {
	for _, name := range []string{"main.bin", "display.bin", "cursor.bin", "inputs.bin"} {
		mini := golden(t, name)
		var s Serials
		full := s.Append(nil, mini)
		f := Framer{Full: true}
		serial := uint64(0)
		for len(full) > 0 {
			seg := f.Next(full)
			full = full[len(seg.Bytes):]
			if seg.HeaderDone {
				serial++
				h, _ := ParseHeader(mini)
				if got := f.FullHeader(); got != (FullHeader{Serial: serial, Type: h.Type, Size: h.Size}) {
					t.Fatalf("%s: message %d has the header %+v, want %+v", name, serial, got, h)
				}
				mini = mini[MiniHeaderSize:]
				continue
			}
			if !bytes.HasPrefix(mini, seg.Bytes) {
				t.Fatalf("%s: body of message %d changed", name, serial)
			}
			mini = mini[len(seg.Bytes):]
		}
		if len(mini) != 0 || f.InMessage() {
			t.Errorf("%s: %d bytes left, in message %v", name, len(mini), f.InMessage())
		}
	}
}
