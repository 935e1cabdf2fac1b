package client

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"spicepacer/spiceproto"
)

// sink is a connection that keeps what is written.
type sink struct {
	net.Conn
	written bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) { return s.written.Write(p) }

// sweep is a sweep of the rig's activity in columns, behind a SET_ACK and with a
// PING in it.
func sweep() []byte {
	b := spiceproto.SetAck{Generation: 1, Window: 4}.Append(nil)
	for x := int32(624); x < 1264; x += 32 {
		b = draw(box(x, 160, x+32, 640), 2000).Append(b)
		if x == 816 {
			b = spiceproto.Ping{ID: 3}.Append(b)
		}
	}
	return b
}

// newTestDisplay has its measuring window open.
func newTestDisplay() (*channel, *display) {
	d := &display{
		regions: newRegions([]spiceproto.Rect{box(624, 160, 1264, 640)}, 32),
		clock:   new(mediaClock), streams: streams{}, keyBox: keyBox,
	}
	d.open(at(0))
	return &channel{kind: spiceproto.ChannelDisplay, conn: new(sink)}, d
}

// TestConsumeWhateverThePieces checks that replies and books do not depend on how
// the bytes were cut.
func TestConsumeWhateverThePieces(t *testing.T) {
	whole, wantBooks := newTestDisplay()
	if err := whole.consume(sweep(), at(1), wantBooks.handle); err != nil {
		t.Fatal(err)
	}
	want := whole.conn.(*sink).written.Bytes()
	rapid.Check(t, func(t *rapid.T) {
		c, d := newTestDisplay()
		for rest := sweep(); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if err := c.consume(rest[:n], at(1), d.handle); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got := c.conn.(*sink).written.Bytes(); !bytes.Equal(got, want) {
			t.Fatalf("replies % x, want % x", got, want)
		}
		if c.counter.messages.Load() != 22 || !slices.Equal(d.books.age.updates, wantBooks.books.age.updates) {
			t.Fatalf("%d messages, updates %v", c.counter.messages.Load(), d.books.age.updates)
		}
	})
}

// TestWindowLeavesOutWhatWasReadBefore books a message that was read before the
// window was opened, but looked at after.
func TestWindowLeavesOutWhatWasReadBefore(t *testing.T) {
	c, d := newTestDisplay()
	if err := c.consume(sweep(), at(-1), d.handle); err != nil {
		t.Fatal(err)
	}
	if len(d.books.images) != 0 || slices.Max(d.books.age.updates) != 0 {
		t.Errorf("images %v, updates %v; want none", d.books.images, d.books.age.updates)
	}
}

func TestConsumeDoesNotAllocate(t *testing.T) {
	c, d := newTestDisplay()
	d.books.age.gaps = make([]time.Duration, 0, 1<<20) // its growth is paid for
	c.conn.(*sink).written.Grow(1 << 20)
	b := sweep()
	allocs := testing.AllocsPerRun(100, func() {
		if err := c.consume(b, at(1), d.handle); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations a sweep, want none", allocs)
	}
}

func BenchmarkConsume(b *testing.B) {
	c, d := newTestDisplay()
	p := sweep()
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		c.conn.(*sink).written.Reset()
		d.books.age.gaps = d.books.age.gaps[:0]
		if err := c.consume(p, at(1), d.handle); err != nil {
			b.Fatal(err)
		}
	}
}
