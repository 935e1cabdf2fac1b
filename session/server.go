// Package session carries SPICE connections: it accepts clients, takes them
// through the link stage, connects to the hypervisor an authorizer names, and
// relays each channel.
//
//	server, err := session.New(cfg, session.Deps{Authorizer: a, Log: log})
//	err = server.Serve(ctx) // until ctx ends; then drains and returns nil
package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"spicepacer/session/authz"
)

// Deps are what a Server works with. Only Authorizer is required.
type Deps struct {
	Authorizer authz.Authorizer
	// Registrar is told of every channel's life; nil: nobody is.
	Registrar authz.Registrar
	Observer  Observer
	// Tracer is nil unless traces are wanted.
	Tracer Tracer
	Log    *zap.Logger
}

// Server is a SPICE proxy.
type Server struct {
	cfg       Config
	auth      authz.Authorizer
	registrar authz.Registrar
	observer  Observer
	tracer    Tracer
	log       *zap.Logger

	clientTLS *tls.Config
	// certificate is what the secure port shows from now on.
	certificate atomic.Pointer[tls.Certificate]
	permits     *permits
	perToken    *tokenChannels
	keys        *ticketKeys
	roots       rootPools
	registry    *registry
	live        *liveSessions
	// missingOptions makes the lack of a socket option one line in the log.
	missingOptions sync.Once
	// refusals thins out the lines about connections that a limit refuses.
	refusals limitLog
	handlers sync.WaitGroup
	phase    atomic.Pointer[error]

	// listen is a seam for tests.
	listen func(ctx context.Context, address netip.AddrPort) (net.Listener, error)
}

// New checks cfg and prepares a Server; it opens no socket.
func New(cfg Config, deps Deps) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if deps.Authorizer == nil {
		return nil, errors.New("no authorizer")
	}
	if deps.Observer == nil {
		deps.Observer = nobody{}
	}
	if deps.Log == nil {
		deps.Log = zap.NewNop()
	}
	s := &Server{
		cfg:       cfg,
		auth:      deps.Authorizer,
		registrar: deps.Registrar,
		observer:  deps.Observer,
		tracer:    deps.Tracer,
		log:       deps.Log,
		permits:   newPermits(cfg.Connections, cfg.HandshakesPerAddress, cfg.TokenFailures),
		perToken:  newTokenChannels(cfg.ChannelsPerToken),
		keys:      newTicketKeys(),
		registry:  newRegistry(cfg.Pacing.PassthroughPercent),
		live:      newLiveSessions(),
		listen:    listenTCP,
	}
	s.certificate.Store(&cfg.Certificate)
	s.clientTLS = &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
	return s, nil
}

// Serve binds the listeners and relays until ctx ends. Then it stops listening,
// ends every channel, waits for them up to the drain timeout and returns nil.
// Any other return is an error: a port that cannot be bound, named by its
// address, or a listener that broke.
func (s *Server) Serve(ctx context.Context) error {
	s.checkDescriptors()
	listeners, err := s.bind(ctx)
	if err != nil {
		s.enter(err)
		return err
	}
	s.enter(nil)
	// Connections outlive the listeners by a moment, to be counted.
	connections, end := context.WithCancelCause(context.WithoutCancel(ctx))
	g, running := errgroup.WithContext(ctx)
	for _, l := range listeners {
		stop := context.AfterFunc(running, func() { l.Close() })
		defer stop()
		g.Go(func() error {
			return s.accept(running, l, func(sock net.Conn) { s.welcome(connections, sock, l.secure) })
		})
	}
	for range ticketKeyMakers() {
		g.Go(func() error { return s.keys.fill(running) })
	}
	err = g.Wait()
	s.enter(errShutdown)
	if err == nil {
		s.log.Info("shutdown signal received; draining in-flight sessions",
			zap.Int("active", s.permits.active()),
			zap.Int("drain_timeout_secs", int(s.cfg.Timeouts.Drain.Seconds())))
	}
	end(errShutdown)
	s.drain()
	return err
}

// errStarting is why a Server is not ready that has not opened its ports.
var errStarting = errors.New("proxy is starting")

// enter sets what Ready tells.
func (s *Server) enter(phase error) { s.phase.Store(&phase) }

// Ready returns nil while the ports are open, else why no client should be sent
// here: the proxy is starting, or stops and drains. It asks nobody.
func (s *Server) Ready() error {
	if phase := s.phase.Load(); phase != nil {
		return *phase
	}
	return errStarting
}

// errShutdown is why connections end when Serve does.
var errShutdown = errors.New("proxy is shutting down")

// drain waits for the connections, whose context has ended.
func (s *Server) drain() {
	idle := make(chan struct{})
	go func() {
		s.handlers.Wait()
		close(idle)
	}()
	deadline := time.NewTimer(s.cfg.Timeouts.Drain)
	defer deadline.Stop()
	select {
	case <-idle:
		s.log.Info("all in-flight sessions drained")
	case <-deadline.C:
		s.log.Warn("drain deadline reached; exiting with sessions still in flight",
			zap.Int("active", s.permits.active()))
	}
}

// listener is a bound port and how it treats its connections.
type listener struct {
	net.Listener
	secure bool
}

// bind opens the ports that are on, or none.
func (s *Server) bind(ctx context.Context) ([]listener, error) {
	var bound []listener
	for _, p := range []struct {
		port   int
		secure bool
		name   string
	}{
		{s.cfg.InsecurePort, false, "insecure"},
		{s.cfg.SecurePort, true, "secure"},
	} {
		if p.port == 0 {
			continue
		}
		l, err := s.listen(ctx, netip.AddrPortFrom(s.cfg.Address, uint16(p.port)))
		if err != nil {
			for _, b := range bound {
				b.Close()
			}
			return nil, fmt.Errorf("%s SPICE listener: %w", p.name, err)
		}
		s.log.Info(p.name+" SPICE listener bound", zap.Stringer("addr", l.Addr()))
		bound = append(bound, listener{l, p.secure})
	}
	return bound, nil
}

// keepAlive finds a dead peer within about 75 s.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 3}

func listenTCP(ctx context.Context, address netip.AddrPort) (net.Listener, error) {
	network := "tcp"
	if address.Addr().Is4() {
		network = "tcp4" // Go would open 0.0.0.0 for IPv6 too
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	// Go listens for MPTCP by default, whose sockets have neither TCP_INFO nor
	// queue sizes for the path.
	lc.SetMultipathTCP(false)
	return lc.Listen(ctx, network, address.String())
}

// accept hands l's connections to welcome until ctx ends. An error other than the end of l, such as a
// lack of descriptors, passes: it is waited out, longer each time.
func (s *Server) accept(ctx context.Context, l net.Listener, welcome func(net.Conn)) error {
	const firstPause, longestPause = 5 * time.Millisecond, time.Second
	pause := firstPause
	for {
		sock, err := l.Accept()
		switch {
		case err == nil:
			pause = firstPause
			welcome(sock)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		default:
			s.log.Warn("accept failed", zap.Stringer("addr", l.Addr()), zap.Duration("retry_in", pause), zap.Error(err))
			if !sleep(ctx, pause) {
				return nil
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// sleep waits for d and tells whether ctx still runs.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
