package client

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/spiceproto"
)

const (
	plainAddr  = "server:5901"
	secureAddr = "server:5900"
	sessionID  = 0x5e551071
)

// ticketKey serves all fake servers: making one takes longer than the rest of a
// test.
var ticketKey = sync.OnceValue(func() *spiceproto.TicketKey {
	k, err := spiceproto.GenerateTicketKey()
	if err != nil {
		panic(err)
	}
	return k
})

// fakeServer speaks spice-server's side, real link stage included, on pipes that
// its dial method makes. A test links it with newFakeServer, plays the server
// through the peers that linked returns, and must run in a synctest bubble.
type fakeServer struct {
	t         *testing.T
	password  string
	needTLS   bool        // the plain address answers NEED_SECURED
	secure    *tls.Config // of secureAddr
	channels  []spiceproto.ChannelID
	channelUp map[spiceproto.ChannelType]chan *peer
}

func newFakeServer(t *testing.T) *fakeServer {
	s := &fakeServer{t: t, channelUp: map[spiceproto.ChannelType]chan *peer{}}
	for _, kind := range []spiceproto.ChannelType{
		spiceproto.ChannelMain, spiceproto.ChannelDisplay, spiceproto.ChannelInputs, spiceproto.ChannelCursor,
	} {
		s.channels = append(s.channels, spiceproto.ChannelID{Type: kind})
		s.channelUp[kind] = make(chan *peer, 1)
	}
	s.channels = s.channels[1:] // a server does not list the main channel
	return s
}

// config connects a client to this server; the rest is DefaultConfig.
func (s *fakeServer) config() Config {
	cfg := DefaultConfig()
	cfg.Addr = plainAddr
	cfg.DialContext = s.dial
	cfg.Logf = s.t.Logf
	return cfg
}

func (s *fakeServer) dial(_ context.Context, _, addr string) (net.Conn, error) {
	client, server := net.Pipe()
	switch addr {
	case plainAddr:
		go s.accept(server, s.needTLS)
	case secureAddr:
		go s.accept(tls.Server(server, s.secure), false)
	default:
		return nil, fmt.Errorf("no route to %s", addr)
	}
	return client, nil
}

// accept runs the link stage and then reads what the client sends.
func (s *fakeServer) accept(conn net.Conn, refuse bool) {
	defer conn.Close()
	mess, err := spiceproto.ReadLinkMess(conn)
	if err != nil {
		return // the client was cancelled or refuses the certificate
	}
	if refuse {
		conn.Write(spiceproto.LinkReply{Error: spiceproto.LinkErrNeedSecured}.Append(nil))
		return
	}
	common, channel := spiceproto.ServerCaps(mess.Type)
	conn.Write(spiceproto.LinkReply{PubKey: ticketKey().PubKey(), Common: common, Channel: channel}.Append(nil))
	var ticket [spiceproto.TicketSize]byte
	if mess.Common.Has(spiceproto.CapAuthSelection) {
		mechanism, err := spiceproto.ReadAuthMechanism(conn)
		if err != nil {
			return
		}
		if mechanism != spiceproto.AuthMechanismSpice {
			s.t.Errorf("%s link: auth mechanism %d", mess.Type, mechanism)
		}
	}
	if _, err := io.ReadFull(conn, ticket[:]); err != nil {
		return
	}
	if password, err := ticketKey().Decrypt(&ticket); err != nil || password != s.password {
		conn.Write(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrPermissionDenied))
		return
	}
	conn.Write(spiceproto.AppendLinkResult(nil, spiceproto.LinkOK))
	p := &peer{t: s.t, conn: conn, link: mess, got: make(chan clientMessage, 4096)}
	s.channelUp[mess.Type] <- p
	p.read()
}

// linked waits for the client to link a channel.
func (s *fakeServer) linked(kind spiceproto.ChannelType) *peer {
	s.t.Helper()
	select {
	case p := <-s.channelUp[kind]:
		return p
	case <-time.After(time.Minute):
		s.t.Fatalf("the client does not link its %s channel", kind)
		return nil
	}
}

// begin plays the main channel until the client links the others and returns
// those, DISPLAY_INIT and all.
func (s *fakeServer) begin() (main, display, inputs *peer) {
	s.t.Helper()
	main = s.linked(spiceproto.ChannelMain)
	main.send(spiceproto.MainInit{SessionID: sessionID, MultiMediaTime: 1000})
	main.want("ATTACH_CHANNELS")
	main.send(spiceproto.ChannelsList{Channels: s.channels})
	display = s.linked(spiceproto.ChannelDisplay)
	display.want("INIT")
	inputs = s.linked(spiceproto.ChannelInputs)
	s.linked(spiceproto.ChannelCursor)
	return main, display, inputs
}

