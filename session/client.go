package session

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// client is an accepted socket on its way through the link stage. It belongs to
// one goroutine.
type client struct {
	ref  string
	peer netip.AddrPort
	sock net.Conn
	// conn is what SPICE is read from: sock, or TLS over it.
	conn net.Conn
	link spiceproto.LinkMess
	log  *zap.Logger
	// permit is its share of the limits; balanced tells that it comes through a
	// balancer, which first has to name the client.
	permit   *permit
	balanced bool
	// releaseToken gives back its share of its token's channels; nil until it has one.
	releaseToken func()
	// refused tells that an answer was sent which the peer should still get.
	refused bool
	// started tells that the observer was told of the connection.
	started bool
	// registered tells that the registrar knows the connection, and has to learn
	// of its end.
	registered bool
	audits     sync.WaitGroup
	// target is where it is let; zero until it is authorized.
	target authz.Target
}

// failure ends a connection before its relay.
type failure struct {
	result Result
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// welcome starts a connection's goroutine, or closes it when a limit is
// reached.
func (s *Server) welcome(ctx context.Context, sock net.Conn, secure bool) {
	c := &client{ref: newRef(), peer: addrPort(sock.RemoteAddr()), sock: sock, conn: sock}
	c.log = s.log.With(zap.String("connection_ref", c.ref), zap.Stringer("peer", sock.RemoteAddr()))
	if err := s.admit(c); err != nil {
		s.conclude(c, &failure{Limited, err})
		sock.Close()
		return
	}
	s.handlers.Go(func() {
		defer c.permit.release()
		s.serve(ctx, c, secure)
	})
}

// admit books c on the limits; on those of its address only when that is known.
func (s *Server) admit(c *client) (err error) {
	if c.permit, err = s.permits.acquire(); err != nil {
		return err
	}
	if c.balanced = s.isBalancer(c.peer.Addr()); c.balanced {
		return nil
	}
	if err = c.permit.identify(c.peer.Addr()); err != nil {
		c.permit.release()
	}
	return err
}

// serve carries one connection from accept to close.
func (s *Server) serve(ctx context.Context, c *client, secure bool) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer s.deregister(ctx, c)
	defer s.finish(c)
	defer func() {
		if c.releaseToken != nil {
			c.releaseToken()
		}
	}()
	defer s.registry.leave(c.ref)
	defer func() { s.live.leave(c.target.SessionID, c) }()
	// Closing is what ends a blocked handshake when the proxy stops or the
	// session is terminated.
	stop := context.AfterFunc(ctx, func() { c.sock.Close() })
	ch, err := s.establishApart(ctx, c, end, secure)
	if !stop() && err != nil {
		err = &failure{Interrupted, context.Cause(ctx)}
	}
	c.permit.handshakeDone()
	s.conclude(c, err)
	if ch != nil {
		s.run(ctx, ch)
		s.auditVerdicts(ctx, c, ch.guard)
	}
}

// finish closes c and counts its end.
func (s *Server) finish(c *client) {
	c.close()
	if c.started {
		s.observer.ConnectionEnded()
	}
}

// establishApart runs establish on a goroutine of its own: TLS handshakes need
// stacks of tens of kilobytes, which the relay, that may last for days, would keep.
func (s *Server) establishApart(ctx context.Context, c *client, end context.CancelCauseFunc, secure bool) (ch *channel, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ch, err = s.establish(ctx, c, end, secure)
	}()
	<-done
	return ch, err
}

// establish takes the client through its link stage and connects the
// hypervisor. end is what ends ctx. The error is a *failure, also when the client
// was only redirected.
func (s *Server) establish(ctx context.Context, c *client, end context.CancelCauseFunc, secure bool) (*channel, error) {
	if c.balanced {
		if err := s.learnPeer(c); err != nil {
			return nil, err
		}
	}
	if secure {
		if err := s.startTLS(ctx, c); err != nil {
			return nil, &failure{TLSFailed, err}
		}
	} else if s.cfg.InsecureMode == Redirect {
		return nil, s.redirect(c)
	}
	c.started = true
	s.observer.ConnectionStarted()
	if err := s.readLink(c, s.cfg.Timeouts.Link); err != nil {
		return nil, &failure{LinkFailed, err}
	}
	if err := s.register(ctx, c); err != nil {
		return nil, err
	}
	token, err := s.readToken(ctx, c)
	if err != nil {
		return nil, &failure{LinkFailed, err}
	}
	target, err := s.authorize(ctx, c, token)
	if err != nil {
		return nil, err
	}
	if c.releaseToken, err = s.perToken.acquire(token); err != nil {
		c.refuse(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrError))
		return nil, &failure{Limited, err}
	}
	s.observer.ChannelAuthorized()
	c.target = target
	s.live.join(target.SessionID, c, end)
	return s.connect(ctx, c, token, target)
}

