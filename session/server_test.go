package session

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

func TestDrainEndsRelays(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), nil)
	c := p.tlsClient()
	c.open(linkMess(spiceproto.ChannelMain))
	c.wantEcho()
	p.cancel()
	c.wantEnd(nil)
	c.Close()
	p.stop()
	p.wantLog(zap.InfoLevel, "shutdown signal received; draining in-flight sessions", "active:1", "drain_timeout_secs:10")
	p.wantLog(zap.InfoLevel, "relay ended", "channel_type:main", "proxy is shutting down")
	p.wantLog(zap.InfoLevel, "all in-flight sessions drained")
	if _, err := net.Dial("tcp", p.secure); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial after the stop: %v", err)
	}
}

func TestDrainInterruptsHandshakes(t *testing.T) {
	contacted := make(chan bool, 1)
	hangs := serveEach(t, "tcp", "127.0.0.1:0", func(c net.Conn) { contacted <- true; io.Copy(io.Discard, c) })
	for name, play := range map[string]func(*proxy) *peer{
		"before TLS":        func(p *proxy) *peer { return p.dial(p.secure) },
		"before the link":   (*proxy).client,
		"before the ticket": func(p *proxy) *peer { c := p.tlsClient(); c.link(linkMess(spiceproto.ChannelMain)); return c },
		"while hypervisor hangs": func(p *proxy) *peer {
			c := p.client()
			c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
			await(t, contacted, "hypervisor connection")
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, authz.Target{Hypervisor: "127.0.0.1", InsecurePort: hangs}, nil)
			c := play(p)
			await(t, p.accepted, "connection")
			p.stop()
			// The client may still have been told.
			if _, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the client was not closed")
			}
			if got := await(t, p.outcomes, "outcome"); got.result != Interrupted {
				t.Errorf("outcome %v, want %v", got, Interrupted)
			}
		})
	}
}

func TestDrainDeadline(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) {
		entered <- true
		<-release // deaf to its context
		return authz.Target{}, errors.New("too late")
	}), func(c *Config) { c.Timeouts.Drain = soon })
	c := p.client()
	c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
	await(t, entered, "call")
	p.stop()
	p.wantLog(zap.WarnLevel, "drain deadline reached; exiting with sessions still in flight", "active:1")
	close(release)
	p.want(spiceproto.ChannelMain, Interrupted)
}

func TestReady(t *testing.T) {
	s := idleServer(t, nil)
	if err := s.Ready(); !errors.Is(err, errStarting) {
		t.Errorf("before Serve: %v", err)
	}
	entered, release := make(chan bool), make(chan bool)
	p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) {
		entered <- true
		<-release // keeps the drain waiting
		return authz.Target{}, errors.New("too late")
	}), nil)
	c := p.client()
	c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
	await(t, entered, "call")
	if err := p.Ready(); err != nil {
		t.Errorf("while the ports are open: %v", err)
	}
	p.cancel()
	c.wantClose() // connections end when the drain has begun
	if err := p.Ready(); !errors.Is(err, errShutdown) {
		t.Errorf("in the drain: %v", err)
	}
	close(release)
}

func TestPortInUseIsNotReady(t *testing.T) {
	s := idleServer(t, nil)
	s.listen = func(context.Context, netip.AddrPort) (net.Listener, error) { return nil, syscall.EADDRINUSE }
	s.Serve(t.Context())
	if err := s.Ready(); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("Ready: %v", err)
	}
}

func TestAnyAddressListens(t *testing.T) {
	for address, peers := range map[string][]string{
		"0.0.0.0":   {"127.0.0.1"},
		"127.0.0.1": {"127.0.0.1"},
		"::":        {"127.0.0.1", "::1"},
		"::1":       {"::1"},
	} {
		l, err := listenTCP(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(address), 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, peer := range peers {
			c, err := net.Dial("tcp", net.JoinHostPort(peer, strconv.Itoa(int(addrPort(l.Addr()).Port()))))
			if err != nil {
				t.Errorf("%s is not reached as %s: %v", address, peer, err)
				continue
			}
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if got := addrPort(server.RemoteAddr()); got.String() != c.LocalAddr().String() {
				t.Errorf("%s: client %v counts as %v", address, c.LocalAddr(), got)
			}
			server.Close()
			c.Close()
		}
		l.Close()
	}
}

// fakeListener fails as often as it has errors, then waits for Close.
type fakeListener struct {
	mu     sync.Mutex
	errs   []error
	calls  []time.Time
	closed chan struct{}
	once   sync.Once
}

func newFakeListener(errs ...error) *fakeListener {
	return &fakeListener{errs: errs, closed: make(chan struct{})}
}

func (l *fakeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	l.calls = append(l.calls, time.Now())
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		l.mu.Unlock()
		return nil, err
	}
	l.mu.Unlock()
	<-l.closed
	return nil, net.ErrClosed
}

func (l *fakeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *fakeListener) Addr() net.Addr { return &net.TCPAddr{Port: 5900} }

