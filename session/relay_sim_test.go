package session

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// simulated returns what a Rig takes for its proxy: the relay of one display
// channel in the given mode.
func simulated(mode pacer.Mode, change func(*Pacing)) func(context.Context, net.Conn, net.Conn) error {
	cfg := DefaultConfig().Pacing
	cfg.Mode = mode
	if change != nil {
		change(&cfg)
	}
	return func(ctx context.Context, client, server net.Conn) error {
		end := client.(*spicetest.LinkConn)
		ch := &channel{
			kind:   spiceproto.ChannelDisplay,
			client: leg{conn: client, probe: func() (pacer.LinkSample, error) { return simulatedSample(end), nil }},
			server: leg{conn: server},
			mode:   mode, log: zap.NewNop(), stats: &Stats{},
		}
		return relay(ctx, ch, relayConfig{pacing: cfg})
	}
}

func simulatedSample(c *spicetest.LinkConn) pacer.LinkSample {
	i := c.Info()
	return pacer.LinkSample{
		Acked: i.BytesAcked, Outstanding: i.SendQueue, NotSent: i.NotSent, RTT: i.RTT, MinRTT: i.MinRTT, MSS: 1448,
	}
}

// columns returns n equal sizes.
func columns(n, size int) []int {
	c := make([]int, n)
	for i := range c {
		c[i] = size
	}
	return c
}

func TestSimTmp(t *testing.T) {
	type cell struct {
		name string
		rtt  time.Duration
		rate float64
		w    uint32
		cols []int
	}
	for _, c := range []cell{
		{"80:10 heavy", 80 * time.Millisecond, 10e6, 40, columns(20, 44000)},
		{"80:50 heavy", 80 * time.Millisecond, 50e6, 40, columns(20, 44000)},
		{"20:50 heavy", 20 * time.Millisecond, 50e6, 20, columns(20, 44000)},
		{"150:2 heavy", 150 * time.Millisecond, 2e6, 40, columns(20, 44000)},
		{"150:50 large busy", 150 * time.Millisecond, 50e6, 40, columns(35, 2500)},
		{"80:10 busy", 80 * time.Millisecond, 10e6, 40, columns(20, 2100)},
	} {
		for _, mode := range pacer.Modes() {
			synctest.Test(t, func(t *testing.T) {
				r := spicetest.Start(t, spicetest.RigConfig{
					Server: spicetest.ServerConfig{Window: c.w, SocketBuffer: 40_000, Columns: c.cols, FPS: 30},
					Link:   spicetest.LinkConfig{Profile: spicetest.Profile{RTT: c.rtt, Rate: c.rate}},
					Proxy:  simulated(mode, nil),
				})
				r.Advance(10 * time.Second)
				r.Mark()
				for i := range 20 {
					r.Press()
					r.Advance(5*time.Second + time.Duration(i)*137*time.Millisecond)
				}
				r.Advance(10 * time.Second)
				rep := r.Report()
				slices.Sort(rep.Latencies)
				t.Logf("%s %v: %.2f Mbit/s, n=%d p50=%v max=%v age %+v", c.name, mode, rep.Mbit(), len(rep.Latencies), rep.Latencies[len(rep.Latencies)/2], rep.Latencies[len(rep.Latencies)-1], rep.Age)
			})
		}
	}
}
