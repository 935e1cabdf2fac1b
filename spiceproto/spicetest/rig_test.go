package spicetest_test

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

var thin = spicetest.LinkConfig{
	Profile: spicetest.Profile{RTT: 80 * time.Millisecond, Rate: 10e6},
}

// relay is the simplest proxy: it copies both ways.
func relay(ctx context.Context, client, server net.Conn) error {
	defer context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})()
	var both errgroup.Group
	both.Go(func() error {
		_, err := io.Copy(client, server)
		return err
	})
	both.Go(func() error {
		_, err := io.Copy(server, client)
		return err
	})
	return both.Wait()
}

// TestRig shows how the harness is used.
func TestRig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := spicetest.Start(t, spicetest.RigConfig{
			Server: spicetest.ServerConfig{Columns: spicetest.Heavy()},
			Link:   thin,
			Proxy:  relay,
		})

		// What a display channel starts with, on a screen at rest.
		r.WantMessage(spiceproto.MsgSetAck, 100*time.Millisecond)
		r.WantMessage(spiceproto.MsgDisplaySurfaceCreate, time.Second)
		r.WantMessage(spiceproto.MsgDisplayMark, time.Second)
		r.Press()
		r.WantEcho(150 * time.Millisecond) // round trip, 30 ms refresh, 4 kB

		// A busy screen fills everything between server and user.
		r.Server.Animate(30)
		r.Advance(5 * time.Second)
		r.Mark()
		r.Press()
		r.WantEcho(3 * time.Second)
		if busy := r.Report(); busy.Mbit() < 9.5 || busy.Latencies[0] < 500*time.Millisecond {
			t.Errorf("link full: %.2f Mbit/s, echo after %v", busy.Mbit(), busy.Latencies[0])
		}
		if info := r.ServerSide.Info(); info.SendQueue < 200_000 {
			t.Errorf("link full: %d bytes in the client's socket", info.SendQueue)
		}

		// The link changes, the client stops reading, then all comes to rest.
		r.Link.Change(spicetest.Profile{RTT: 20 * time.Millisecond, Rate: 50e6})
		r.Player.Hold(true)
		r.Advance(10 * time.Second)
		r.Player.Hold(false)
		r.Server.Animate(0)
		r.Advance(10 * time.Second)
		r.WantPicture()
	})
}

// The model of the unpaced path has to show what was measured on the real one
// at 80 ms, 10 Mbit/s: 993 ms with W 20, 2552 ms with W 40.
func TestModelAgreesWithMeasuredLatency(t *testing.T) {
	for _, c := range []struct {
		window    uint32
		low, high time.Duration
	}{
		{20, 800 * time.Millisecond, 1400 * time.Millisecond},
		{40, 1800 * time.Millisecond, 3000 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := spicetest.Start(t, spicetest.RigConfig{
				Server: spicetest.ServerConfig{Window: c.window, Columns: spicetest.Heavy(), FPS: 30},
				Link:   thin,
				Proxy:  relay,
			})
			r.Advance(10 * time.Second)
			r.Mark()
			for range 20 {
				r.Press()
				r.Advance(1370 * time.Millisecond)
			}
			r.WantEcho(5 * time.Second)
			var sum time.Duration
			latencies := r.Report().Latencies
			for _, l := range latencies {
				sum += l
			}
			if mean := sum / time.Duration(len(latencies)); mean < c.low || mean > c.high {
				t.Errorf("W %d: mean latency %v, want %v to %v", c.window, mean, c.low, c.high)
			}
		})
	}
}

// With little room behind the server, its pipe is stopped by bytes, and each
// frame starts over from the left: what the read valve alone does to a picture.
func TestModelStarvesWhenStoppedByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := thin
		link.SendBuffer = 128 << 10
		r := spicetest.Start(t, spicetest.RigConfig{
			Server: spicetest.ServerConfig{Window: 40, Columns: spicetest.Heavy(), FPS: 30, SocketBuffer: 30_000},
			Link:   link,
		})
		r.Advance(10 * time.Second)
		r.Mark()
		r.Advance(30 * time.Second)
		if age := r.Report().Age; age.Least > 2 || age.Most < 100 {
			t.Errorf("updates %d to %d, want a frozen region beside a lively one", age.Least, age.Most)
		}
	})
}

func TestProbesAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := spicetest.Start(t, spicetest.RigConfig{
			Server: spicetest.ServerConfig{Probe: 15 * time.Second}, Link: thin,
		})
		r.Advance(50 * time.Second)
		if got := r.Server.Pongs(); got != 6 {
			t.Errorf("%d PONGs after 50 s, want 6", got)
		}
	})
}
