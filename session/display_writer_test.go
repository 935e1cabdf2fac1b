package session

import (
	"bytes"
	"math/rand/v2"
	"slices"
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
func newWriterDisplay(t *testing.T, link spicetest.LinkConfig) (*display, *farEnd) {
	t.Helper()
	_, near, far := spicetest.NewLink(link)
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
		d, client := newWriterDisplay(t, spicetest.LinkConfig{})
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
		d, client := newWriterDisplay(t, spicetest.LinkConfig{})
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
		d, client := newWriterDisplay(t, spicetest.LinkConfig{})
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

// Whoever writes, on a link that is full or a socket that is, all of it goes out in
// its order, fillers that a second display asks for meanwhile included, each message
// in one piece, and nothing waits for what comes after it.
func TestReaderAndWriterTakeTurns(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			d, client := newWriterDisplay(t, spicetest.LinkConfig{
				Profile: path(20, []float64{1, 10, 1000}[seed%3]), SendBuffer: []int{20_000, 1 << 20}[seed%2],
			})
			written := make(chan error, 1)
			go func() { written <- d.writer.run() }()
			received := client.collect()
			fillers := 0
			fill := func() {
				d.mu.Lock()
				fillers++
				d.queue.fill(1)
				d.pace.Stored(fillerSize, d.queue.memory)
				d.mu.Unlock()
				wake(d.arrived)
			}
			var want [][]byte
			for range 60 {
				m := opaque(250, random.IntN(20_000))
				want = append(want, m)
				later := time.AfterFunc(time.Duration(random.IntN(20))*time.Millisecond, fill)
				for len(m) > 0 {
					n := min(len(m), 1+random.IntN(8000))
					if err := d.accept(m[:n]); err != nil {
						t.Fatal(err)
					}
					m = m[n:]
					time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
				}
				later.Stop()
			}
			time.Sleep(time.Minute)
			d.mu.Lock()
			if n := d.queue.ready(); n > 0 || !d.writer.idle {
				t.Errorf("seed %d: %d bytes wait, the writer waits: %v", seed, n, d.writer.idle)
			}
			d.mu.Unlock()
			d.readerEnded(errEnded)
			if err := <-written; err != errEnded {
				t.Error(err)
			}
			d.ch.client.conn.Close()
			got, others := withoutFillers(received())
			wantBytes(t, got, slices.Concat(want...))
			if others != fillers {
				t.Errorf("seed %d: %d of %d fillers came", seed, others, fillers)
			}
		})
	}
}

// withoutFillers takes the fillers out of a stream and counts them.
func withoutFillers(stream []byte) (rest []byte, fillers int) {
	for _, m := range messages(stream) {
		if h, _ := spiceproto.ParseHeader(m); h.Type == spiceproto.MsgDisplayInvalList {
			fillers++
			continue
		}
		rest = append(rest, m...)
	}
	return rest, fillers
}