// idleServer has both ports on and no certificate to show.
func idleServer(t *testing.T, change func(*Config)) *Server {
	t.Helper()
	cfg := DefaultConfig()
	cfg.InsecurePort, cfg.InsecureMode = 5901, ServePlain
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, Deps{Authorizer: authorizerFunc(nil)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAcceptBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := idleServer(t, nil)
		core, logs := observer.New(zap.WarnLevel)
		s.log = zap.New(core)
		errs := make([]error, 10)
		for i := range errs {
			errs[i] = &net.OpError{Op: "accept", Err: syscall.EMFILE}
		}
		l := newFakeListener(errs...)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.accept(ctx, l, nil) }()
		time.Sleep(time.Minute) // of the bubble's time
		synctest.Wait()
		cancel()
		l.Close()
		if err := <-done; err != nil {
			t.Errorf("accept: %v", err)
		}
		want := 5 * time.Millisecond
		for i := 1; i < len(l.calls); i++ {
			if got := l.calls[i].Sub(l.calls[i-1]); got != want {
				t.Errorf("pause %d = %v, want %v", i, got, want)
			}
			want = min(2*want, time.Second)
		}
		if len(l.calls) != len(errs)+1 || logs.Len() != len(errs) {
			t.Errorf("%d calls, %d lines for %d errors", len(l.calls), logs.Len(), len(errs))
		}
	})
}

func TestBackOffEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := idleServer(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.accept(ctx, newFakeListener(syscall.EMFILE), nil) }()
		synctest.Wait() // in the first pause
		start := time.Now()
		cancel()
		if err := <-done; err != nil || time.Since(start) != 0 {
			t.Errorf("accept returned %v after %v", err, time.Since(start))
		}
	})
}

func TestBrokenListenerEndsServe(t *testing.T) {
	s := idleServer(t, nil)
	s.listen = func(context.Context, netip.AddrPort) (net.Listener, error) {
		return newFakeListener(net.ErrClosed), nil
	}
	if err := s.Serve(t.Context()); err == nil || !strings.Contains(err.Error(), "accept on :5900") {
		t.Errorf("Serve: %v, want the listener's address", err)
	}
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	first := newFakeListener()
	s := idleServer(t, func(c *Config) {
		c.Address = netip.MustParseAddr("127.0.0.1")
		c.SecurePort = int(addrPort(taken.Addr()).Port())
		c.Certificate = issue(t, nil, "proxy").pair
	})
	s.listen = func(ctx context.Context, a netip.AddrPort) (net.Listener, error) {
		if a.Port() == 5901 {
			return first, nil
		}
		return listenTCP(ctx, a)
	}
	err = s.Serve(t.Context())
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), taken.Addr().String()) {
		t.Errorf("Serve: %v, want the address in use", err)
	}
	await(t, first.closed, "close of the other listener")
}

func TestWildcardIsIPv4Only(t *testing.T) {
	l, err := listenTCP(t.Context(), netip.MustParseAddrPort("0.0.0.0:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a := l.Addr().(*net.TCPAddr).AddrPort().Addr(); !a.Is4() {
		t.Errorf("0.0.0.0 listens on %v", a)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"listen address": func(c *Config) { c.Address = netip.Addr{} },
		"port 65536":     func(c *Config) { c.InsecurePort = 65536 },
		"port -1":        func(c *Config) { c.SecurePort = -1 },
		"both listeners": func(c *Config) { c.InsecurePort = 0 },
		"certificate":    func(c *Config) { c.SecurePort = 5900 },
		"limits":         func(c *Config) { c.Connections = 0 },
	} {
		cfg := DefaultConfig()
		cfg.InsecurePort = 5901
		change(&cfg)
		if _, err := New(cfg, Deps{Authorizer: authorizerFunc(nil)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %q", err, want)
		}
	}
	cfg := DefaultConfig()
	cfg.InsecurePort = 5901
	if _, err := New(cfg, Deps{}); err == nil {
		t.Error("no authorizer accepted")
	}
}

func TestTicketKeys(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	keys := newTicketKeys()
	done := make(chan error)
	go func() { done <- keys.fill(ctx) }()
	seen := make(map[[spiceproto.PubKeySize]byte]bool)
	for range 3 {
		key, err := keys.take(ctx, false)
		if err != nil || seen[key.PubKey()] {
			t.Fatalf("key %x again, or err %v", key.PubKey(), err)
		}
		seen[key.PubKey()] = true
	}
	cancel()
	if err := await(t, done, "end of fill"); err != nil {
		t.Error(err)
	}
	for len(keys.stock) > 0 {
		<-keys.stock
	}
	if key, err := keys.take(ctx, true); key == nil || key != keys.latest.Load() {
		t.Errorf("an encrypted client finds no stock: err %v, want the latest key", err)
	}
	if _, err := keys.take(ctx, false); !errors.Is(err, context.Canceled) {
		t.Errorf("another finds no stock: %v, want it to wait", err)
	}
	if _, err := newTicketKeys().take(ctx, true); !errors.Is(err, context.Canceled) {
		t.Errorf("an encrypted client before the first key: %v, want it to wait", err)
	}
}

func TestResultsHaveNames(t *testing.T) {
	if len(resultNames) != int(Interrupted)+1 {
		t.Errorf("%d names for %d results", len(resultNames), Interrupted+1)
	}
	for r := Redirected; r <= Interrupted; r++ {
		if resultMessages[r] == "" {
			t.Errorf("%v has no message", r)
		}
	}
}
