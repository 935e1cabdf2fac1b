package session

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/pacer"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// relayed is a relay between a client and a hypervisor that the test plays, in
// a synctest bubble:
//
//	r := startRelay(t, relayOptions{kind: spiceproto.ChannelMain})
//	r.hypervisor.send(message)
//	r.client.want(message)
//	r.client.Close()
//	r.wantEnd(nil)
type relayed struct {
	t                  *testing.T
	client, hypervisor *farEnd
	// link is the client's.
	link  *spicetest.Link
	stats *Stats
	logs  *observer.ObservedLogs
	// probes counts looks at the client's socket.
	probes *int
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when err is set
	err    error
}

// relayOptions describes a relayed; the zero value is a passthrough display
// channel in plaintext on a link without limits.
type relayOptions struct {
	kind spiceproto.ChannelType
	mode pacer.Mode
	// clientLink and serverLink are the paths of the legs.
	clientLink, serverLink spicetest.LinkConfig
	// clientTLS and serverTLS encrypt a leg.
	clientTLS, serverTLS bool
	pacing               func(*Pacing)
	onSession            func(uint32)
	// mss is what the client's socket shows: 1448 if 0, unknown if negative.
	mss   int
	trace ChannelTrace
	// serverCaps are the hypervisor's; displays those of the session, if any.
	serverCaps spiceproto.Caps
	displays   *sessionDisplays
	id         uint8 // the channel's
	// full: both legs have full headers, of which the test sees the mini part.
	full  bool
	guard *firewall.Channel
}

func startRelay(t *testing.T, o relayOptions) *relayed {
	t.Helper()
	if o.kind == 0 {
		o.kind = spiceproto.ChannelDisplay
	}
	core, logs := observer.New(zap.DebugLevel)
	r := &relayed{t: t, stats: new(Stats), logs: logs, probes: new(int), ended: make(chan struct{})}
	link, near, far := spicetest.NewLink(o.clientLink)
	r.link = link
	client := simulatedLeg(near, o.mss, r.probes)
	r.client = secured(t, &client, far, o.clientTLS)
	_, near, far = spicetest.NewLink(o.serverLink)
	server := leg{conn: near, sock: simulatedSocket{near}}
	r.hypervisor = secured(t, &server, far, o.serverTLS)

	if o.full {
		r.client.Conn, r.hypervisor.Conn = widen(t, r.client.Conn), widen(t, r.hypervisor.Conn)
	}

	cfg := relayConfig{pacing: DefaultConfig().Pacing, onSession: o.onSession, displays: o.displays}
	if o.pacing != nil {
		o.pacing(&cfg.pacing)
	}
	ch := &channel{
		kind: o.kind, id: o.id, mode: o.mode, client: client, server: server, serverCaps: o.serverCaps,
		fullHeaders: o.full,
		log:         zap.New(core), stats: r.stats, trace: o.trace, guard: o.guard,
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r.cancel = cancel
	go func() {
		defer close(r.ended)
		r.err = relay(ctx, ch, cfg)
	}()
	t.Cleanup(func() {
		cancel(nil)
		r.client.Close()
		r.hypervisor.Close()
		<-r.ended
	})
	return r
}

// simulatedLeg is a leg on a simulated connection, whose socket shows mss and
// counts how often it is looked at.
func simulatedLeg(c *spicetest.LinkConn, mss int, probes *int) leg {
	if mss == 0 {
		mss = 1448
	}
	var mu sync.Mutex
	return leg{conn: c, sock: simulatedSocket{c}, probe: func() (pacer.LinkSample, error) {
		mu.Lock()
		defer mu.Unlock()
		*probes++
		i := c.Info()
		return pacer.LinkSample{
			Acked: i.BytesAcked, Outstanding: i.SendQueue, NotSent: i.NotSent,
			RTT: i.RTT, MinRTT: i.MinRTT, MSS: max(mss, 0),
		}, nil
	}}
}

// simulatedSocket makes a leg's socket of a simulated connection.
type simulatedSocket struct{ *spicetest.LinkConn }

func (simulatedSocket) SyscallConn() (syscall.RawConn, error) { return nil, errors.ErrUnsupported }

// secured returns the test's end of l, after a TLS handshake if asked for.
func secured(t *testing.T, l *leg, far *spicetest.LinkConn, encrypt bool) *farEnd {
	t.Helper()
	if !encrypt {
		return &farEnd{Conn: far, t: t}
	}
	own := issue(t, nil, "peer")
	near := tls.Server(l.conn, &tls.Config{Certificates: []tls.Certificate{own.pair}})
	peer := tls.Client(tearing{far}, &tls.Config{RootCAs: own.pool, ServerName: "peer"})
	accepted := make(chan error, 1)
	go func() { accepted <- near.Handshake() }()
	if err := errors.Join(peer.Handshake(), <-accepted); err != nil {
		t.Fatal(err)
	}
	l.conn, l.tls = near, true
	return &farEnd{Conn: peer, t: t}
}

// errTorn is the end of a connection that TLS was not told of.
var errTorn = errors.New("connection ended without close_notify")

// tearing turns the end of a stream into an error, so that a TLS connection on
// it ends in good order only by close_notify.
type tearing struct{ net.Conn }

func (c tearing) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = errTorn
	}
	return n, err
}

