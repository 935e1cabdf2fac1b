package session

import (
	"context"
	"math"
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

// simulate sets what a Rig takes for its proxy: the relay of one display channel
// in the given mode, before a server with the given channel capabilities.
func simulate(rig *spicetest.RigConfig, mode pacer.Mode, server spiceproto.Caps) {
	cfg := relayConfig{pacing: DefaultConfig().Pacing, displays: new(sessionDisplays)}
	rig.Input = func() { cfg.displays.input(time.Now()) }
	rig.Proxy = func(ctx context.Context, near, far net.Conn) error {
		ch := &channel{
			kind: spiceproto.ChannelDisplay, mode: mode, log: zap.NewNop(), stats: new(Stats),
			client: simulatedLeg(near.(*spicetest.LinkConn), 0, new(int)), server: leg{conn: far},
			serverCaps: server,
		}
		return relay(ctx, ch, cfg)
	}
}

// smallSocket is what the read valve's options leave in the server's socket on
// loopback.
const smallSocket = 40_000

// cell is a link with an activity on the screen.
type cell struct {
	link    spicetest.Profile
	window  uint32
	columns []int
	// warmup comes before, pause after each of the measured key presses.
	warmup, pause time.Duration
	presses       int
	// sorts: the server can be asked for images that the queue can sort.
	sorts bool
}

// path returns a link of the given round trip and rate.
func path(ms int, mbit float64) spicetest.Profile {
	return spicetest.Profile{RTT: time.Duration(ms) * time.Millisecond, Rate: mbit * 1e6}
}

// start lets the cell run in a mode; it must be called in a synctest bubble.
func (c cell) start(t *testing.T, mode pacer.Mode) *spicetest.Rig {
	server := spicetest.ServerConfig{Window: c.window, Columns: c.columns, FPS: 30}
	if mode == pacer.Adaptive {
		server.SocketBuffer = smallSocket
	}
	rig := spicetest.RigConfig{Server: server, Link: spicetest.LinkConfig{Profile: c.link}}
	simulate(&rig, mode, c.serverCaps())
	return spicetest.Start(t, rig)
}

func (c cell) serverCaps() spiceproto.Caps {
	if !c.sorts {
		return nil
	}
	_, caps := spiceproto.ServerCaps(spiceproto.ChannelDisplay)
	return caps
}

// measure returns what a mode makes of the cell.
func (c cell) measure(t *testing.T, mode pacer.Mode) (report spicetest.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := c.start(t, mode)
		r.Advance(c.warmup)
		report = press(r, c.presses, c.pause)
	})
	t.Logf("%-11v %5.2f Mbit/s, p50 %v of %d, age p95 %v", mode, report.Mbit(),
		p50(report).Round(time.Millisecond), len(report.Latencies), report.Age.P95.Round(time.Millisecond))
	return report
}

// press presses a key n times, on average once in a pause and out of step with
// everything periodic, and returns the report, latencies in their order of size.
func press(r *spicetest.Rig, n int, pause time.Duration) spicetest.Report {
	r.Mark()
	for i := range n {
		_, phase := math.Modf(float64(i) * math.Phi)
		r.Press()
		r.Advance(scaled(pause, 0.5+phase))
	}
	report := r.Report()
	slices.Sort(report.Latencies)
	return report
}

func p50(r spicetest.Report) time.Duration { return r.Latencies[len(r.Latencies)/2] }

func heavy() []int     { return spicetest.Heavy() }
func busy() []int      { return spicetest.Busy() }
func largeBusy() []int { return slices.Repeat([]int{2_500}, 35) }

