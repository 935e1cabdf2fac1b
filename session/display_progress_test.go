package session

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// Tests that a channel goes on: no schedule of ACKs, drops and stalls may leave
// the hypervisor waiting for something that nobody will send.

// sender is a server that sends only within its ACK window of 20 messages.
type sender struct {
	t    *testing.T
	conn net.Conn

	mu     sync.Mutex
	owed   int // messages that were not acknowledged
	sent   int
	acked  chan struct{}
	closed chan struct{}
}

const senderWindow = 20

func newSender(t *testing.T, conn net.Conn) *sender {
	s := &sender{t: t, conn: conn, acked: make(chan struct{}, 1), closed: make(chan struct{})}
	go s.read()
	s.send(spiceproto.SetAck{Generation: 1, Window: senderWindow}.Append(nil))
	s.send(spiceproto.SurfaceCreate{Width: 640, Height: 32, Format: 32, Flags: 1}.Append(nil))
	return s
}

func (s *sender) read() {
	defer close(s.closed)
	for {
		m, err := readMessage(s.conn)
		if err != nil {
			return
		}
		if h, _ := spiceproto.ParseHeader(m); h.Type != spiceproto.MsgcAck {
			continue
		}
		s.mu.Lock()
		if s.owed -= senderWindow; s.owed < 0 {
			s.t.Error("an ACK came too early")
		}
		s.mu.Unlock()
		wake(s.acked)
	}
}

// send reports whether the message went out before the connection ended.
func (s *sender) send(m []byte) bool {
	for !s.mayBegin() {
		select {
		case <-s.acked:
		case <-s.closed:
			return false
		}
	}
	if _, err := s.conn.Write(m); err != nil {
		return false
	}
	s.mu.Lock()
	s.sent++
	s.mu.Unlock()
	return true
}

func (s *sender) mayBegin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owed > 2*senderWindow {
		return false
	}
	s.owed++
	return true
}

// frame sends 20 columns.
func (s *sender) frame(size int, kind spiceproto.ImageType) bool {
	for k := range int32(20) {
		if !s.send(narrow(k, size, kind)) {
			return false
		}
	}
	return true
}

func (s *sender) count() int {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// narrow is an update of column k.
func narrow(k int32, size int, kind spiceproto.ImageType) []byte {
	box := spiceproto.Rect{Left: k * 32, Right: k*32 + 32, Bottom: 32}
	return spicetest.Draw{Box: box, Size: size, Type: kind}.Append(nil)
}

// The client never acknowledges what it did not get. When images come that the
// queue cannot sort, after some were replaced, its ACKs must not be waited for.
func TestServerGoesOnAfterReplacements(t *testing.T) {
	for extra := range 5 {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{
				mode: pacer.Adaptive, clientLink: spicetest.LinkConfig{Profile: path(20, 10)},
				serverLink: spicetest.LinkConfig{ReceiveBuffer: 20_000, SendBuffer: 20_000},
			})
			r.play(func(b []byte) []byte { return b })
			s := newSender(t, r.hypervisor.Conn)
			var running sync.WaitGroup
			running.Go(func() {
				for end := time.Now().Add(4*time.Second + time.Duration(extra)*37*time.Millisecond); time.Now().Before(end); {
					if !s.frame(3000, spiceproto.ImageLZRGB) {
						return
					}
					time.Sleep(30 * time.Millisecond)
				}
				for s.frame(3000, spiceproto.ImageGLZRGB) {
				}
			})
			time.Sleep(6 * time.Second)
			before := s.count()
			time.Sleep(6 * time.Second)
			if after := s.count(); after == before {
				t.Errorf("extra %d: nothing sent in 6 s, %d messages replaced", extra, r.stats.Replaced.Load())
			}
			if r.stats.Replaced.Load() == 0 {
				t.Error("nothing was replaced")
			}
			r.hypervisor.Close()
			running.Wait()
		})
	}
}

