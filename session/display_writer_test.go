package session

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// newWriterDisplay returns a display on which no goroutine runs, and the client's
// end of its link, in a synctest bubble.
func newWriterDisplay(t *testing.T) (*display, *farEnd) {
	t.Helper()
	_, near, far := spicetest.NewLink(spicetest.LinkConfig{})
	_, server, hypervisor := spicetest.NewLink(spicetest.LinkConfig{})
	ch := &channel{
		kind: spiceproto.ChannelDisplay, mode: pacer.Adaptive, log: zap.NewNop(), stats: new(Stats),
		client: simulatedLeg(near, 0, new(int)),
		server: leg{conn: server, sock: simulatedSocket{server}},
	}
	r := &relaying{ch: ch, cfg: relayConfig{pacing: DefaultConfig().Pacing}, ended: make(chan struct{})}
	r.watch, r.acks = newStallWatch(ch.client, 0, r.end), newAckWatch(ch)
	d := newDisplay(r)
	t.Cleanup(func() {
		r.acks.stop()
		near.Close()
		far.Close()
		server.Close()
		hypervisor.Close()
		d.finish()
	})
	return d, &farEnd{Conn: far, t: t}
}

// handedOver takes the sign that the writer's goroutine has something to look at.
func (d *display) handedOver() bool {
	select {
	case <-d.arrived:
		return true
	default:
		return false
	}
}

// On a free link the reader writes what it has read, whole or not, while the
// writer's own goroutine waits.
func TestReaderWritesOnAFreeLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := newWriterDisplay(t)
		d.writer.idle = true
		m := opaque(250, 30_000)
		for _, part := range [][]byte{m[:3], m[3:200], m[200:], bytes.Repeat(opaque(251, 10), 100)} {
			if err := d.accept(part); err != nil {
				t.Fatal(err)
			}
			if d.handedOver() || !d.writer.idle || d.queue.ready() > 0 {
				t.Fatalf("%d bytes are left to the writer", d.queue.ready())
			}
		}
		client.want(append(m, bytes.Repeat(opaque(251, 10), 100)...))
	})
}

// While the writer's goroutine writes, or waits for room, only it does.
func TestReaderLeavesWritingToTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := newWriterDisplay(t)
		if err := d.accept(opaque(250, 100)); err != nil {
			t.Fatal(err)
		}
		if !d.handedOver() || d.queue.ready() == 0 {
			t.Error("the reader wrote beside the writer")
		}
		d.writer.idle = true
		if err := d.accept(opaque(250, 100)); err != nil {
			t.Fatal(err)
		}
		client.want(bytes.Repeat(opaque(250, 100), 2))
	})
}

// Beyond the budget nothing is written by the reader, which must not wait.
func TestReaderLeavesWhatThereIsNoRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := newWriterDisplay(t)
		d.writer.idle = true
		d.ch.client.probe = func() (pacer.LinkSample, error) {
			return pacer.LinkSample{Outstanding: 1 << 30}, nil
		}
		d.pace.Observe(time.Now(), pacer.LinkSample{Outstanding: 1 << 30})
		if err := d.accept(opaque(250, 100)); err != nil {
			t.Fatal(err)
		}
		if !d.handedOver() || !d.writer.idle || d.queue.ready() == 0 {
			t.Error("the reader wrote without room")
		}
		client.wantNothing(time.Second)
	})
}
