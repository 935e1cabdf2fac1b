package spicetest

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/spiceproto"
)

// RigConfig describes a Rig.
type RigConfig struct {
	Server ServerConfig
	// Link is the client's.
	Link LinkConfig
	// Backend, if set, is the link between proxy and server; without it they
	// meet in a net.Pipe, so that only ServerConfig.SocketBuffer lies between.
	Backend *LinkConfig
	// Proxy relays between the two connections until ctx ends or one of them
	// does. Without it the client's link ends at the server.
	Proxy func(ctx context.Context, client, server net.Conn) error
	// Input is called when a key press passes the proxy on its way to the guest;
	// may be nil.
	Input func()
}

// Rig is a server, a client, a link and what is under test between them, with
// verbs for a test to drive them. It lives in a synctest bubble.
type Rig struct {
	Server *Server
	Player *Player
	Link   *Link
	// ServerSide is the end of Link the proxy (or the server) writes to.
	ServerSide *LinkConn

	t       testing.TB
	input   func()
	presses []time.Time // number n, as the guest counts, at index n-1
	marked  time.Time
	skip    int  // presses before the mark
	before  View // counters at the mark
	ended   sync.WaitGroup
	cancel  context.CancelFunc
}

// Start builds a rig and lets it run; it ends with the test. It must be called
// inside synctest.Test.
func Start(t testing.TB, cfg RigConfig) *Rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &Rig{
		Server: NewServer(cfg.Server), Player: NewPlayer(),
		t: t, input: cfg.Input, marked: time.Now(), cancel: cancel,
	}
	t.Cleanup(r.stop)
	link, serverSide, clientSide := NewLink(cfg.Link)
	r.Link, r.ServerSide = link, serverSide

	serverConn := net.Conn(serverSide)
	if cfg.Proxy != nil {
		var backend net.Conn
		backend, serverConn = newBackend(cfg.Backend)
		r.run(ctx, "proxy", func() error { return cfg.Proxy(ctx, serverSide, backend) })
	}
	r.run(ctx, "server", func() error { return r.Server.Serve(ctx, serverConn) })
	r.run(ctx, "client", func() error { return r.Player.Run(ctx, clientSide) })
	return r
}

// newBackend returns the proxy's and the server's end of the connection between
// them.
func newBackend(cfg *LinkConfig) (proxy, server net.Conn) {
	if cfg == nil {
		return net.Pipe()
	}
	_, server, proxy = NewLink(*cfg)
	return proxy, server
}

// run starts a part of the rig. One that ends with an error before the test
// does fails it.
func (r *Rig) run(ctx context.Context, name string, f func() error) {
	r.ended.Go(func() {
		if err := f(); err != nil && ctx.Err() == nil {
			r.t.Errorf("%s: %v", name, err)
		}
	})
}

func (r *Rig) stop() {
	r.cancel()
	r.ended.Wait()
}

// Advance lets the rig run for d and until nothing more happens at that moment.
func (r *Rig) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// WantMessage waits until the client receives a message with the given opcode,
// skipping others, and fails the test if none comes within the time given.
func (r *Rig) WantMessage(op uint16, within time.Duration) {
	r.t.Helper()
	timeout := time.After(within)
	for {
		got, ok := r.Player.next(timeout)
		if !ok {
			name := spiceproto.MessageName(spiceproto.ChannelDisplay, spiceproto.ServerToClient, op)
			r.t.Fatalf("no %s (%d) within %v", name, op, within)
		}
		if got == op {
			return
		}
	}
}

// Press presses a key at the client. It reaches the guest half a round trip
// later, by a channel of its own that never queues.
func (r *Rig) Press() {
	r.presses = append(r.presses, time.Now())
	time.AfterFunc(r.Link.Profile().RTT/2, func() {
		if r.input != nil {
			r.input()
		}
		r.Server.Press()
	})
}

// WantEcho fails the test unless all presses show within d from now.
func (r *Rig) WantEcho(d time.Duration) {
	r.t.Helper()
	for deadline := time.Now().Add(d); ; r.Advance(time.Millisecond) {
		got, want := len(r.echoes()), len(r.presses)-r.skip
		if got == want {
			return
		}
		if !time.Now().Before(deadline) {
			r.t.Fatalf("%d of %d key presses show after %v", got, want, d)
		}
	}
}

// WantPicture fails the test unless the client shows what the guest has drawn.
// Call it when nothing is animated any more and the rig has come to rest.
func (r *Rig) WantPicture() {
	r.t.Helper()
	synctest.Wait()
	var want map[spiceproto.Rect]uint64
	r.Server.Inspect(func(_ *Sender, d *Desktop) { want = d.Shows() })
	r.Player.Inspect(func(v *View) {
		for box, id := range want {
			if got := v.Shows(box); got != id {
				r.t.Errorf("box %v shows image %#x, want %#x", box, got, id)
			}
		}
	})
}

// Mark starts the measurement anew, after a warm-up say.
func (r *Rig) Mark() {
	r.marked, r.skip = time.Now(), len(r.presses)
	r.Player.Inspect(func(v *View) { r.before = View{Messages: v.Messages, Bytes: v.Bytes} })
}

// Report is what was measured since the last Mark.
type Report struct {
	Elapsed time.Duration
	// Latencies are those from key press to draw of the presses that show.
	Latencies []time.Duration
	// Age is that of the animation's columns.
	Age Age
	// Messages and Bytes are those the client received.
	Messages, Bytes uint64
}

// Mbit returns the megabits per second the client received.
func (r Report) Mbit() float64 { return float64(r.Bytes) * 8 / 1e6 / r.Elapsed.Seconds() }

// Report returns the measurement so far.
func (r *Rig) Report() Report {
	synctest.Wait()
	var columns []spiceproto.Rect
	r.Server.Inspect(func(_ *Sender, d *Desktop) { columns = d.Columns() })
	now := time.Now()
	report := Report{Elapsed: now.Sub(r.marked), Latencies: r.echoes()}
	r.Player.Inspect(func(v *View) {
		report.Age = v.Age(columns, r.marked, now)
		report.Messages = v.Messages - r.before.Messages
		report.Bytes = v.Bytes - r.before.Bytes
	})
	return report
}

// echoes returns the latencies of the presses since the last Mark that show,
// in their order. A press shows when the key box does so under its number or a
// later one.
func (r *Rig) echoes() []time.Duration {
	var box spiceproto.Rect
	r.Server.Inspect(func(_ *Sender, d *Desktop) { box = d.KeyBox() })
	var shown []Update
	r.Player.Inspect(func(v *View) { shown = v.Updates(box) })
	var latencies []time.Duration
	for i, pressed := range r.presses {
		number := uint64(i + 1)
		for len(shown) > 0 && shown[0].ID < number {
			shown = shown[1:]
		}
		if len(shown) > 0 && i >= r.skip {
			latencies = append(latencies, shown[0].At.Sub(pressed))
		}
	}
	return latencies
}
