package pcap

import (
	"net/netip"
	"slices"

	"spicepacer/spiceproto"
)

// Conn is a TCP connection of a capture.
type Conn struct {
	// Index counts the connections from 0 in the order of their first packets, as
	// Wireshark's tcp.stream does.
	Index int
	// Client is the side that opened the connection, if its first packet was
	// captured; else whoever was seen first.
	Client, Server netip.AddrPort
	// Late tells that the capture began after the connection did. Nothing of it
	// is given to the sink.
	Late bool

	// closed connections are kept until their addresses open a new one: their last
	// acknowledgements are no connections.
	closed bool
	// halves are what the two sides send, by spiceproto.Direction.
	halves [2]half
}

// Sink takes what the connections carried. p is the packet that brought it about.
type Sink interface {
	// Data is the next piece of one direction, without gaps. b is valid during
	// the call.
	Data(c *Conn, d spiceproto.Direction, p Packet, b []byte)
	// Lost tells that at least n bytes of a direction are missing, the first ones
	// after what Data was given. There will be no more of this direction.
	Lost(c *Conn, d spiceproto.Direction, p Packet, n int)
	// Closed is called once for each connection, also at the end of the file.
	Closed(c *Conn, p Packet)
}

// maxPending bounds what is kept of a direction behind missing bytes, which
// TCP sends again: a window's worth of bytes. The bytes are missing for good when
// it is exceeded.
const maxPending = 8 << 20

// Assembler puts connections together. A direction is followed from its SYN; if
// bytes are missing then, it is given up until the addresses open a new
// connection: nothing in the bytes themselves tells where a message begins.
type Assembler struct {
	sink  Sink
	conns map[flow]*Conn
	count int
}

// flow names a connection, the lesser address first.
type flow struct{ a, b netip.AddrPort }

// NewAssembler returns an Assembler that gives what it finds to sink.
func NewAssembler(sink Sink) *Assembler {
	return &Assembler{sink: sink, conns: make(map[flow]*Conn)}
}

// Add takes the next segment, of packet p.
func (a *Assembler) Add(p Packet, s Segment) {
	c := a.conn(p, s)
	if c.closed {
		return
	}
	d := spiceproto.ClientToServer
	if s.Src == c.Server {
		d = spiceproto.ServerToClient
	}
	h := &c.halves[d]
	seq := s.Seq
	if s.SYN {
		h.begin(seq)
		seq++
	}
	if !c.Late {
		a.deliver(c, d, p, seq, s.Payload)
	}
	if s.FIN {
		h.fin, h.end = true, seq+uint32(len(s.Payload))
	}
	if s.RST || c.finished() {
		a.close(c, p)
	}
}

// conn finds the segment's connection, or makes one.
func (a *Assembler) conn(p Packet, s Segment) *Conn {
	key := flow{s.Src, s.Dst}
	if s.Dst.Compare(s.Src) < 0 {
		key = flow{s.Dst, s.Src}
	}
	c := a.conns[key]
	opens := s.SYN && !s.ACK
	if c != nil && opens && (c.closed || !c.repeats(s)) {
		a.close(c, p)
		c = nil
	}
	if c == nil {
		c = &Conn{Index: a.count, Client: s.Src, Server: s.Dst, Late: !opens}
		a.count++
		if s.SYN && s.ACK {
			c.Client, c.Server = s.Dst, s.Src
		}
		a.conns[key] = c
	}
	return c
}

// repeats tells that a SYN is the one that opened c, sent again.
func (c *Conn) repeats(s Segment) bool {
	h := &c.halves[spiceproto.ClientToServer]
	return !c.Late && s.Src == c.Client && h.begun && h.first == s.Seq
}

// finished tells that both sides have ended their streams and all of them is here.
func (c *Conn) finished() bool {
	if c.Late {
		return c.halves[0].fin && c.halves[1].fin
	}
	return c.halves[0].finished() && c.halves[1].finished()
}

// deliver gives the sink what has become complete.
func (a *Assembler) deliver(c *Conn, d spiceproto.Direction, p Packet, seq uint32, payload []byte) {
	h := &c.halves[d]
	if len(payload) == 0 || h.lost {
		return
	}
	if !h.begun {
		h.lost = true // its SYN was not captured
		a.sink.Lost(c, d, p, len(payload))
		return
	}
	if ready := h.accept(seq, payload); len(ready) > 0 {
		a.sink.Data(c, d, p, ready)
		for ready = h.unblocked(); len(ready) > 0; ready = h.unblocked() {
			a.sink.Data(c, d, p, ready)
		}
	}
	if h.pendingBytes > maxPending {
		a.lose(c, d, p)
	}
}

// lose gives a direction up.
func (a *Assembler) lose(c *Conn, d spiceproto.Direction, p Packet) {
	h := &c.halves[d]
	missing := int(h.pending[0].seq - h.next)
	h.lost, h.pending, h.pendingBytes = true, nil, 0
	a.sink.Lost(c, d, p, missing)
}

// close ends a connection. What still waits behind missing bytes waits in vain.
func (a *Assembler) close(c *Conn, p Packet) {
	if c.closed {
		return
	}
	c.closed = true
	for _, d := range [...]spiceproto.Direction{spiceproto.ServerToClient, spiceproto.ClientToServer} {
		if len(c.halves[d].pending) > 0 {
			a.lose(c, d, p)
		}
	}
	a.sink.Closed(c, p)
}

// Close ends all connections, in the order of their first packets. p is the last
// packet of the file.
func (a *Assembler) Close(p Packet) {
	open := make([]*Conn, 0, len(a.conns))
	for _, c := range a.conns {
		open = append(open, c)
	}
	slices.SortFunc(open, func(x, y *Conn) int { return x.Index - y.Index })
	for _, c := range open {
		a.close(c, p)
	}
}