// A client whose link is gone does not hold the server for longer than
// releaseAfter, whatever that was waiting for.
func TestStalledClientReleasesServer(t *testing.T) {
	for _, reorder := range []bool{false, true} {
		for phase := range 4 {
			synctest.Test(t, func(t *testing.T) {
				p := path(80, 2)
				r := startRelay(t, relayOptions{
					mode: pacer.Adaptive, clientLink: spicetest.LinkConfig{Profile: p},
					pacing: func(p *Pacing) { p.Reorder = reorder },
				})
				r.play(func(b []byte) []byte { return b })
				s := newSender(t, r.hypervisor.Conn)
				var running sync.WaitGroup
				running.Go(func() {
					for s.frame(1200, spiceproto.ImageLZRGB) {
						time.Sleep(10 * time.Millisecond)
					}
				})
				time.Sleep(8*time.Second + time.Duration(phase)*17*time.Millisecond)
				p.Down = true
				r.link.Change(p)
				time.Sleep(9 * time.Second)
				before := s.count()
				time.Sleep(6 * time.Second)
				if after := s.count(); after == before {
					t.Errorf("reorder %t, phase %d: the server is held for 15 s", reorder, phase)
				}
				r.hypervisor.Close()
				running.Wait()
			})
		}
	}
}

// otherDisplay is a second display channel of a session.
type otherDisplay struct{}

func (otherDisplay) input(time.Time)   {}
func (otherDisplay) keepArrivalOrder() {}
func (otherDisplay) channelID() uint8  { return 1 }

// What is owed to the client stands behind a message of which the rest never
// comes; the channel waits for it without a spin, and ends with its client.
func TestChannelEndsInsideMessage(t *testing.T) {
	client, clientFar := tcpPair(t)
	server, serverFar := tcpPair(t)
	cfg := relayConfig{pacing: DefaultConfig().Pacing, displays: new(sessionDisplays)}
	ch := &channel{
		kind: spiceproto.ChannelDisplay, mode: pacer.Adaptive, log: zap.NewNop(), stats: new(Stats),
		client: newLeg(client, client), server: newLeg(server, server),
	}
	ended := make(chan error, 1)
	go func() { ended <- relay(context.Background(), ch, cfg) }()
	go io.Copy(io.Discard, serverFar)
	b := spiceproto.SetAck{Generation: 1, Window: senderWindow}.Append(nil)
	b = append(b, spiceproto.SurfaceCreate{Width: 640, Height: 32, Format: 32, Flags: 1}.Append(nil)...)
	for range 6 {
		b = append(b, narrow(1, 2000, spiceproto.ImageLZRGB)...)
	}
	half := narrow(2, 100_000, spiceproto.ImageLZRGB)[:5000]
	if _, err := serverFar.Write(append(b, half...)); err != nil {
		t.Fatal(err)
	}
	// The client has the half, which is the last of what can be sent.
	whole := 0
	for got := 0; got < len(half); {
		m, err := readHeader(clientFar)
		if err != nil {
			t.Fatal(err)
		}
		n := min(int(m.Size), len(half)-spiceproto.MiniHeaderSize)
		if _, err := io.CopyN(io.Discard, clientFar, int64(n)); err != nil {
			t.Fatal(err)
		}
		if got = n + spiceproto.MiniHeaderSize; got < len(half) {
			whole++
		}
	}
	defer cfg.displays.enter(otherDisplay{})()
	clientFar.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the relay goes on 10 s after its client has gone")
	}
	if whole == 0 {
		t.Error("no whole message came")
	}
}

// readHeader reads the header of the next message.
func readHeader(conn net.Conn) (spiceproto.Header, error) {
	var raw [spiceproto.MiniHeaderSize]byte
	if _, err := io.ReadFull(conn, raw[:]); err != nil {
		return spiceproto.Header{}, err
	}
	h, _ := spiceproto.ParseHeader(raw[:])
	return h, nil
}
