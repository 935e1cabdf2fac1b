package session

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// loopback is a relay between real sockets, for measurements: the peers allocate
// nothing.
type loopback struct {
	client, hypervisor net.Conn
	window             []byte // a window's worth of messages
	in                 []byte
	ack                []byte
	drained            chan struct{} // closed at the end of what the hypervisor gets
	// end closes both connections and returns what the relay came to.
	end func() error
}

const (
	loopbackWindow  = 20
	loopbackMessage = 44_000 // a column of the heavy activity
)

// startLoopback relays a display channel until the test ends. The client's leg
// may be encrypted; guard may be nil.
func startLoopback(t testing.TB, mode pacer.Mode, encrypt bool, guard *firewall.Channel) *loopback {
	t.Helper()
	client, near := tcpPair(t)
	server, hypervisor := tcpPair(t)
	l := &loopback{
		client: client, hypervisor: hypervisor, drained: make(chan struct{}),
		in: make([]byte, 64<<10), ack: spiceproto.AppendAck(nil),
	}
	message := opaque(spiceproto.MsgDisplayQualityIndicator, loopbackMessage) // of any content
	l.window = slices.Concat(slices.Repeat([][]byte{message}, loopbackWindow)...)
	conn := net.Conn(near)
	if encrypt {
		conn = l.encrypt(t, near)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ch := &channel{
		kind: spiceproto.ChannelDisplay, mode: mode, client: newLeg(near, conn), server: newLeg(server, server),
		log: zap.NewNop(), stats: new(Stats), guard: guard,
	}
	var running sync.WaitGroup
	var result error
	running.Go(func() { result = relay(ctx, ch, relayConfig{pacing: DefaultConfig().Pacing}) })
	running.Go(func() {
		defer close(l.drained)
		io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{hypervisor}, make([]byte, 4096))
	})
	l.end = sync.OnceValue(func() error {
		l.client.Close()
		hypervisor.Close()
		cancel()
		running.Wait()
		return result
	})
	t.Cleanup(func() { l.end() })
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

// BenchmarkRelay carries display messages to a client that keeps up; an
// operation is a message. The peers of a TLS leg allocate: crypto/tls does so
// for each read of its socket.
func BenchmarkRelay(b *testing.B) {
	for _, mode := range []pacer.Mode{pacer.Passthrough, pacer.Adaptive} {
		for _, encrypt := range []bool{false, true} {
			b.Run(fmt.Sprintf("%v tls %v", mode, encrypt), func(b *testing.B) { benchmarkRelay(b, mode, encrypt, nil) })
		}
	}
}

// BenchmarkRelayFirewall does the same with the firewall and its findings on; its
// plaintext arms are to be compared with BenchmarkRelay's.
func BenchmarkRelayFirewall(b *testing.B) {
	for _, mode := range []pacer.Mode{pacer.Passthrough, pacer.Adaptive} {
		b.Run(mode.String(), func(b *testing.B) { benchmarkRelay(b, mode, false, displayGuard(nil)) })
	}
}

// displayGuard judges a display channel under the default settings, changed; it
// logs nothing.
func displayGuard(change func(*firewall.Config)) *firewall.Channel {
	cfg := firewall.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	_, caps := spiceproto.ServerCaps(spiceproto.ChannelDisplay)
	return firewall.New(cfg, spiceproto.MachineConfig{
		Channel: spiceproto.ChannelDisplay, Client: caps, Server: caps, ForeignAcks: true,
	}, zap.NewNop())
}

func benchmarkRelay(b *testing.B, mode pacer.Mode, encrypt bool, guard *firewall.Channel) {
	l := startLoopback(b, mode, encrypt, guard)
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
}

// No message costs an allocation once pools and buffers are warm.
func TestRelayDoesNotAllocate(t *testing.T) {
	skipUnderRace(t)
	for _, mode := range pacer.Modes() {
		t.Run(mode.String(), func(t *testing.T) { relayDoesNotAllocate(t, mode, nil) })
		t.Run(mode.String()+" with a firewall", func(t *testing.T) { relayDoesNotAllocate(t, mode, displayGuard(nil)) })
	}
}

func relayDoesNotAllocate(t *testing.T, mode pacer.Mode, guard *firewall.Channel) {
	t.Helper()
	l := startLoopback(t, mode, false, guard)
	windows, received := make(chan bool), make(chan error)
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
	if allocs != 0 {
		t.Errorf("%v allocations in %d messages", allocs, loopbackWindow)
	}
}