// farEnd is the test's end of a leg.
type farEnd struct {
	net.Conn
	t *testing.T
}

// send writes b, waiting until it is taken.
func (e *farEnd) send(b ...[]byte) {
	e.t.Helper()
	for _, b := range b {
		if _, err := e.Write(b); err != nil {
			e.t.Fatalf("send %d bytes: %v", len(b), err)
		}
	}
}

// want reads as many bytes as b has, and compares them.
func (e *farEnd) want(b []byte) {
	e.t.Helper()
	got := make([]byte, len(b))
	if n, err := io.ReadFull(e, got); err != nil {
		e.t.Fatalf("%d of %d bytes, then %v", n, len(b), err)
	}
	wantBytes(e.t, got, b)
}

// wantRest reads all that is left, up to an end in good order.
func (e *farEnd) wantRest(b []byte) {
	e.t.Helper()
	got, err := io.ReadAll(e)
	if err != nil {
		e.t.Errorf("%d bytes, then %v; want the end", len(got), err)
	}
	wantBytes(e.t, got, b)
}

// wantNothing fails the test if anything comes within d, or the end does.
func (e *farEnd) wantNothing(d time.Duration) {
	e.t.Helper()
	e.SetReadDeadline(time.Now().Add(d))
	var b [1]byte
	if _, err := e.Read(b[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
		e.t.Fatalf("read %x, %v; want nothing", b, err)
	}
	e.SetReadDeadline(time.Time{})
}

// readMessage reads one message, header and body.
func readMessage(from io.Reader) ([]byte, error) {
	m := make([]byte, spiceproto.MiniHeaderSize)
	if _, err := io.ReadFull(from, m); err != nil {
		return nil, err
	}
	h, _ := spiceproto.ParseHeader(m)
	m = append(m, make([]byte, h.Size)...)
	_, err := io.ReadFull(from, m[spiceproto.MiniHeaderSize:])
	return m, err
}

func wantBytes(t *testing.T, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%d bytes, want %d; they differ from offset %d on: % x, want % x",
		len(got), len(want), i, got[i:min(i+16, len(got))], want[i:min(i+16, len(want))])
}

// result waits for the end of the relay.
func (r *relayed) result() error {
	<-r.ended
	return r.err
}

// wantEnd waits for the end of the relay, which must come to want.
func (r *relayed) wantEnd(want error) {
	r.t.Helper()
	if err := r.result(); !errors.Is(err, want) {
		r.t.Errorf("relay ended with %v, want %v", err, want)
	}
}

// wantClose waits for the end of the relay, which must come to a peer's close,
// wherever in what it takes for messages.
func (r *relayed) wantClose() {
	r.t.Helper()
	if err := r.result(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.t.Errorf("relay ended with %v, want a close", err)
	}
}

// wantRunning fails the test if the relay has ended.
func (r *relayed) wantRunning() {
	r.t.Helper()
	synctest.Wait()
	select {
	case <-r.ended:
		r.t.Fatalf("relay ended with %v", r.err)
	default:
	}
}

// opaque returns a message of n body bytes that nothing is known about.
func opaque(op uint16, n int) []byte {
	b := spiceproto.Header{Type: op, Size: uint32(n)}.Append(nil)
	for i := range n {
		b = append(b, byte(i*7+int(op)))
	}
	return b
}

// skipUnderRace skips tests that count allocations, since the race detector
// makes sync.Pool drop things at random, and long runs of which others are a
// short form.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("not under the race detector")
	}
}
