package pcap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"spicepacer/cmd/spicebench/dump/pcap"
	"spicepacer/cmd/spicebench/dump/pcap/pcaptest"
	"spicepacer/spiceproto"
)

const (
	down = spiceproto.ServerToClient
	up   = spiceproto.ClientToServer
)

// notebook writes down what an Assembler finds.
type notebook struct {
	streams map[string]string // by connection and direction
	events  []string
}

func key(c *pcap.Conn, d spiceproto.Direction) string { return fmt.Sprintf("%d %v", c.Index, d) }

func (n *notebook) Data(c *pcap.Conn, d spiceproto.Direction, _ pcap.Packet, b []byte) {
	n.streams[key(c, d)] += string(b)
}

func (n *notebook) Lost(c *pcap.Conn, d spiceproto.Direction, p pcap.Packet, bytes int) {
	n.events = append(n.events, fmt.Sprintf("%s lost %d at packet %d", key(c, d), bytes, p.Number))
}

func (n *notebook) Closed(c *pcap.Conn, p pcap.Packet) {
	late := ""
	if c.Late {
		late = ", late"
	}
	n.events = append(n.events, fmt.Sprintf("%d from port %d closed at packet %d%s", c.Index, c.Client.Port(), p.Number, late))
}

// assemble reads a file to its end, whatever that is.
func assemble(file []byte) *notebook {
	n := &notebook{streams: make(map[string]string)}
	r, err := pcap.NewReader(bytes.NewReader(file))
	if err != nil {
		return n
	}
	a := pcap.NewAssembler(n)
	var last pcap.Packet
	for {
		p, err := r.Next()
		if err != nil {
			break
		}
		last = p
		if s, ok := pcap.ParseSegment(p); ok {
			a.Add(p, s)
		}
	}
	a.Close(last)
	return n
}

func wantNotes(t *testing.T, c *pcaptest.Capture, streams map[string]string, events ...string) {
	t.Helper()
	n := assemble(c.Bytes())
	if diff := cmp.Diff(streams, n.streams); diff != "" {
		t.Errorf("streams (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(events, n.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAssembler(t *testing.T) {
	c := pcaptest.New()
	a, b := c.Dial(1000), c.Dial(2000)
	a.Send(up, []byte("ping "))
	b.Send(up, []byte("GET"))
	a.Send(down, []byte("pong "))
	a.Send(up, []byte("again"))
	a.Close()
	b.Segment(down, pcaptest.RST, 0, nil)
	b.Send(down, []byte("after the reset"))
	wantNotes(t, c, map[string]string{"0 c2s": "ping again", "0 s2c": "pong ", "1 c2s": "GET"},
		"0 from port 1000 closed at packet 10", "1 from port 2000 closed at packet 12")
}

func TestAssemblerRepeats(t *testing.T) {
	c := pcaptest.New()
	a := c.Dial(1000)
	a.Segment(up, pcaptest.ACK, 3, []byte("def")) // too early
	a.Segment(up, pcaptest.ACK, 5, []byte("fgh")) // overlaps it
	a.Segment(up, pcaptest.ACK, 3, []byte("de"))  // shorter than what is there
	a.Segment(up, pcaptest.ACK, 0, []byte("abcd"))
	a.Segment(up, pcaptest.ACK, 0, []byte("abc")) // again
	a.Lose(up, 8)
	a.Segment(up, pcaptest.ACK, -1, []byte("?")) // keepalive
	a.Send(up, []byte("i"))
	a.Close()
	wantNotes(t, c, map[string]string{"0 c2s": "abcdefghi"}, "0 from port 1000 closed at packet 11")
}

// TestAssemblerLoss loses bytes: the rest of the direction is given up, the other
// one goes on, and so does a new connection from the same port.
func TestAssemblerLoss(t *testing.T) {
	c := pcaptest.New()
	a := c.Dial(1000)
	a.Send(up, []byte("before"))
	a.Lose(up, 7)
	a.Send(up, []byte("behind"))
	a.Send(down, []byte("unharmed"))
	a.Close()
	c.Dial(1000).Send(up, []byte("anew"))
	wantNotes(t, c, map[string]string{"0 c2s": "before", "0 s2c": "unharmed", "1 c2s": "anew"},
		"0 c2s lost 7 at packet 9", "0 from port 1000 closed at packet 9", "1 from port 1000 closed at packet 11")
}

// TestAssemblerGivesUp waits for lost bytes only so long.
func TestAssemblerGivesUp(t *testing.T) {
	c := pcaptest.New()
	a := c.Dial(1000)
	a.Lose(down, 1)
	piece := make([]byte, 60000)
	for range 8<<20/len(piece) + 2 {
		a.Send(down, piece)
	}
	wantNotes(t, c, map[string]string{}, "0 s2c lost 1 at packet 142", "0 from port 1000 closed at packet 143")
}

func TestAssemblerBeginsLate(t *testing.T) {
	c := pcaptest.New()
	a := c.Conn(1000)
	a.Send(down, []byte("REDQ, or so it seems"))
	a.Send(up, []byte("more"))
	b := c.Conn(2000) // its server's SYN was missed
	b.Segment(up, pcaptest.SYN, 0, nil)
	b.Lose(up, 1)
	b.Send(up, []byte("hello"))
	b.Send(down, []byte("lost"))
	a.Close()
	wantNotes(t, c, map[string]string{"1 c2s": "hello"},
		"1 s2c lost 4 at packet 5", "0 from port 5900 closed at packet 7, late", "1 from port 2000 closed at packet 8")
}

// TestAssemblerAnyOrder sends a stream in pieces that arrive in any order, some of
// them twice or overlapping.
func TestAssemblerAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := rapid.SliceOfN(rapid.Byte(), 1, 500).Draw(t, "stream")
		c := pcaptest.New()
		conn := c.Dial(1000)
		var starts []int
		for at := 0; at < len(stream); at += rapid.IntRange(1, 50).Draw(t, "step") {
			starts = append(starts, at)
		}
		pieces := rapid.Permutation(append(starts, starts...)).Draw(t, "order")
		for _, at := range pieces {
			// At least up to the next start.
			end := min(len(stream), at+50+rapid.IntRange(0, 60).Draw(t, "overlap"))
			conn.Segment(down, pcaptest.ACK, at, stream[at:end])
		}
		conn.Lose(down, len(stream))
		conn.Close()
		n := assemble(c.Bytes())
		if got := n.streams["0 s2c"]; got != string(stream) {
			t.Fatalf("got %q, want %q", got, stream)
		}
		if len(n.events) != 1 {
			t.Fatalf("events %q, want the end only", n.events)
		}
	})
}

func TestReaderEnds(t *testing.T) {
	c := pcaptest.New()
	c.Dial(1000)
	r, err := pcap.NewReader(bytes.NewReader(c.Bytes()))
	for n := 1; err == nil; n++ {
		var p pcap.Packet
		if p, err = r.Next(); err == nil && p.Number != n {
			t.Errorf("packet %d has number %d", n, p.Number)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("ends with %v, want io.EOF", err)
	}
}
