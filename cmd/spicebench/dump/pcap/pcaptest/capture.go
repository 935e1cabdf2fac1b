// Package pcaptest makes captures for tests: pcap files with the TCP segments that
// a test asks for.
//
//	c := pcaptest.New()
//	conn := c.Dial(40000)
//	conn.Send(spiceproto.ClientToServer, []byte("REDQ..."))
//	conn.Close()
//	r, err := pcap.NewReader(bytes.NewReader(c.Bytes()))
package pcaptest

import (
	"encoding/binary"
	"net/netip"
	"time"

	"spicepacer/spiceproto"
)

// The addresses of all captured connections.
var (
	Client = netip.MustParseAddr("192.0.2.1")
	Server = netip.MustParseAddrPort("192.0.2.2:5900")
)

// Start is the time of the first packet; each comes a millisecond after the one
// before.
var Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TCP flags.
const (
	FIN = 1
	SYN = 2
	RST = 4
	ACK = 16
)

// Capture is a pcap file in the making, of raw IPv4 packets with times in
// nanoseconds.
type Capture struct {
	b     []byte
	now   time.Time
	conns uint32
}

// New starts a file.
func New() *Capture {
	c := &Capture{now: Start}
	for _, v := range [...]uint32{0xa1b23c4d, 4<<16 | 2, 0, 0, 1 << 18, 101} {
		c.b = binary.LittleEndian.AppendUint32(c.b, v)
	}
	return c
}

// Bytes returns the file so far.
func (c *Capture) Bytes() []byte { return c.b }

// Packet adds a packet.
func (c *Capture) Packet(b []byte) {
	for _, v := range [...]int{int(c.now.Unix()), c.now.Nanosecond(), len(b), len(b)} {
		c.b = binary.LittleEndian.AppendUint32(c.b, uint32(v))
	}
	c.b = append(c.b, b...)
	c.now = c.now.Add(time.Millisecond)
}

// Conn is a connection of a Capture.
type Conn struct {
	c    *Capture
	port uint16
	// next are the sequence numbers, by direction. They begin shortly before they
	// wrap, and differently in each connection.
	next [2]uint32
}

// Conn returns a connection that is not opened yet.
func (c *Capture) Conn(port uint16) *Conn {
	c.conns++
	return &Conn{c: c, port: port, next: [2]uint32{1<<32 - 100 - c.conns, 1<<32 - 50 - c.conns}}
}

// Dial returns a connection from a port of the client's, opened.
func (c *Capture) Dial(port uint16) *Conn {
	n := c.Conn(port)
	n.Segment(spiceproto.ClientToServer, SYN, 0, nil)
	n.Segment(spiceproto.ServerToClient, SYN|ACK, 0, nil)
	n.next[0]++
	n.next[1]++
	return n
}

// Send adds a segment with the next bytes of a direction.
func (n *Conn) Send(d spiceproto.Direction, b []byte) {
	n.Segment(d, ACK, 0, b)
	n.Lose(d, len(b))
}

// Lose lets the next bytes of a direction be missing.
func (n *Conn) Lose(d spiceproto.Direction, bytes int) { n.next[d] += uint32(bytes) }

// Segment adds a segment that begins some bytes after the next one of its
// direction, and changes nothing else.
func (n *Conn) Segment(d spiceproto.Direction, flags byte, ahead int, payload []byte) {
	n.c.Packet(n.packet(d, flags, n.next[d]+uint32(ahead), payload))
}

// Close ends both directions.
func (n *Conn) Close() {
	for _, d := range [...]spiceproto.Direction{spiceproto.ClientToServer, spiceproto.ServerToClient} {
		n.Segment(d, FIN|ACK, 0, nil)
		n.next[d]++
	}
	n.Segment(spiceproto.ClientToServer, ACK, 0, nil)
}

// packet is an IPv4 packet; nobody checks its sums.
func (n *Conn) packet(d spiceproto.Direction, flags byte, seq uint32, payload []byte) []byte {
	src, dst := netip.AddrPortFrom(Client, n.port), Server
	if d == spiceproto.ServerToClient {
		src, dst = dst, src
	}
	b := make([]byte, 20, 40+len(payload))
	b[0], b[9] = 0x45, 6
	binary.BigEndian.PutUint16(b[2:], uint16(40+len(payload)))
	copy(b[12:], src.Addr().AsSlice())
	copy(b[16:], dst.Addr().AsSlice())
	b = binary.BigEndian.AppendUint16(b, src.Port())
	b = binary.BigEndian.AppendUint16(b, dst.Port())
	b = binary.BigEndian.AppendUint32(b, seq)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = append(b, 5<<4, flags, 0, 0, 0, 0, 0, 0)
	return append(b, payload...)
}
