package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session/authz"
	"spicepacer/session/sockopt"
	"spicepacer/spiceproto"
)

// backend is a hypervisor connection after its link stage.
type backend struct {
	leg leg
	// caps are the hypervisor's channel capability words.
	caps spiceproto.Caps
}

// BackendError tells which hypervisor address could not be used, and why.
type BackendError struct {
	Address string
	TLS     bool
	Err     error
}

func (e *BackendError) Error() string {
	kind := "plaintext"
	if e.TLS {
		kind = "TLS"
	}
	return fmt.Sprintf("hypervisor %s (%s): %v", e.Address, kind, e.Err)
}

func (e *BackendError) Unwrap() error { return e.Err }

var (
	errNoPort    = errors.New("target has neither an insecure nor a secure port")
	errNoTLSPort = errors.New("and the target has no secure port")
	errTooSlow   = errors.New("not complete within")
	// errAuthentication tells a refused ticket from a refused link.
	errAuthentication = errors.New("authentication")
	errBackendCaps    = errors.New("hypervisor lacks required SPICE common capabilities")
	errSASL           = errors.New("hypervisor offers SASL authentication only, not SPICE tickets: start it without SASL")
)

// endpoint is one way to reach a hypervisor; tls is nil for plaintext.
type endpoint struct {
	network, address string
	tls              *tls.Config
}

// connectBackend tries plaintext first and TLS when the hypervisor asks for it,
// as SPICE clients do; a target without a plaintext port gets TLS at once.
func (s *Server) connectBackend(ctx context.Context, c *client, t authz.Target, mode pacer.Mode) (backend, error) {
	secure, err := backendTLS(t, &s.roots)
	if err != nil {
		return backend{}, err
	}
	a := attempt{server: s, client: c, ticket: t.Ticket, mode: mode}
	if path, ok := t.UnixPath(); ok {
		return a.try(ctx, endpoint{network: "unix", address: path})
	}
	if t.InsecurePort == 0 && t.SecurePort == 0 {
		return backend{}, errNoPort
	}
	if t.InsecurePort != 0 {
		b, err := a.try(ctx, endpoint{network: "tcp", address: hostPort(t.Hypervisor, t.InsecurePort)})
		if !errors.Is(err, spiceproto.LinkErrNeedSecured) {
			return b, err
		}
		if t.SecurePort == 0 {
			return b, fmt.Errorf("%w, %w", err, errNoTLSPort)
		}
		c.log.Info("hypervisor requires TLS; retrying backend connection over the secure port",
			zap.String("hypervisor", t.Name), zap.String("host_subject", t.HostSubject))
	}
	return a.try(ctx, endpoint{"tcp", hostPort(t.Hypervisor, t.SecurePort), secure})
}

func hostPort(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// attempt is what all attempts for one channel have in common.
type attempt struct {
	server *Server
	client *client
	ticket authz.Secret
	mode   pacer.Mode
}

// try connects to e and goes through the link stage, within the time limit.
func (a attempt) try(ctx context.Context, e endpoint) (backend, error) {
	limit := a.server.cfg.Timeouts.Backend
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b, err := a.dial(limited, e)
	if err == nil {
		return b, nil
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w %v: %w", errTooSlow, limit, err)
	}
	return backend{}, &BackendError{Address: e.address, TLS: e.tls != nil, Err: err}
}

func (a attempt) dial(ctx context.Context, e endpoint) (backend, error) {
	valve := hasReadValve(a.client.link.Type, a.mode)
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	dialer.SetMultipathTCP(false)
	if valve {
		dialer.Control = a.server.cfg.Pacing.Backend.sockopt().Control
	}
	sock, err := dialer.DialContext(ctx, e.network, e.address)
	if err != nil {
		return backend{}, err
	}
	if !valve {
		a.setReceiveBuffer(sock)
	}
	// The link stage knows no context: closing the socket is what ends it.
	stop := context.AfterFunc(ctx, func() { sock.Close() })
	b, err := a.start(ctx, sock, e)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		sock.Close()
		return backend{}, err
	}
	return b, nil
}

// setReceiveBuffer obeys an explicit receive_buffer on legs without a read valve
// the way Kerbside's flag does: after connect. It is best effort.
func (a attempt) setReceiveBuffer(sock net.Conn) {
	size := a.server.cfg.Pacing.Backend.ReceiveBuffer
	tcp, ok := sock.(*net.TCPConn)
	if size <= 0 || !ok {
		return
	}
	if err := sockopt.SetReceiveBuffer(tcp, size); err != nil {
		a.client.log.Warn("hypervisor socket option not set", zap.Error(err))
	}
}

// start runs TLS, if asked for, and the link stage.
func (a attempt) start(ctx context.Context, sock net.Conn, e endpoint) (backend, error) {
	conn := sock
	if e.tls != nil {
		secure := tls.Client(sock, e.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			return backend{}, fmt.Errorf("TLS handshake: %w", err)
		}
		conn = secure
	}
	reply, err := linkTo(conn, backendLink(a.client.link, e.network), a.ticket)
	if err != nil {
		return backend{}, err
	}
	a.warnMissingCaps(reply)
	return backend{leg: newLeg(sock, conn), caps: reply.Channel}, nil
}

