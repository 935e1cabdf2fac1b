package dump

import (
	"errors"
	"fmt"
	"io"

	"spicepacer/cmd/spicebench/dump/pcap"
	"spicepacer/spiceproto"
)

// readCapture reads a pcap or pcapng file.
func readCapture(in io.Reader, visit Visit) error {
	packets, err := pcap.NewReader(in)
	if err != nil {
		return err
	}
	l := &listener{visit: visit, conversations: make(map[*pcap.Conn]*conversation)}
	a := pcap.NewAssembler(l)
	var last pcap.Packet
	for l.err == nil {
		p, err := packets.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			// What came before is worth showing.
			l.err = visit(&Record{Kind: Notice, Time: last.Time, Packet: last.Number,
				Text: fmt.Sprintf("capture is damaged or cut off; its end is not decoded: %v", err)})
			break
		}
		last = pcap.Packet{Number: p.Number, Time: p.Time}
		if s, ok := pcap.ParseSegment(p); ok {
			a.Add(p, s)
		}
	}
	if l.err == nil {
		a.Close(last)
	}
	return l.err
}

// listener hands what the connections of a capture carry to their conversations.
// The first error sticks.
type listener struct {
	visit         Visit
	conversations map[*pcap.Conn]*conversation
	err           error
}

func (l *listener) of(c *pcap.Conn) *conversation {
	v := l.conversations[c]
	if v == nil {
		v = &conversation{out: l.visit, conn: c}
		l.conversations[c] = v
	}
	return v
}

// Data implements pcap.Sink.
func (l *listener) Data(c *pcap.Conn, d spiceproto.Direction, p pcap.Packet, b []byte) {
	if l.err == nil {
		l.err = l.of(c).data(d, p, b)
	}
}

// Lost implements pcap.Sink.
func (l *listener) Lost(c *pcap.Conn, d spiceproto.Direction, p pcap.Packet, n int) {
	if l.err == nil {
		l.err = l.of(c).lost(d, p, n)
	}
}

// Closed implements pcap.Sink.
func (l *listener) Closed(c *pcap.Conn, p pcap.Packet) {
	v := l.conversations[c]
	delete(l.conversations, c)
	switch {
	case l.err != nil:
	case c.Late:
		l.err = (&conversation{out: l.visit, conn: c}).notice(p, up,
			"capture began after the connection from %v to %v did; not decoded", c.Client, c.Server)
	case v != nil:
		l.err = v.closed(p)
	}
}