// clientMessage is what the client sent, and when it arrived.
type clientMessage struct {
	name string
	body []byte
	at   time.Time
}

func (m clientMessage) u32(field int) uint32 { return binary.LittleEndian.Uint32(m.body[4*field:]) }

// peer is the server's side of one channel.
type peer struct {
	t    *testing.T
	conn net.Conn
	link spiceproto.LinkMess
	got  chan clientMessage
	sent spiceproto.Serials
}

// full tells that this channel has full headers.
func (p *peer) full() bool { return !p.link.Common.Has(spiceproto.CapMiniHeader) }

// read collects the client's messages until the connection ends.
func (p *peer) read() {
	defer close(p.got)
	f := spiceproto.Framer{Full: p.full()}
	serial := uint64(0)
	buf := make([]byte, 4096)
	for {
		n, err := p.conn.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			seg := f.Next(b)
			b = b[len(seg.Bytes):]
			if seg.HeaderDone && f.Full {
				serial++
				if h := f.FullHeader(); h.Serial != serial || h.SubList != 0 {
					p.t.Errorf("%s channel: message %d has the header %+v", p.link.Type, serial, h)
				}
			}
			if seg.End {
				name := spiceproto.MessageName(p.link.Type, spiceproto.ClientToServer, f.Header().Type)
				p.got <- clientMessage{name, slices.Clone(f.Head()), time.Now()}
			}
		}
		if err != nil {
			return
		}
	}
}

// send writes messages in order; a client that has gone is no failure.
func (p *peer) send(messages ...interface{ Append([]byte) []byte }) {
	var b []byte
	for _, m := range messages {
		b = m.Append(b)
	}
	if p.full() {
		b = p.sent.Append(nil, b)
	}
	p.conn.Write(b)
}

// want waits a minute for the next message of the client and checks its name.
func (p *peer) want(name string) clientMessage {
	p.t.Helper()
	select {
	case m, ok := <-p.got:
		if !ok || m.name != name {
			p.t.Fatalf("%s channel: the client sent %q, want %s", p.link.Type, m.name, name)
		}
		return m
	case <-time.After(time.Minute):
		p.t.Fatalf("%s channel: the client sends nothing, want %s", p.link.Type, name)
	}
	return clientMessage{}
}

// wantNone checks that the client has sent nothing more once all is quiet.
func (p *peer) wantNone() {
	p.t.Helper()
	synctest.Wait()
	select {
	case m := <-p.got:
		p.t.Fatalf("%s channel: the client sent %s, want nothing", p.link.Type, m.name)
	default:
	}
}

// raw is a message of any type and body.
type raw struct {
	op   uint16
	body []byte
}

func (m raw) Append(b []byte) []byte {
	b = spiceproto.Header{Type: m.op, Size: uint32(len(m.body))}.Append(b)
	return append(b, m.body...)
}

// words is a body of little-endian u32.
func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// draw is a DRAW_COPY of an LZ_RGB image with payload bytes of picture.
func draw(box spiceproto.Rect, payload int) raw { return drawOn(0, box, payload) }

func drawOn(surface uint32, box spiceproto.Rect, payload int) raw {
	b := words(surface, uint32(box.Top), uint32(box.Left), uint32(box.Bottom), uint32(box.Right))
	b = append(b, byte(spiceproto.ClipNone))
	b = binary.LittleEndian.AppendUint32(b, 57)      // src_bitmap
	b = append(b, make([]byte, 32)...)               // area, rop, scale, mask
	b = append(b, words(1, 0)...)                    // image id
	b = append(b, byte(spiceproto.ImageLZRGB), 0)    // type, flags
	b = append(b, words(96, 96, uint32(payload))...) // width, height, data_size
	return raw{spiceproto.MsgDisplayDrawCopy, append(b, make([]byte, payload)...)}
}

// outcome is what Run returned.
type outcome struct {
	Result
	err error
}

// start runs the client beside the test.
func start(ctx context.Context, cfg Config) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := Run(ctx, cfg)
		done <- outcome{r, err}
	}()
	return done
}

// TestHarness shows how a fake server is used.
func TestHarness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Duration = 0, 10*time.Second // only watch

		done := start(t.Context(), cfg)
		_, display, _ := s.begin()
		display.send(draw(box(0, 0, 1280, 800), 1000)) // before the warm-up ends
		time.Sleep(7 * time.Second)
		display.send(draw(box(0, 0, 64, 64), 100))
		display.send(raw{op: spiceproto.MsgDisplayMark})

		got := <-done
		if got.err != nil {
			t.Fatal(got.err)
		}
		if got.Messages != 2 || got.Bytes != 6+79+100+6 {
			t.Errorf("%d messages, %d bytes in the window, want 2 and 191", got.Messages, got.Bytes)
		}
	})
}
