package pcap

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	tcp = []byte{
		0x13, 0x88, 0x17, 0x0c, // ports 5000, 5900
		1, 2, 3, 4, 0, 0, 0, 0,
		6 << 4, flagACK | flagFIN, 0, 0, 0, 0, 0, 0,
		1, 1, 1, 1, // options
		'h', 'i',
	}
	v4Addresses = []byte{10, 0, 0, 1, 10, 0, 0, 2}
)

const (
	flagFIN = 1
	flagACK = 16
)

// v4 is an IPv4 packet with options.
func v4(total int, fragment uint16, payload []byte) []byte {
	b := []byte{0x46, 0, 0, 0, 0, 0, 0, 0, 64, protocolTCP, 0, 0}
	binary.BigEndian.PutUint16(b[2:], uint16(total))
	binary.BigEndian.PutUint16(b[6:], fragment)
	b = append(append(b, v4Addresses...), 1, 1, 1, 1)
	return append(b, payload...)
}

func v6(next byte, payload []byte) []byte {
	b := make([]byte, 40)
	b[0], b[6], b[23], b[39] = 6<<4, next, 1, 2
	binary.BigEndian.PutUint16(b[4:], uint16(len(payload)))
	return append(b, payload...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestParseSegment(t *testing.T) {
	want4 := Segment{
		Src: netip.MustParseAddrPort("10.0.0.1:5000"), Dst: netip.MustParseAddrPort("10.0.0.2:5900"),
		Seq: 0x01020304, ACK: true, FIN: true, Payload: []byte("hi"),
	}
	want6 := want4
	want6.Src, want6.Dst = netip.MustParseAddrPort("[::1]:5000"), netip.MustParseAddrPort("[::2]:5900")
	cut := want4
	cut.Payload = []byte("h")
	whole := v4(24+len(tcp), 0, tcp)
	mac := make([]byte, 12)
	for _, c := range []struct {
		name string
		link LinkType
		data []byte
		want *Segment
	}{
		{"raw", LinkRaw, whole, &want4},
		{"Ethernet padding", LinkEthernet, join(mac, []byte{8, 0}, whole, make([]byte, 6)), &want4},
		{"VLAN in VLAN", LinkEthernet, join(mac, []byte{0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 8, 0}, whole), &want4},
		{"loopback", LinkNull, join([]byte{2, 0, 0, 0}, whole), &want4},
		{"any device", LinkSLL, join(make([]byte, 16), whole), &want4},
		{"any device, new", LinkSLL2, join(make([]byte, 20), whole), &want4},
		{"length left to the card", LinkIPv4, v4(0, 0, tcp), &want4},
		{"snapshot cuts the payload", LinkRaw, whole[:len(whole)-1], &cut},
		{"do not fragment", LinkRaw, v4(24+len(tcp), 0x4000, tcp), &want4},
		{"IPv6", LinkEthernet, join(mac, []byte{0x86, 0xdd}, v6(protocolTCP, tcp)), &want6},
		{"IPv6 extensions", LinkIPv6, v6(extensionHopByHop, join(
			[]byte{extensionDestination, 0, 0, 0, 0, 0, 0, 0},
			[]byte{protocolTCP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, tcp)), &want6},

		{"first fragment", LinkRaw, v4(24+len(tcp), 0x2000, tcp), nil},
		{"later fragment", LinkRaw, v4(24+len(tcp), 5, tcp), nil},
		{"IPv6 fragment", LinkRaw, v6(44, join(make([]byte, 8), tcp)), nil},
		{"ARP", LinkEthernet, join(mac, []byte{8, 6}, whole), nil},
		{"other link type", 147, whole, nil},
		{"not IP", LinkRaw, []byte{0x10, 0, 0}, nil},
		{"empty", LinkRaw, nil, nil},
	} {
		s, ok := ParseSegment(Packet{Link: c.link, Data: c.data})
		if ok != (c.want != nil) {
			t.Errorf("%s: found %v", c.name, ok)
			continue
		}
		if c.want == nil {
			continue
		}
		diff := cmp.Diff(*c.want, s, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }))
		if diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// TestParseSegmentCut reads packets of every length.
func TestParseSegmentCut(t *testing.T) {
	for link, data := range map[LinkType][]byte{
		LinkEthernet: join(make([]byte, 12), []byte{8, 0}, v4(0, 0, tcp)),
		LinkIPv6:     v6(extensionHopByHop, join([]byte{protocolTCP, 0, 0, 0, 0, 0, 0, 0}, tcp)),
	} {
		for n := range len(data) {
			s, ok := ParseSegment(Packet{Link: link, Data: data[:n]})
			if wantOK := n >= len(data)-2; ok != wantOK || len(s.Payload) > 2 {
				t.Errorf("link type %d cut to %d bytes: %v, payload %q", link, n, ok, s.Payload)
			}
		}
	}
}