func (s *Server) startTLS(ctx context.Context, c *client) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeouts.TLSAccept)
	defer cancel()
	c.limit(s.cfg.Timeouts.TLSAccept) // another one was for what came before
	conn := tls.Server(&recordBuffer{Conn: c.sock}, s.clientTLS)
	if err := conn.HandshakeContext(ctx); err != nil {
		return inTime(explainHandshake(err), "TLS handshake", s.cfg.Timeouts.TLSAccept)
	}
	c.conn = conn
	return nil
}

// explainHandshake adds what the error of a handshake is a sign of. OpenSSL clients
// that reject a certificate in TLS 1.3 send their alert in the clear, which crypto/tls
// takes for a record it cannot decrypt.
func explainHandshake(err error) error {
	if err != nil && strings.Contains(err.Error(), "bad record MAC") {
		return fmt.Errorf("the client may not trust the certificate or the name in it: %w", err)
	}
	return err
}

// authorize asks for the client's target and answers a refusal.
func (s *Server) authorize(ctx context.Context, c *client, token authz.Secret) (authz.Target, error) {
	target, err := s.auth.Authorize(ctx, authz.Request{Channel: c.channel(), Token: token})
	if err == nil {
		err = s.permit(ctx, c, target)
	}
	if err == nil {
		return target, nil
	}
	if denial, denied := errors.AsType[*authz.Denied](err); denied {
		if !denial.KnownToken {
			s.permits.failures.book(c.peer.Addr(), time.Now())
		}
		c.refuse(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrPermissionDenied))
		return target, &failure{Denied, err}
	}
	c.refuse(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrError))
	return target, &failure{AuthorizerFailed, err}
}

// connect reaches the hypervisor first and tells the client the result of its
// link stage after that, so that a dead hypervisor shows as an error.
func (s *Server) connect(ctx context.Context, c *client, token authz.Secret, target authz.Target) (*channel, error) {
	mode := s.cfg.Pacing.Mode
	if s.registry.join(c.ref, token, c.link) || !paced(c.link.Type, mode) {
		mode = pacer.Passthrough
	}
	b, err := s.connectBackend(ctx, c, target, mode)
	if err != nil {
		c.refuse(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrError))
		s.tellBackendFailure(ctx, c, target, err)
		return nil, &failure{BackendFailed, err}
	}
	s.audit(ctx, c, target, auditConnected)
	if err := s.confirm(c); err != nil {
		b.leg.conn.Close()
		return nil, &failure{LinkFailed, err}
	}
	s.setClientOptions(c, mode)
	c.log.Info("hypervisor connection successful; handing off to relay",
		zap.String("hypervisor", target.Name), zap.Bool("tls", b.leg.tls), zap.Stringer("mode", mode),
		zap.Bool("full_headers", fullHeaders(c.link)))
	guard := s.newGuard(c, mode)
	return &channel{
		ref:          c.ref,
		kind:         c.link.Type,
		id:           c.link.ID,
		connectionID: c.link.ConnectionID,
		client:       newLeg(c.sock, c.conn).of(c.peer),
		server:       b.leg,
		mode:         mode,
		serverCaps:   b.caps,
		fullHeaders:  fullHeaders(c.link),
		log:          c.log,
		stats:        &Stats{Firewall: guard.Tally()},
		guard:        guard,
	}, nil
}

