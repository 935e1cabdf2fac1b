package guest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
)

type cpioEntry struct {
	name         string
	mode         uint64
	major, minor uint64
	content      string
}

// readCPIO is an independent reading of the format.
func readCPIO(b []byte) (entries []cpioEntry, err error) {
	align := func(n int) int { return (n + 3) / 4 * 4 }
	for pos := 0; ; {
		field := func(i int) int {
			n, ferr := strconv.ParseUint(string(b[pos+6+8*i:pos+14+8*i]), 16, 32)
			err = errors.Join(err, ferr)
			return int(n)
		}
		if magic := string(b[pos : pos+6]); magic != "070701" {
			return nil, fmt.Errorf("magic %q at %d", magic, pos)
		}
		nameEnd := pos + 110 + field(11)
		e := cpioEntry{
			name: string(b[pos+110 : nameEnd-1]), mode: uint64(field(1)),
			major: uint64(field(9)), minor: uint64(field(10)),
		}
		start := align(nameEnd)
		e.content = string(b[start : start+field(6)])
		if err != nil {
			return nil, err
		}
		pos = align(start + field(6))
		if e.name == "TRAILER!!!" {
			if pos != len(b) {
				return nil, fmt.Errorf("%d bytes after the trailer", len(b)-pos)
			}
			return entries, nil
		}
		entries = append(entries, e)
	}
}

func TestCPIORoundTrip(t *testing.T) {
	var b bytes.Buffer
	c := cpioWriter{w: &b}
	c.dir("dev")
	c.charDevice("dev/console", 5, 1)
	c.file("init", 0o755, []byte("12345"))
	c.file("m/00-a.ko", 0o644, []byte("1234"))
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	got, err := readCPIO(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := []cpioEntry{
		{name: "dev", mode: 0o040755},
		{name: "dev/console", mode: 0o020600, major: 5, minor: 1},
		{name: "init", mode: 0o100755, content: "12345"},
		{name: "m/00-a.ko", mode: 0o100644, content: "1234"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("read back %+v, want %+v", got, want)
	}
}

func TestCPIOGolden(t *testing.T) {
	var b bytes.Buffer
	c := cpioWriter{w: &b}
	c.file("a", 0o644, []byte("xy"))
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	const zero = "00000000"
	want := "070701" + "00000001" + "000081a4" + zero + zero + "00000001" + zero + "00000002" + zero + zero + zero + zero + "00000002" + zero +
		"a\x00" + "xy\x00\x00" +
		"070701" + "00000002" + zero + zero + zero + "00000001" + zero + zero + zero + zero + zero + zero + "0000000b" + zero +
		"TRAILER!!!\x00\x00\x00\x00"
	if b.String() != want {
		t.Errorf("archive is\n%q, want\n%q", b.String(), want)
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCPIOReportsTheFirstError(t *testing.T) {
	c := cpioWriter{w: &failingWriter{left: 200}}
	c.file("init", 0o755, make([]byte, 1000))
	c.dir("dev")
	if err := c.close(); !errors.Is(err, errFull) {
		t.Errorf("close: %v", err)
	}
}
