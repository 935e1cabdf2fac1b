package session

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// loopback is a relay between real sockets, for measurements: the peers allocate
// nothing.
type loopback struct {
	client, hypervisor net.Conn
	window             []byte // a window's worth of messages
	in                 []byte
	ack                []byte
}

const (
	loopbackWindow  = 20
	loopbackMessage = 44_000 // a column of the heavy activity
)

// startLoopback relays a display channel until the test ends. The client's leg
// may be encrypted.
func startLoopback(t testing.TB, mode pacer.Mode, encrypt bool) *loopback {
	t.Helper()
	client, near := tcpPair(t)
	server, hypervisor := tcpPair(t)
	l := &loopback{client: client, hypervisor: hypervisor, in: make([]byte, 64<<10), ack: spiceproto.AppendAck(nil)}
	l.window = slices.Concat(slices.Repeat([][]byte{opaque(250, loopbackMessage)}, loopbackWindow)...)
	conn := net.Conn(near)
	if encrypt {
		conn = l.encrypt(t, near)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	ch := &channel{
		kind: spiceproto.ChannelDisplay, mode: mode, client: newLeg(near, conn), server: newLeg(server, server),
		log: zap.NewNop(), stats: new(Stats),
	}
	go func() { ended <- relay(ctx, ch, relayConfig{pacing: DefaultConfig().Pacing}) }()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{hypervisor}, make([]byte, 4096))
	}()
	t.Cleanup(func() {
		cancel()
		client.Close()
		hypervisor.Close()
		<-ended
		<-drained
	})
	l.begin(t)
	return l
}

func (l *loopback) encrypt(t testing.TB, near net.Conn) net.Conn {
	t.Helper()
	own := issue(t, nil, "peer")
	server := tls.Server(near, &tls.Config{Certificates: []tls.Certificate{own.pair}})
	client := tls.Client(l.client, &tls.Config{RootCAs: own.pool, ServerName: "peer"})
	accepted := make(chan error, 1)
	go func() { accepted <- server.Handshake() }()
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	l.client = client
	return server
}

// begin opens the ACK window.
func (l *loopback) begin(t testing.TB) {
	t.Helper()
	m := spiceproto.SetAck{Generation: 1, Window: loopbackWindow}.Append(nil)
	if _, err := l.hypervisor.Write(m); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(l.client, m); err != nil {
		t.Fatal(err)
	}
	if _, err := l.client.Write(spiceproto.AckSync{Generation: 1}.Append(nil)); err != nil {
		t.Fatal(err)
	}
}

// receive reads windows, acknowledging each.
func (l *loopback) receive(windows int) error {
	for range windows {
		for n := 0; n < len(l.window); {
			k, err := l.client.Read(l.in[:min(len(l.in), len(l.window)-n)])
			if err != nil {
				return err
			}
			n += k
		}
		if _, err := l.client.Write(l.ack); err != nil {
			return err
		}
	}
	return nil
}

// eachLoopback runs f over TCP and over TLS, in passthrough and in adaptive mode.
func eachLoopback[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, f func(t T, l *loopback, encrypt bool)) {
	for _, mode := range []pacer.Mode{pacer.Passthrough, pacer.Adaptive} {
		for _, encrypt := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v tls %v", mode, encrypt), func(t T) { f(t, startLoopback(t, mode, encrypt), encrypt) })
		}
	}
}

// BenchmarkRelay carries display messages to a client that keeps up; an
// operation is a message.
func BenchmarkRelay(b *testing.B) {
	eachLoopback(b, func(b *testing.B, l *loopback, _ bool) {
		windows := (b.N + loopbackWindow - 1) / loopbackWindow
		b.SetBytes(loopbackMessage)
		b.ReportAllocs()
		b.ResetTimer()
		received := make(chan error, 1)
		go func() { received <- l.receive(windows) }()
		for range windows {
			if _, err := l.hypervisor.Write(l.window); err != nil {
				b.Fatal(err)
			}
		}
		if err := <-received; err != nil {
			b.Fatal(err)
		}
	})
}

// No message costs an allocation once pools and buffers are warm.
func TestRelayDoesNotAllocate(t *testing.T) {
	skipUnderRace(t)
	eachLoopback(t, func(t *testing.T, l *loopback, encrypt bool) {
		windows := make(chan bool)
		received := make(chan error)
		go func() {
			for range windows {
				received <- l.receive(1)
			}
		}()
		defer close(windows)
		allocs := testing.AllocsPerRun(100, func() {
			windows <- true
			if _, err := l.hypervisor.Write(l.window); err != nil {
				t.Fatal(err)
			}
			if err := <-received; err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%v allocations in %d messages", allocs, loopbackWindow)
		if allocs != 0 && !encrypt {
			t.Errorf("%v allocations in %d messages", allocs, loopbackWindow)
		}
	})
}
