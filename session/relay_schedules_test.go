package session

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// schedule is a random run of a server, a client and a link, of some seconds.
type schedule struct {
	*rand.Rand
	rig    *spicetest.Rig
	window uint32
}

// events are what may happen in a schedule.
var events = []func(s *schedule){
	func(s *schedule) { s.rig.Press() },
	func(s *schedule) { s.rig.Server.Animate(s.among(0, 10, 30)) },
	func(s *schedule) { s.rig.Player.Hold(s.IntN(2) == 0) },
	func(s *schedule) { s.rig.Link.Change(s.link()) },
	func(s *schedule) { // something large beside the animation
		s.rig.Server.Queue(spicetest.Item{Draw: spicetest.Draw{
			Box: spiceproto.Rect{Top: 700, Right: 1280, Bottom: 800}, Size: s.IntN(100_000), ID: 1,
		}, Invalidates: s.IntN(2) == 0})
	},
	func(s *schedule) { // many small messages
		for range s.IntN(200) {
			s.rig.Server.Queue(spicetest.Message(250, make([]byte, s.IntN(30))))
		}
	},
	func(s *schedule) { // another size of the screen, and all that comes with it
		s.rig.Server.Queue(spicetest.Message(spiceproto.MsgDisplaySurfaceCreate, make([]byte, 20)))
	},
	func(s *schedule) { s.rig.Server.Queue(spicetest.SetAck(s.window)) },
}

func (s *schedule) among(values ...int) int { return values[s.IntN(len(values))] }

// link draws a link, which may be down.
func (s *schedule) link() spicetest.Profile {
	p := path(s.among(0, 5, 40, 200), float64(s.among(1, 4, 10)))
	p.Down = s.IntN(8) == 0
	return p
}

// start draws what the schedule runs on.
func (s *schedule) start(t *testing.T, mode pacer.Mode) {
	s.window = uint32(s.among(1, 2, 20, 40))
	columns := make([]int, s.IntN(12))
	for i := range columns {
		columns[i] = s.among(100, 1000, 5000)
	}
	rig := spicetest.RigConfig{
		Server: spicetest.ServerConfig{
			Window: s.window, Columns: columns, FPS: s.among(0, 30), ScreenSize: s.among(200, 20_000),
			SocketBuffer: s.among(3000, 40_000, 400_000), Probe: time.Duration(s.IntN(2)) * time.Second,
		},
		Link: spicetest.LinkConfig{
			Profile: path(s.among(0, 5, 40, 200), 10), SendBuffer: s.among(0, 20_000), ReceiveBuffer: s.among(0, 20_000),
		},
	}
	var caps spiceproto.Caps
	if s.among(0, 1) == 1 {
		_, caps = spiceproto.ServerCaps(spiceproto.ChannelDisplay)
	}
	simulate(&rig, mode, caps)
	s.rig = spicetest.Start(t, rig)
}

// play lets some events happen, then gives everything the time to come to rest.
func (s *schedule) play() {
	s.rig.WantMessage(spiceproto.MsgSetAck, time.Second)
	for range 1 + s.IntN(12) {
		events[s.IntN(len(events))](s)
		s.rig.Advance(time.Duration(s.IntN(250)) * time.Millisecond)
	}
	s.rig.Player.Hold(false)
	s.rig.Server.Animate(0)
	s.rig.Link.Change(path(20, 50))
	s.rig.Advance(time.Second)
	s.rig.Press()
	s.rig.WantEcho(5 * time.Second)
	s.rig.Advance(time.Second)
}

// Whatever happens, no mode ever gets stuck: in the end the client shows what
// the guest has drawn, and the server is not lost in its arithmetic.
func TestNeverStuck(t *testing.T) {
	for _, mode := range pacer.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			n := schedules / 2
			if mode == pacer.Passthrough {
				n = schedules / 20 // for the model's sake
			}
			for seed := range n {
				playSchedule(t, mode, uint64(seed))
			}
		})
	}
}

func playSchedule(t *testing.T, mode pacer.Mode, seed uint64) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("schedule %d in %v: %v", seed, mode, p))
		}
		if t.Failed() {
			t.Fatalf("that was schedule %d", seed)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		s := &schedule{Rand: rand.New(rand.NewPCG(seed, 0))}
		s.start(t, mode)
		s.play()
		s.rig.WantPicture()
		s.rig.Server.Inspect(func(sender *spicetest.Sender, _ *spicetest.Desktop) {
			if sender.Wrapped() || sender.PipeLen() > 0 {
				t.Errorf("server wrapped %v, %d items wait", sender.Wrapped(), sender.PipeLen())
			}
		})
	})
}
