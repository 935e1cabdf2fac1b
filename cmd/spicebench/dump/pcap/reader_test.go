package pcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// words appends each as a u32.
func words(order binary.AppendByteOrder, values ...uint32) (b []byte) {
	for _, v := range values {
		b = order.AppendUint32(b, v)
	}
	return b
}

// got is a packet with a copy of its data.
type got struct {
	Number int
	Time   time.Time
	Link   LinkType
	Data   string
}

func readAll(file []byte) (packets []got, err error) {
	r, err := NewReader(bytes.NewReader(file))
	for err == nil {
		var p Packet
		if p, err = r.Next(); err == nil {
			packets = append(packets, got{p.Number, p.Time.UTC(), p.Link, string(p.Data)})
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return packets, err
}

func classicFile(order binary.AppendByteOrder, magic uint32) []byte {
	file := words(order, magic, 0, 0, 0, 65535, 1)
	file = append(file, words(order, 100, 7, 3, 9)...)
	file = append(file, "abc"...)
	file = append(file, words(order, 101, 0, 0, 0)...)
	return file
}

func TestClassic(t *testing.T) {
	for name, file := range map[string][]byte{
		"little-endian microseconds": classicFile(binary.LittleEndian, 0xa1b2c3d4),
		"big-endian microseconds":    classicFile(binary.BigEndian, 0xa1b2c3d4),
		"little-endian nanoseconds":  classicFile(binary.LittleEndian, 0xa1b23c4d),
		"big-endian nanoseconds":     classicFile(binary.BigEndian, 0xa1b23c4d),
	} {
		unit := time.Microsecond
		if bytes.Contains(file[:4], []byte{0x3c}) {
			unit = time.Nanosecond
		}
		want := []got{
			{1, time.Unix(100, 0).Add(7 * unit).UTC(), LinkEthernet, "abc"},
			{2, time.Unix(101, 0).UTC(), LinkEthernet, ""},
		}
		packets, err := readAll(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, packets); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// block frames a pcapng block.
func block(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	size := uint32(12 + len(body))
	b := append(words(order, kind, size), body...)
	return append(b, words(order, size)...)
}

func section(order binary.AppendByteOrder) []byte {
	return block(order, blockSection, words(order, byteOrderMagic, 1, 0xffffffff, 0xffffffff))
}

// iface describes an interface with a snapshot length and options.
func iface(order binary.AppendByteOrder, link LinkType, snaplen uint32, options ...[]byte) []byte {
	body := order.AppendUint16(nil, uint16(link))
	body = order.AppendUint16(body, 0)
	body = order.AppendUint32(body, snaplen)
	return block(order, blockInterface, append(body, bytes.Join(options, nil)...))
}

func option(order binary.AppendByteOrder, code uint16, value ...byte) []byte {
	b := order.AppendUint16(nil, code)
	b = append(order.AppendUint16(b, uint16(len(value))), value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func ngFile(order binary.AppendByteOrder) []byte {
	return bytes.Join([][]byte{
		section(order),
		iface(order, LinkRaw, 4),
		iface(order, LinkEthernet, 0, option(order, 2, []byte("lo")...), option(order, optionResolution, 9),
			option(order, optionOffset, order.AppendUint64(nil, 50)...), option(order, optionEnd)),
		block(order, 5, []byte("statistics, skipped")),
		block(order, blockEnhanced, append(words(order, 0, 0, 1_500_000, 3, 3), "abc"...)),
		block(order, blockEnhanced, append(words(order, 1, 0, 7, 3, 3), "def"...)),
		block(order, blockSimple, append(words(order, 9), "ghij"...)),
		block(order, blockObsolete, append(append(order.AppendUint16(nil, 1), 0, 0), append(words(order, 0, 8, 1, 1), 'k')...)),
	}, nil)
}

func TestNG(t *testing.T) {
	want := []got{
		{1, time.Unix(1, 5e8).UTC(), LinkRaw, "abc"},
		{2, time.Unix(50, 7).UTC(), LinkEthernet, "def"},
		{3, time.Time{}, LinkRaw, "ghij"},
		{4, time.Unix(50, 8).UTC(), LinkEthernet, "k"},
	}
	// A second section, of the other byte order, has interfaces of its own.
	both := append(ngFile(binary.LittleEndian), ngFile(binary.BigEndian)...)
	for i, p := range want[:4] {
		p.Number = i + 5
		want = append(want, p)
	}
	packets, err := readAll(both)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, packets); diff != "" {
		t.Error(diff)
	}
}

func TestPerSecond(t *testing.T) {
	for resolution, want := range map[byte]uint64{
		0: 1, 6: 1e6, 9: 1e9, 0x80: 1, 0x94: 1 << 20,
		20: 1e6, 0xc0: 1e6, // more than 64 bits
	} {
		if got := perSecond(resolution); got != want {
			t.Errorf("perSecond(%#x) = %d, want %d", resolution, got, want)
		}
	}
}

// TestDamaged cuts good files at every length, and spoils them in single places.
func TestDamaged(t *testing.T) {
	classic, ng := classicFile(binary.LittleEndian, 0xa1b2c3d4), ngFile(binary.LittleEndian)
	for name, file := range map[string][]byte{"classic": classic, "ng": ng} {
		whole, err := readAll(file)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(file) {
			packets, err := readAll(file[:n])
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut to %d bytes: %v, want %v or none", name, n, err, io.ErrUnexpectedEOF)
			}
			if err == nil && n == 0 {
				t.Errorf("%s: empty file without an error", name)
			}
			if diff := cmp.Diff(whole[:len(packets)], packets); len(packets) > 0 && diff != "" {
				t.Errorf("%s cut to %d bytes changes packets:\n%s", name, n, diff)
			}
		}
	}
	le := binary.LittleEndian
	head := append(section(le), iface(le, LinkRaw, 0)...)
	for name, file := range map[string][]byte{
		"text":                      []byte("SPICE is nice, but this is a text"),
		"huge packet":               append(words(le, 0xa1b2c3d4, 0, 0, 0, 0, 1), words(le, 0, 0, 1<<31, 0)...),
		"section without order":     block(le, blockSection, words(le, 0, 1, 0, 0)),
		"short block":               append(head, words(le, blockEnhanced, 8, 8)...),
		"odd block":                 append(head, words(le, blockEnhanced, 13, 0, 0)...),
		"huge block":                append(head, words(le, blockEnhanced, 1<<31, 0, 0)...),
		"unknown interface":         append(head, block(le, blockEnhanced, words(le, 1, 0, 0, 0, 0))...),
		"packet beyond block":       append(head, block(le, blockEnhanced, words(le, 0, 0, 0, 5, 5, 0))...),
		"no room for a packet":      append(head, block(le, blockEnhanced, words(le, 0, 0))...),
		"simple, no interface":      append(section(le), block(le, blockSimple, words(le, 0))...),
		"simple beyond block":       append(head, block(le, blockSimple, words(le, 5, 0))...),
		"short interface":           append(section(le), block(le, blockInterface, words(le, 1))...),
		"more interfaces than 1024": append(section(le), bytes.Repeat(iface(le, LinkRaw, 0), maxInterfaces+1)...),
	} {
		if _, err := readAll(file); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want %v", name, err, ErrFormat)
		}
	}
}