// tellBackendFailure records why no hypervisor could be reached.
func (s *Server) tellBackendFailure(ctx context.Context, c *client, target authz.Target, err error) {
	if subject, ok := errors.AsType[*SubjectError](err); ok {
		c.log.Warn(subject.Error()) // a line that Kerbside's tools look for
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	s.audit(ctx, c, target, auditFailure(err, s.cfg.Timeouts.Backend))
}

// run relays ch and logs how it ended.
func (s *Server) run(ctx context.Context, ch *channel) {
	info := ChannelInfo{Ref: ch.ref, Type: ch.kind, ID: ch.id, Mode: ch.mode, FullHeaders: ch.fullHeaders, Stats: ch.stats}
	s.observer.ChannelStarted(info)
	defer s.observer.ChannelEnded(info)
	defer s.startTrace(ch, info)()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s.registry.carry(ch, s.cfg.Timeouts.Idle, end)
	start := time.Now()
	err := s.relay(ctx, ch)
	s.registry.relayEnded(ch, err)
	if _, idle := errors.AsType[*IdleError](err); idle {
		ch.log.Warn("relay idle-read timeout; ending relay", zap.NamedError("reason", err))
	}
	level := zap.InfoLevel
	if err != nil && !peerGone(err) && ctx.Err() == nil {
		level = zap.WarnLevel
	}
	ch.log.With(endFields(ch, err)...).Log(level, "relay ended", zap.Duration("after", time.Since(start)),
		zap.Uint64("bytes_to_client", ch.stats.BytesToClient.Load()),
		zap.Uint64("bytes_to_server", ch.stats.BytesToServer.Load()),
		zap.NamedError("reason", err))
}

// endFields are what the last line of a relay tells beside the reason.
func endFields(ch *channel, err error) []zap.Field {
	if ch.closedBy != "" {
		return []zap.Field{zap.String("closed_by", ch.closedBy)}
	}
	return truncatedFields(err)
}

var resultMessages = map[Result]string{
	Redirected:        "client sent to the secure port",
	Limited:           "connection refused by a limit",
	ProxyHeaderFailed: "PROXY protocol header of a balancer not understood",
	TLSFailed:         "client TLS handshake failed",
	LinkFailed:        "client link stage failed",
	RegisterFailed:    "RegisterChannel failed; closing connection",
	Denied:            "connection denied by control service",
	AuthorizerFailed:  "AuthorizeConnection RPC failed; closing connection",
	BackendFailed:     "hypervisor connection failed",
	Interrupted:       "handshake interrupted",
}

// conclude logs and counts what the handshake came to.
func (s *Server) conclude(c *client, err error) {
	result := Relayed
	if f, failed := errors.AsType[*failure](err); failed {
		result = f.result
		s.logEnd(c.log, f)
	}
	s.observer.Connection(c.link.Type, result)
}

// logEnd logs f, but for most of the connections that a limit refuses in a flood.
func (s *Server) logEnd(log *zap.Logger, f *failure) {
	if f.result == Limited {
		skipped, ok := s.refusals.allow(time.Now())
		if !ok {
			return
		}
		if skipped > 0 {
			log = log.With(zap.Int("not_logged", skipped))
		}
	}
	logFailure(log, f)
}

// logFailure tells why a connection ended early. A client that just went away,
// as health checks do, is no event.
func logFailure(log *zap.Logger, f *failure) {
	level := zap.InfoLevel
	switch f.result {
	case Redirected:
		level = zap.DebugLevel
	case Limited, RegisterFailed, AuthorizerFailed, BackendFailed:
		level = zap.WarnLevel
	case ProxyHeaderFailed:
		level = zap.WarnLevel // a balancer is configured, by whoever reads the log
		if peerGone(f.err) {
			level = zap.DebugLevel
		}
	case TLSFailed, LinkFailed:
		if peerGone(f.err) {
			level = zap.DebugLevel
		}
	}
	log.Log(level, resultMessages[f.result], zap.NamedError("reason", f.err))
}

// refuse sends a last answer to the client.
func (c *client) refuse(answer []byte) error {
	c.limit(lingerTime)
	_, err := c.conn.Write(answer)
	c.refused = err == nil
	return err
}

// limit gives the client d for everything up to the next limit.
func (c *client) limit(d time.Duration) { c.conn.SetDeadline(time.Now().Add(d)) }

const (
	// lingerTime and lingerBytes bound what is read from a client that was
	// refused.
	lingerTime  = time.Second
	lingerBytes = 64 << 10
)

// close ends the connection. After a refusal it first reads what the client
// still sends: closing a socket with unread input resets it, and the reset may
// overtake the answer.
func (c *client) close() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok && c.refused && half.CloseWrite() == nil {
		c.limit(lingerTime)
		io.CopyN(io.Discard, c.conn, lingerBytes)
	}
	c.conn.Close()
}

// newRef returns a random UUID (RFC 9562, version 4).
func newRef() string {
	var u [16]byte
	rand.Read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// addrPort returns a TCP peer's address, IPv4 as such.
func addrPort(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// peerGone tells that err only says that a peer went away.
func peerGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// inTime explains a deadline: which stage was not complete, after how long.
func inTime(err error, stage string, limit time.Duration) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s not complete within %v: %w", stage, limit, err)
	}
	return fmt.Errorf("%s: %w", stage, err)
}
