package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/guest"
	"spicepacer/spiceproto"
)

// Clients from before the mini header, in every mode: spice-gtk shows what QEMU
// shows, keys are answered, and neither stops when a window of ACKs is full, which is
// how a wrong count would show.
func TestFullHeaders(t *testing.T) {
	l := newLab(t, "80:10", "spicy-screenshot")
	m := l.boot(l.activity("heavy"), guest.QEMU{SpicePort: qemuPort})
	ca := newAuthority(t, "Old")
	id := ca.issue(l.dir, pkix.Name{CommonName: "proxy"}, l.link.Server().Addr())
	for _, mode := range []string{"passthrough", "withhold", "adaptive"} {
		p := l.startProxy(mode, id, plainTarget)
		old := l.makeOld(ca)
		l.wantScreen(m, old.screenshot("viewer-"+mode))
		old.wantAnswers(mode)
		p.wantLog("hypervisor connection successful; handing off to relay", func(e entry) bool {
			return e.Channel == "display" && e.Mode == mode && e.FullHeaders
		})
		p.stop()
	}
}

// oldClients stands between the clients of a lab and the proxy and makes them old: it
// takes MINI_HEADER and AUTH_SELECTION out of their link messages. The proxy then
// does not offer these, by which spice-gtk and the bench's client go, and so they
// speak full headers of their own.
type oldClients struct {
	l        *lab
	port     int
	upstream func(context.Context) (net.Conn, error)

	mu       sync.Mutex // guards the rest
	displays []*oldDisplay
}

// oldDisplay is what passed on a display channel.
type oldDisplay struct {
	t *testing.T

	mu       sync.Mutex // guards the rest
	window   uint64     // of SET_ACK
	received uint64     // messages of the server since and including SET_ACK
	acks     uint64     // of the client
	serial   uint64     // of the server's last message
}

// makeOld listens at the client's end until the end of the test.
func (l *lab) makeOld(ca *authority) *oldClients {
	l.t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	o := &oldClients{l: l}
	dial := dialer(l.link.Client())
	o.upstream = func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx, "tcp", l.clientAddr(securePort))
		if err != nil {
			return nil, err
		}
		return tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: l.link.Server().Addr().String()}), nil
	}
	var listener net.Listener
	err := l.link.Client().Do(func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(l.link.Client().Addr().String(), "0"))
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	o.port = listener.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(context.Background())
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			relays.Go(func() {
				if err := o.relay(ctx, c); err != nil {
					l.t.Logf("old client: %v", err) // such as one that ends while it still links
				}
			})
		}
	})
	l.t.Cleanup(func() {
		cancel()
		listener.Close()
		relays.Wait()
	})
	return o
}

// relay carries one connection. An error is one of the link stage.
func (o *oldClients) relay(ctx context.Context, down net.Conn) error {
	defer down.Close()
	up, err := o.upstream(ctx)
	if err != nil {
		return err
	}
	defer up.Close()
	defer context.AfterFunc(ctx, func() { down.Close(); up.Close() })()
	mess, err := spiceproto.ReadLinkMess(down)
	if err != nil {
		return err
	}
	mess.Common = mess.Common.Without(spiceproto.CapMiniHeader).Without(spiceproto.CapAuthSelection)
	if _, err := up.Write(mess.Append(nil)); err != nil {
		return err
	}
	reply, err := spiceproto.ReadLinkReply(up)
	if err != nil {
		return err
	}
	if reply.Common.Has(spiceproto.CapMiniHeader) || reply.Common.Has(spiceproto.CapAuthSelection) {
		o.l.t.Errorf("%v channel: proxy offers %v", mess.Type, spiceproto.CommonCapNames(reply.Common))
	}
	if _, err := down.Write(reply.Append(nil)); err != nil {
		return err
	}
	if _, err := io.CopyN(up, down, spiceproto.TicketSize); err != nil {
		return err
	}
	if _, err := io.CopyN(down, up, 4); err != nil { // the link result
		return err
	}
	d := &oldDisplay{t: o.l.t}
	if mess.Type == spiceproto.ChannelDisplay {
		o.mu.Lock()
		o.displays = append(o.displays, d)
		o.mu.Unlock()
	}
	var both sync.WaitGroup
	both.Go(func() { follow(down, up, d.fromServer); down.Close() })
	both.Go(func() { follow(up, down, d.fromClient); up.Close() })
	both.Wait()
	return nil
}

// follow copies messages with full headers until an end, and shows each head before
// it is written.
func follow(to io.Writer, from io.Reader, look func(f *spiceproto.Framer)) {
	f := spiceproto.Framer{Full: true}
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			s := f.Next(b)
			b = b[len(s.Bytes):]
			if s.HeadDone {
				look(&f)
			}
		}
		if _, e := to.Write(buf[:n]); e != nil || err != nil {
			return
		}
	}
}

// fromServer counts as clients and servers do. Serials grow, from 1.
func (d *oldDisplay) fromServer(f *spiceproto.Framer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := f.FullHeader()
	if h.Serial <= d.serial || d.serial == 0 && h.Serial != 1 {
		d.t.Errorf("server's message %d behind %d", h.Serial, d.serial)
	}
	d.serial = h.Serial
	if m, err := spiceproto.ParseSetAck(f.Head()); h.Type == spiceproto.MsgSetAck && err == nil {
		d.window, d.received, d.acks = uint64(m.Window), 0, 0
	}
	d.received++
}

// fromClient counts ACKs, of which none may be early.
func (d *oldDisplay) fromClient(f *spiceproto.Framer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f.Header().Type != spiceproto.MsgcAck {
		return
	}
	if d.acks++; d.acks*d.window > d.received {
		d.t.Errorf("ACK %d of window %d for %d messages", d.acks, d.window, d.received)
	}
}

// screenshot returns what spicy-screenshot saves.
func (o *oldClients) screenshot(name string) string {
	l := o.l
	l.t.Helper()
	path := l.file(name + ".ppm")
	cmd := command(l.link.Client())(l.patient(), "spicy-screenshot",
		"--host", l.link.Client().Addr().String(), "--port", strconv.Itoa(o.port), "--password", token, "--out-file", path)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("spicy-screenshot: %v\n%s", err, out)
	}
	return path
}

// wantAnswers presses keys until the display channel has seen several windows.
func (o *oldClients) wantAnswers(mode string) {
	t := o.l.t
	t.Helper()
	cfg := client.DefaultConfig()
	cfg.Addr = net.JoinHostPort(o.l.link.Client().Addr().String(), strconv.Itoa(o.port))
	cfg.Password = token
	cfg.DialContext = dialer(o.l.link.Client())
	cfg.Presses, cfg.Timeout, cfg.Logf = 5, patience, t.Logf
	r, err := client.Run(o.l.patient(), cfg)
	if err != nil {
		t.Fatalf("%s: client: %v", mode, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.displays) != 2 {
		t.Fatalf("%s: %d display channels, want the viewer's and the client's", mode, len(o.displays))
	}
	d := o.displays[1]
	d.mu.Lock()
	defer d.mu.Unlock()
	t.Logf("%s: %d messages, %d ACKs of window %d, last serial %d, answers after %v",
		mode, d.received, d.acks, d.window, d.serial, r.Latencies)
	const windows = 5
	if d.acks < windows || d.received < windows*d.window {
		t.Errorf("%s: %d messages and %d ACKs of window %d, want %d windows", mode, d.received, d.acks, d.window, windows)
	}
}
