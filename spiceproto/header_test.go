package spiceproto

import (
	"bytes"
	"testing"
)

func TestHeader(t *testing.T) {
	h := Header{Type: MsgDisplayDrawCopy, Size: 0x01020304}
	wire := fromHex(t, "3001 04030201")
	if got := h.Append(nil); !bytes.Equal(got, wire) {
		t.Errorf("Append: %x, want %x", got, wire)
	}
	if got, ok := ParseHeader(append(wire, 0xee)); got != h || !ok {
		t.Errorf("ParseHeader: %+v, %v", got, ok)
	}
	for n := range wire {
		if got, ok := ParseHeader(wire[:n]); got != (Header{}) || ok {
			t.Errorf("ParseHeader of %d bytes: %+v, %v", n, got, ok)
		}
	}
}

func TestFullHeader(t *testing.T) {
	h := FullHeader{
		Serial: 0x0102030405060708, Type: MsgDisplayDrawCopy, Size: 0x01020304, SubList: 0x39,
	}
	wire := fromHex(t, "0807060504030201 3001 04030201 39000000")
	if got := h.Append(nil); !bytes.Equal(got, wire) {
		t.Errorf("Append: %x, want %x", got, wire)
	}
	if got, ok := ParseFullHeader(append(wire, 0xee)); got != h || !ok {
		t.Errorf("ParseFullHeader: %+v, %v", got, ok)
	}
	for n := range wire {
		if got, ok := ParseFullHeader(wire[:n]); got != (FullHeader{}) || ok {
			t.Errorf("ParseFullHeader of %d bytes: %+v, %v", n, got, ok)
		}
	}
	if got := h.Mini(); got != (Header{MsgDisplayDrawCopy, 0x01020304}) {
		t.Errorf("Mini: %+v", got)
	}
}