// What pacing is for: on every link and activity the picture answers sooner or
// as soon, no region is older, and no throughput is lost.
func TestPacingAgainstPassthrough(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		name string
		cell
		// withhold, adaptive and sorting bound the median latency, mbit the
		// throughput of adaptive and sorting, as shares of passthrough's.
		// Sorting is adaptive where the server can be asked for other images.
		withhold, adaptive, sorting, mbit float64
	}{
		{"80:10 idle", cell{path(80, 10), 40, nil, time.Second, 200 * time.Millisecond, 40, false}, 1, 1, 1, 0.97},
		{"80:10 heavy", cell{path(80, 10), 40, heavy(), 6 * time.Second, 500 * time.Millisecond, 40, false}, 0.6, 0.35, 0.1, 0.97},
		{"80:50 heavy", cell{path(80, 50), 40, heavy(), 3 * time.Second, 120 * time.Millisecond, 30, false}, 1, 0.65, 0.35, 0.97},
		{"20:50 heavy", cell{path(20, 50), 20, heavy(), 3 * time.Second, 120 * time.Millisecond, 30, false}, 1, 0.8, 0.4, 0.97},
		{"150:2 heavy", cell{path(150, 2), 40, heavy(), 20 * time.Second, 2 * time.Second, 40, false}, 0.6, 0.35, 0.06, 0.97},
		{"80:10 busy", cell{path(80, 10), 40, busy(), 3 * time.Second, 120 * time.Millisecond, 30, false}, 1.1, 1.2, 1, 0.97},
		{"150:50 large busy", cell{path(150, 50), 40, largeBusy(), 3 * time.Second, 120 * time.Millisecond, 30, false}, 1.05, 1, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			passthrough := c.measure(t, pacer.Passthrough)
			compare(t, "withhold", c.measure(t, pacer.Withhold), passthrough, c.withhold, 0.97)
			compare(t, "adaptive", c.measure(t, pacer.Adaptive), passthrough, c.adaptive, c.mbit)
			c.cell.sorts = true
			compare(t, "sorting", c.measure(t, pacer.Adaptive), passthrough, c.sorting, c.mbit)
		})
	}
}

// compare fails the test if a mode's report is worse than shares of
// passthrough's: at most latency, at least mbit, at most 1.15 of the age.
func compare(t *testing.T, mode string, got, passthrough spicetest.Report, latency, mbit float64) {
	t.Helper()
	// Between two ticks of the screen's refresh lies what a mode cannot change.
	const tick = 2 * time.Millisecond
	if limit := scaled(p50(passthrough), latency) + tick; p50(got) > limit {
		t.Errorf("%s: median latency %v, passthrough %v", mode, p50(got), p50(passthrough))
	}
	if len(got.Latencies) < len(passthrough.Latencies)*9/10 {
		t.Errorf("%s: %d key presses show, passthrough %d", mode, len(got.Latencies), len(passthrough.Latencies))
	}
	if got.Mbit() < mbit*passthrough.Mbit() {
		t.Errorf("%s: %.2f Mbit/s, passthrough %.2f", mode, got.Mbit(), passthrough.Mbit())
	}
	if limit := scaled(passthrough.Age.P95, 1.15); got.Age.P95 > limit {
		t.Errorf("%s: age p95 %v, passthrough %v", mode, got.Age.P95, passthrough.Age.P95)
	}
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

// The link fails, changes or its client stops, and once that is over all is as
// before.
func TestRecovery(t *testing.T) {
	skipUnderRace(t)
	good := path(80, 10)
	outage := good
	outage.Down = true
	for name, disturb := range map[string]func(*spicetest.Rig){
		"outage of 5 s": func(r *spicetest.Rig) {
			r.Link.Change(outage)
			r.Advance(5 * time.Second)
			r.Link.Change(good)
		},
		"rate 10, 2, 10 Mbit/s": func(r *spicetest.Rig) {
			r.Link.Change(path(80, 2))
			r.Advance(15 * time.Second)
			r.Link.Change(good)
		},
		"client stops reading for 8 s": func(r *spicetest.Rig) {
			r.Player.Hold(true)
			r.Advance(8 * time.Second)
			r.Player.Hold(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range pacer.Modes() {
				synctest.Test(t, func(t *testing.T) {
					c := cell{link: good, window: 40, columns: heavy()}
					r := c.start(t, mode)
					r.Advance(6 * time.Second)
					before := press(r, 16, 350*time.Millisecond)
					disturb(r)
					r.Advance(4 * time.Second)
					after := press(r, 16, 350*time.Millisecond)
					t.Logf("%-11v %.2f then %.2f Mbit/s, p50 %v then %v", mode, before.Mbit(), after.Mbit(), p50(before), p50(after))
					if after.Mbit() < 0.97*before.Mbit() {
						t.Errorf("%v: %.2f Mbit/s before, %.2f after", mode, before.Mbit(), after.Mbit())
					}
					if p50(after) > scaled(p50(before), 2) {
						t.Errorf("%v: median latency %v before, %v after", mode, p50(before), p50(after))
					}
					r.Server.Animate(0)
					r.Advance(5 * time.Second)
					r.WantPicture()
				})
			}
		})
	}
}

// A client that is gone holds the server no longer than ten seconds: a guest
// operation may be waiting for it.
func TestDeadClientHoldsNoServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cell{link: path(80, 10), window: 20, columns: busy()}
		r := c.start(t, pacer.Adaptive)
		r.Advance(5 * time.Second)
		outage := c.link
		outage.Down = true
		r.Link.Change(outage)
		r.Advance(9 * time.Second)
		held := begunBy(r.Server)
		r.Advance(6 * time.Second)
		if now := begunBy(r.Server); now < held+200 {
			t.Errorf("server has sent %d messages after 9 s of outage, %d after 15 s", held, now)
		}
	})
}

