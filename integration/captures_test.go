package integration

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"spicepacer/cmd/spicebench/dump"
	"spicepacer/spiceproto"
)

// eachCapture runs f for the messages and findings of every stored capture.
func eachCapture(t *testing.T, f func(t *testing.T, r *dump.Record)) {
	t.Helper()
	files, err := filepath.Glob("testdata/captures/*.pcap.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := dump.ReadFile(unpacked(t, file), func(r *dump.Record) error { f(t, r); return nil }); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What real peers do breaks no rule.
func TestCapturesGiveNoFindings(t *testing.T) {
	messages := 0
	eachCapture(t, func(t *testing.T, r *dump.Record) {
		switch r.Kind {
		case dump.Message:
			messages++
		case dump.Finding:
			t.Errorf("packet %d, connection %d: %s", r.Packet, r.Conn, r.Text)
		}
	})
	if messages < 4000 {
		t.Errorf("%d messages in all captures", messages)
	}
}

// A message of a real peer that can be encoded is the same bytes after decoding and
// encoding.
func TestCapturesComeBack(t *testing.T) {
	encoded, all := 0, 0
	eachCapture(t, func(t *testing.T, r *dump.Record) {
		if r.Kind != dump.Message {
			return
		}
		all++
		m, err := spiceproto.Decode(r.Channel, r.Direction, r.Opcode, r.Body)
		if unknown := new(spiceproto.DecodeError); errors.As(err, &unknown) {
			t.Errorf("packet %d: %v", r.Packet, err)
			return
		}
		e, ok := m.(interface{ Append([]byte) []byte })
		if !ok {
			return
		}
		encoded++
		want := append(spiceproto.Header{Type: r.Opcode, Size: uint32(r.Size)}.Append(nil), r.Body...)
		if got := e.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("packet %d: %s of %d bytes comes back as %d bytes, different from %d on",
				r.Packet, r.Name, len(want), len(got), differ(got, want))
		}
	})
	t.Logf("%d of %d messages came back", encoded, all)
	if 10*encoded < 9*all {
		t.Errorf("only %d of %d messages can be encoded", encoded, all)
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