// backendLink is the link message for the hypervisor: the client's own, so that
// the server encodes and frames for the real client, with the ticket as the only
// mechanism. How the client chose its own has no part in that: whatever it can do,
// this leg names the mechanism where the hypervisor can read it.
func backendLink(client spiceproto.LinkMess, network string) spiceproto.LinkMess {
	m := client
	m.Common = m.Common.With(spiceproto.CapAuthSelection).With(spiceproto.CapAuthSpice).Without(spiceproto.CapAuthSASL)
	if network == "unix" && m.Type == spiceproto.ChannelDisplay {
		// Over a unix socket the server would pass GL buffers as descriptors,
		// which no proxy can carry.
		m.Channel = m.Channel.Without(spiceproto.CapDisplayGLScanout).Without(spiceproto.CapDisplayGLScanout2)
	}
	return m
}

// linkTo speaks the client's part of the link stage. A refusal is a
// spiceproto.LinkError.
func linkTo(conn io.ReadWriter, m spiceproto.LinkMess, ticket authz.Secret) (spiceproto.LinkReply, error) {
	if _, err := conn.Write(m.Append(nil)); err != nil {
		return spiceproto.LinkReply{}, fmt.Errorf("link message: %w", err)
	}
	reply, err := spiceproto.ReadLinkReply(conn)
	if err != nil {
		return reply, err
	}
	if reply.Error != spiceproto.LinkOK {
		return reply, reply.Error
	}
	if reply.Common.Has(spiceproto.CapAuthSASL) && !reply.Common.Has(spiceproto.CapAuthSpice) {
		return reply, errSASL
	}
	if !agree(m.Common, reply.Common) {
		return reply, fmt.Errorf("%w (has %v)", errBackendCaps, spiceproto.CommonCapNames(reply.Common))
	}
	blob, err := spiceproto.EncryptTicket(&reply.PubKey, string(ticket))
	if err != nil {
		return reply, err
	}
	var answer []byte
	if reply.Common.Has(spiceproto.CapAuthSelection) {
		answer = spiceproto.AppendAuthMechanism(answer, spiceproto.AuthMechanismSpice)
	}
	if _, err := conn.Write(append(answer, blob[:]...)); err != nil {
		return reply, fmt.Errorf("ticket: %w", err)
	}
	result, err := spiceproto.ReadLinkResult(conn)
	if err != nil {
		return reply, err
	}
	if result != spiceproto.LinkOK {
		return reply, fmt.Errorf("%w: %w", errAuthentication, result)
	}
	return reply, nil
}

// agree tells whether a hypervisor with the common capabilities server can be
// spoken to as client says. It must know the mini header if the client uses it:
// the client cannot be told otherwise any more, and full headers cannot be made
// mini ones without changing the number of messages, by which both sides count
// their ACKs. Without the choice of a mechanism there is only the ticket.
func agree(client, server spiceproto.Caps) bool {
	ticket := server.Has(spiceproto.CapAuthSpice) || !server.Has(spiceproto.CapAuthSelection)
	header := server.Has(spiceproto.CapMiniHeader) || !client.Has(spiceproto.CapMiniHeader)
	return ticket && header
}

// warnMissingCaps tells of capabilities that the client was offered, before the
// hypervisor was known, and will not find.
func (a attempt) warnMissingCaps(reply spiceproto.LinkReply) {
	kind := a.client.link.Type
	offered, offeredChannel := offeredCaps(a.client.link)
	missing, missingChannel := subtract(offered, reply.Common), subtract(offeredChannel, reply.Channel)
	if len(missing)+len(missingChannel) == 0 {
		return
	}
	a.client.log.Warn("hypervisor lacks capabilities offered to the client",
		zap.Strings("missing_common", spiceproto.CommonCapNames(missing)),
		zap.Strings("missing_channel", spiceproto.ChannelCapNames(kind, missingChannel)))
}

// subtract returns the bits of a that b lacks, nil when there are none.
func subtract(a, b spiceproto.Caps) spiceproto.Caps {
	var left spiceproto.Caps
	for bit := range 32 * len(a) {
		if a.Has(bit) && !b.Has(bit) {
			left = left.With(bit)
		}
	}
	return left
}

// setClientOptions applies the client leg's socket options: all of them to a
// paced display, else only the one that is Kerbside's own. Kernels and settings
// may lack some; the relay works without.
func (s *Server) setClientOptions(c *client, mode pacer.Mode) {
	tcp, ok := c.sock.(*net.TCPConn)
	if !ok {
		return
	}
	options := sockopt.Client{NotSentLowat: s.cfg.Pacing.Client.NotSentLowat}
	if paced(c.link.Type, mode) {
		options.CongestionControl = s.cfg.Pacing.Client.CongestionControl
		options.RTOMax = rtoMax
		options.UserTimeout = s.cfg.Pacing.StallTimeout
	}
	missing, err := options.Apply(tcp)
	if err != nil {
		c.log.Warn("client socket option not set", zap.Error(err))
	}
	if len(missing) > 0 {
		s.missingOptions.Do(func() {
			s.log.Debug("this kernel lacks client socket options", zap.Strings("options", missing))
		})
	}
}
