package pcap

import (
	"encoding/binary"
	"net/netip"
)

// Segment is a TCP segment.
type Segment struct {
	Src, Dst           netip.AddrPort
	Seq                uint32
	SYN, ACK, FIN, RST bool
	// Payload aliases the packet. It is shorter than the segment's if the capture
	// has cut the packet off.
	Payload []byte
}

// ParseSegment finds the TCP segment in a packet; false if there is none that it
// can read: another protocol, a fragment, a link type it does not know, or fewer
// bytes than the headers.
func ParseSegment(p Packet) (Segment, bool) {
	ip, ok := network(p.Link, p.Data)
	if !ok || len(ip) == 0 {
		return Segment{}, false
	}
	switch ip[0] >> 4 {
	case 4:
		return parseIPv4(ip)
	case 6:
		return parseIPv6(ip)
	}
	return Segment{}, false
}

// EtherTypes.
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
	etherQinQ = 0x88a8
)

// network strips the link layer's header.
func network(link LinkType, b []byte) ([]byte, bool) {
	switch link {
	case LinkRaw, LinkIPv4, LinkIPv6, 12, 14: // 12 and 14: LINKTYPE_RAW of some BSDs
		return b, true
	case LinkNull, LinkLoop:
		return after(b, 4)
	case LinkEthernet:
		return ethernet(b)
	case LinkSLL:
		return after(b, 16)
	case LinkSLL2:
		return after(b, 20)
	}
	return nil, false
}

func after(b []byte, n int) ([]byte, bool) {
	if len(b) < n {
		return nil, false
	}
	return b[n:], true
}

func ethernet(b []byte) ([]byte, bool) {
	const typeOffset, tagSize = 12, 4
	for len(b) >= typeOffset+2 {
		switch binary.BigEndian.Uint16(b[typeOffset:]) {
		case etherIPv4, etherIPv6:
			return b[typeOffset+2:], true
		case etherVLAN, etherQinQ:
			b = b[min(tagSize, len(b)):] // the offset counts from before the tag
		default:
			return nil, false
		}
	}
	return nil, false
}

const protocolTCP = 6

func parseIPv4(b []byte) (Segment, bool) {
	if len(b) < 20 {
		return Segment{}, false
	}
	header, total := 4*int(b[0]&0xf), int(binary.BigEndian.Uint16(b[2:]))
	fragment := binary.BigEndian.Uint16(b[6:]) & 0x3fff // more fragments, or an offset
	if header < 20 || len(b) < header || b[9] != protocolTCP || fragment != 0 {
		return Segment{}, false
	}
	// 0: a packet for the network card to cut, too large for the field.
	if total > header && total < len(b) {
		b = b[:total]
	}
	src, dst := netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
	return parseTCP(src, dst, b[header:])
}

// IPv6 extension headers that may precede TCP (RFC 8200); a fragment is not
// read.
const (
	extensionHopByHop    = 0
	extensionRouting     = 43
	extensionDestination = 60
)

func parseIPv6(b []byte) (Segment, bool) {
	const header = 40
	if len(b) < header {
		return Segment{}, false
	}
	if total := header + int(binary.BigEndian.Uint16(b[4:])); total > header && total < len(b) {
		b = b[:total]
	}
	next, rest := b[6], b[header:]
	src, dst := netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
	for next == extensionHopByHop || next == extensionRouting || next == extensionDestination {
		if len(rest) < 2 || len(rest) < 8*(int(rest[1])+1) {
			return Segment{}, false
		}
		next, rest = rest[0], rest[8*(int(rest[1])+1):]
	}
	if next != protocolTCP {
		return Segment{}, false
	}
	return parseTCP(src, dst, rest)
}

// parseTCP reads the header (RFC 9293, 3.1).
func parseTCP(src, dst netip.Addr, b []byte) (Segment, bool) {
	if len(b) < 20 {
		return Segment{}, false
	}
	header, flags := 4*int(b[12]>>4), b[13]
	if header < 20 || len(b) < header {
		return Segment{}, false
	}
	return Segment{
		Src: netip.AddrPortFrom(src, binary.BigEndian.Uint16(b)),
		Dst: netip.AddrPortFrom(dst, binary.BigEndian.Uint16(b[2:])),
		Seq: binary.BigEndian.Uint32(b[4:]),
		FIN: flags&1 != 0, SYN: flags&2 != 0, RST: flags&4 != 0, ACK: flags&16 != 0,
		Payload: b[header:],
	}, true
}
