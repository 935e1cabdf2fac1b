package integration

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spicepacer/cmd/spicebench/dump"
	"spicepacer/spiceproto"
)

// eachCapture runs f for every stored capture, unpacked.
func eachCapture(t *testing.T, f func(t *testing.T, file string)) {
	t.Helper()
	const ending = ".pcap.gz"
	files, err := filepath.Glob("testdata/captures/*" + ending)
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ending), func(t *testing.T) { f(t, unpacked(t, file)) })
	}
}

// storedPort is QEMU's in the stored captures.
const storedPort = qemuPort

// unpacked returns a capture without its compression.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "capture.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

// eachRecord runs f for the messages and findings of every stored capture.
func eachRecord(t *testing.T, f func(t *testing.T, r *dump.Record)) {
	t.Helper()
	eachCapture(t, func(t *testing.T, file string) {
		if err := dump.ReadFile(file, func(r *dump.Record) error { f(t, r); return nil }); err != nil {
			t.Fatal(err)
		}
	})
}

// What real peers do breaks no rule.
func TestCapturesGiveNoFindings(t *testing.T) {
	messages := 0
	eachRecord(t, func(t *testing.T, r *dump.Record) {
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
	eachRecord(t, func(t *testing.T, r *dump.Record) {
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
