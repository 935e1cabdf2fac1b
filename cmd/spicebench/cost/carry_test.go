package cost

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"spicepacer/session"
	"spicepacer/spiceproto"
)

func mustListen(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// terminator stands for a program under test: it takes one connection in TLS and
// relays it to the hypervisor, at most limit bytes from there.
func terminator(t *testing.T, hypervisor net.Addr, limit int64) (addr string, trust *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	if err := makeCertificate(dir); err != nil {
		t.Fatal(err)
	}
	files, err := session.SelfSigned(dir, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := files.Load()
	if err != nil {
		t.Fatal(err)
	}
	if trust, err = trustIn(filepath.Join(dir, certFile)); err != nil {
		t.Fatal(err)
	}
	l := mustListen(t)
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	running.Go(func() {
		sock, err := l.Accept()
		if err != nil {
			return
		}
		client := tls.Server(sock, &tls.Config{Certificates: []tls.Certificate{pair}})
		defer client.Close()
		server, err := net.Dial("tcp4", hypervisor.String())
		if err != nil {
			return
		}
		running.Go(func() {
			io.Copy(server, client)
			server.Close()
		})
		io.CopyN(client, server, limit)
		client.CloseWrite()
	})
	return l.Addr().String(), trust
}

const unlimited = 1 << 40

func TestTransferCarriesTheLoad(t *testing.T) {
	for _, l := range []load{bulk(), display(0), display(100 * megabyte), saturated(50 * megabyte)} {
		listener := mustListen(t)
		addr, trust := terminator(t, listener.Addr(), unlimited)
		h, v, err := link(t.Context(), listener, addr, trust, l)
		if err != nil {
			t.Fatal(err)
		}
		const n = 4 * megabyte // far more than the window of a display channel
		start := time.Now()
		got, sent, err := transfer(t.Context(), h, v, n)
		if err != nil {
			t.Fatal(err)
		}
		if got != sent {
			t.Errorf("%s: received %v of %v", l.name, got, sent)
		}
		if least := time.Duration((n - readSize) / (50 * megabyte) * float64(time.Second)); l.receive > 0 && time.Since(start) < least {
			t.Errorf("%s: over after %v, want at least %v", l.name, time.Since(start), least)
		}
		if got.bytes < n || got.bytes > n+64<<10+spiceproto.MiniHeaderSize {
			t.Errorf("%s: %d bytes carried, want the messages that make %d full", l.name, got.bytes, int(n))
		}
	}
}

func TestTransferMissesBytes(t *testing.T) {
	listener := mustListen(t)
	addr, trust := terminator(t, listener.Addr(), megabyte)
	h, v, err := link(t.Context(), listener, addr, trust, bulk())
	if err != nil {
		t.Fatal(err)
	}
	if got, sent, err := transfer(t.Context(), h, v, 4*megabyte); err == nil && got == sent {
		t.Errorf("a stream that ended after %d bytes is complete", got.bytes)
	}
}

func TestTransferEndsWithItsContext(t *testing.T) {
	listener := mustListen(t)
	addr, trust := terminator(t, listener.Addr(), unlimited)
	h, v, err := link(t.Context(), listener, addr, trust, display(megabyte))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-h.viewer // a message of the viewer, which the sender now waits for in vain
		cancel()
	}()
	if _, _, err := transfer(ctx, h, v, gigabyte); err == nil {
		t.Error("a cancelled transfer is no error")
	}
}

func TestLinkRefusesOthers(t *testing.T) {
	listener := mustListen(t)
	addr, trust := terminator(t, listener.Addr(), unlimited)
	accepted := make(chan error, 1)
	go func() {
		_, err := acceptHypervisor(t.Context(), listener, bulk())
		accepted <- err
	}()
	if _, err := dialViewer(t.Context(), addr, trust, display(0)); err == nil {
		t.Error("a viewer of another channel was linked")
	}
	if err := <-accepted; err == nil || !strings.Contains(err.Error(), "display") {
		t.Errorf("the hypervisor says %v, want the wrong channel named", err)
	}
}

// Whoever waits for a program that has ended learns why it did.
func TestMeasureTellsWhyTheProgramEnded(t *testing.T) {
	b := bench{proxy: program{path: "/bin/false"}, dir: t.TempDir()}
	err := b.measure(t.Context(), cell{load: bulk(), arm: armPassthrough}, new(Result))
	if err == nil || !strings.HasPrefix(err.Error(), "false ended too early: exit status 1") {
		t.Errorf("with a proxy that ends at once: %v", err)
	}
}

// spice-server begins 2W+1 messages without an ACK, and W more with each.
func TestWindow(t *testing.T) {
	w := window{size: 20}
	begin := func() (n int) {
		for ; !w.shut(); n++ {
			w.begun++
		}
		return n
	}
	if n := begin(); n != 41 {
		t.Errorf("%d messages without an ACK, want 41", n)
	}
	w.acknowledged()
	if n := begin(); n != 20 {
		t.Errorf("%d messages after an ACK, want 20", n)
	}
	if (&window{begun: 1000}).shut() {
		t.Error("a channel without a window is shut")
	}
}

// What the relay learns from the load has to be what the load means.
func TestDisplayLoadIsValid(t *testing.T) {
	l := display(0)
	boxes := spiceproto.Rect{}
	for i, message := range l.cycle {
		h, _ := spiceproto.ParseHeader(message)
		if len(message) != spiceproto.MiniHeaderSize+int(h.Size) || h.Size != columnBytes {
			t.Fatalf("message %d has %d bytes and says %d", i, len(message), h.Size)
		}
		body := message[spiceproto.MiniHeaderSize:]
		d, err := spiceproto.ParseDrawHead(h.Type, h.Size, body[:spiceproto.HeadSize])
		if err != nil {
			t.Fatal(err)
		}
		if !d.ImageKnown || d.Image.Width != columnWidth || d.Image.Height != screenHeight || boxes.Intersects(d.Box) {
			t.Errorf("message %d is %+v", i, d)
		}
		boxes = boxes.Union(d.Box)
		if e := spiceproto.ParseEffect(h.Type, h.Size, body[:spiceproto.HeadSize]); e.Doubt != spiceproto.DoubtNone || !e.Overwrites {
			t.Errorf("message %d takes no part in the display queue's order: %+v", i, e)
		}
	}
	if want := (spiceproto.Rect{Right: screenWidth, Bottom: screenHeight}); boxes != want {
		t.Errorf("a cycle paints %v, want %v", boxes, want)
	}
}