// On a link that became thinner the queue follows: the picture is not older than
// passthrough's, and answers sooner.
func TestThinnerLink(t *testing.T) {
	skipUnderRace(t)
	latency := make(map[pacer.Mode]time.Duration)
	for _, mode := range pacer.Modes() {
		synctest.Test(t, func(t *testing.T) {
			c := cell{link: path(80, 10), window: 40, columns: heavy()}
			r := c.start(t, mode)
			r.Advance(6 * time.Second)
			r.Link.Change(path(80, 2))
			r.Advance(20 * time.Second)
			report := press(r, 20, 2*time.Second)
			latency[mode] = p50(report)
			if report.Mbit() < 1.87 {
				t.Errorf("%v: %.2f of 2 Mbit/s", mode, report.Mbit())
			}
		})
	}
	t.Log(latency)
	if latency[pacer.Adaptive] > scaled(latency[pacer.Passthrough], 0.35) {
		t.Errorf("median latencies %v", latency)
	}
}

// A client that draws slower than its link carries is behind by no more than in
// passthrough, and gets no less: what it has not drawn must not pile up in its
// receive buffer.
func TestClientThatDrawsSlowly(t *testing.T) {
	const drawing = 20 * time.Millisecond // for each message
	type outcome struct {
		latency time.Duration
		drawn   uint64
	}
	outcomes := make(map[pacer.Mode]outcome)
	for _, mode := range pacer.Modes() {
		synctest.Test(t, func(t *testing.T) {
			link := path(20, 1000)
			r := startRelay(t, relayOptions{mode: mode, clientLink: spicetest.LinkConfig{Profile: link}})
			s := r.serve(spicetest.ServerConfig{Columns: busy(), FPS: 30})
			screen := r.draw(drawing)
			time.Sleep(5 * time.Second)
			var pressed []time.Time
			for i := range 40 {
				_, phase := math.Modf(float64(i) * math.Phi)
				pressed = append(pressed, time.Now())
				time.AfterFunc(link.RTT/2, func() { s.Press() })
				time.Sleep(scaled(time.Second, 0.5+phase))
			}
			var box spiceproto.Rect
			s.Inspect(func(_ *spicetest.Sender, d *spicetest.Desktop) { box = d.KeyBox() })
			synctest.Wait()
			var latencies []time.Duration
			for _, u := range screen().Updates(box) {
				latencies = append(latencies, u.At.Sub(pressed[u.ID-1]))
			}
			slices.Sort(latencies)
			outcomes[mode] = outcome{latencies[len(latencies)/2], screen().Messages}
			t.Logf("%-11v %d messages, p50 %v of %d", mode, screen().Messages, latencies[len(latencies)/2], len(latencies))
		})
	}
	passthrough := outcomes[pacer.Passthrough]
	for _, mode := range pacedModes {
		got := outcomes[mode]
		if got.latency > scaled(passthrough.latency, 1.1) || float64(got.drawn) < 0.97*float64(passthrough.drawn) {
			t.Errorf("%v: %+v, passthrough %+v", mode, got, passthrough)
		}
	}
}

// draw plays a client that takes its time over every message, as spice-gtk does:
// it reads one, answers, draws. The function it returns shows the screen.
func (r *relayed) draw(each time.Duration) func() *spicetest.View {
	var c spicetest.Client
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.client.Write(spiceproto.DisplayInit{}.Append(nil))
		for {
			m, err := readMessage(r.client)
			if err != nil {
				return
			}
			reply, err := c.Receive(time.Now().Add(each), m)
			if err != nil {
				r.t.Error(err)
				return
			}
			r.client.Write(reply)
			time.Sleep(each)
		}
	}()
	r.t.Cleanup(func() {
		r.client.Close()
		<-done
	})
	return func() *spicetest.View { return &c.Screen }
}
