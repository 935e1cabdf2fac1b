package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside"
	"spicepacer/session/authz/kerbside/kerbsidepb"
	"spicepacer/spiceproto"
)

// controlled is a proxy whose control plane is a daemon's stand-in behind a real
// socket.
type controlled struct {
	*proxy
	daemon *control.Daemon
	rpc    *kerbside.Client
	ctx    context.Context
}

const testSession = "session-1"

// startControlled serves target to every token; prepare may touch the Server's
// seams.
func startControlled(t *testing.T, target authz.Target, timeout time.Duration, change func(*control.Options), prepare ...func(*Server)) *controlled {
	t.Helper()
	options := control.Options{
		Socket: filepath.Join(t.TempDir(), "api.sock"),
		Target: &kerbsidepb.Target{
			Hypervisor: target.Hypervisor, InsecurePort: uint32(target.InsecurePort), SecurePort: uint32(target.SecurePort),
			Ticket: string(target.Ticket), CaCert: target.CACert, HostSubject: target.HostSubject,
			Source: "src", Uuid: "console", SessionId: testSession,
		},
	}
	if change != nil {
		change(&options)
	}
	c := &controlled{}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(context.Background(), patience)
	var err error
	if c.daemon, err = control.Start(options); err != nil {
		t.Fatal(err)
	}
	c.proxy = startProxyWith(t, nobodyDecides, nil, func(s *Server) {
		if c.rpc, err = kerbside.New(kerbside.Config{Socket: options.Socket, Node: "node1", Timeout: timeout}, s.log); err != nil {
			t.Fatal(err)
		}
		s.auth, s.registrar = c.rpc, c.rpc
		for _, f := range prepare {
			f(s)
		}
	})
	following := make(chan bool)
	go func() { defer close(following); c.rpc.Control(c.ctx, c.Server) }()
	t.Cleanup(func() {
		c.stop()
		cancel()
		<-following
		c.rpc.Close()
		c.daemon.Stop()
	})
	return c
}

// nobodyDecides is in the place of an authorizer that comes later.
var nobodyDecides = authorizerFunc(nil)

// until waits for the daemon's state.
func (c *controlled) until(what string, done func() bool) {
	c.t.Helper()
	if err := c.daemon.Until(c.ctx, done); err != nil {
		c.t.Fatalf("%s: %v; calls: %v; log:\n%s", what, err, c.sequence(), c.log())
	}
}

// sequence is what the daemon was told about connections, in order: the calls'
// names, and the texts of audit events.
func (c *controlled) sequence() []string {
	var list []string
	for _, call := range c.daemon.Calls() {
		switch r := call.Request.(type) {
		case *kerbsidepb.ProxyControlRequest:
		case *kerbsidepb.AuditEventRequest:
			list = append(list, r.GetMessage())
		default:
			list = append(list, call.Method)
		}
	}
	return list
}

// wantSequence waits for as many calls as are wanted and compares.
func (c *controlled) wantSequence(want ...string) {
	c.t.Helper()
	c.until("calls "+strings.Join(want, ", "), func() bool { return len(c.sequence()) >= len(want) })
	if got := c.sequence(); !slices.Equal(got, want) {
		c.t.Errorf("calls %q, want %q", got, want)
	}
}

// openSession opens one channel of each kind, main first.
func (c *controlled) openSession(kinds ...spiceproto.ChannelType) []*peer {
	c.t.Helper()
	var peers []*peer
	for _, kind := range kinds {
		p := c.tlsClient()
		p.open(linkMess(kind))
		c.want(kind, Relayed)
		peers = append(peers, p)
	}
	return peers
}

func TestControlledChannel(t *testing.T) {
	h := newHypervisor(t)
	c := startControlled(t, h.target(), patience, nil)
	p := c.openSession(spiceproto.ChannelMain)[0]
	p.wantEcho()
	if got := await(t, h.linked, "link"); got.password != testTicket {
		t.Errorf("ticket %q", got.password)
	}
	c.wantLog(zap.InfoLevel, "hypervisor connection successful; handing off to relay", "hypervisor:127.0.0.1", "channel_type:main")
	c.until("the channel's session", func() bool {
		for _, session := range c.daemon.Channels() {
			return session == testSession
		}
		return false
	})
	p.Close()
	c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful", "DeregisterChannel")
	var refs []string
	for _, call := range c.daemon.Calls() {
		if r, ok := call.Request.(interface{ GetConnectionRef() string }); ok {
			refs = append(refs, r.GetConnectionRef())
		}
	}
	if slices.Sort(refs); refs[0] != refs[len(refs)-1] || len(refs[0]) != 36 {
		t.Errorf("references %q, want one for all calls", refs)
	}
}

// TestUncontrolledEnds are ends before the control plane is asked.
func TestUncontrolledEnds(t *testing.T) {
	c := startControlled(t, unreachable, patience, nil)
	for name, play := range map[string]func(){
		"health check":     func() { c.client().Close() },
		"no TLS":           func() { c.dial(c.secure).Close() },
		"bad link message": func() { p := c.client(); p.send(channelByte(0)); p.wantClose() },
	} {
		play()
		await(t, c.outcomes, name)
	}
	if got := c.sequence(); len(got) != 0 {
		t.Errorf("calls %q, want none", got)
	}
}

// TestOutcomes is the table of what every failure leads to.
func TestOutcomes(t *testing.T) {
	const (
		register   = "RegisterChannel"
		authorize  = "AuthorizeConnection"
		deregister = "DeregisterChannel"
		connected  = "Hypervisor connection successful"
		silent     = spiceproto.LinkOK
	)
	healthy := func(t *testing.T) authz.Target { return newHypervisor(t).target() }
	ca := issue(t, nil, "ca")
	leaf := issue(t, &ca, "hv")
	shows := func(cert issued, authority, pin string) func(*testing.T) authz.Target {
		return func(t *testing.T) authz.Target {
			_, target := tlsHypervisor(t, cert)
			target.CACert, target.HostSubject = authority, pin
			return target
		}
	}
	scripted := func(change func(*hypervisor)) func(*testing.T) authz.Target {
		return func(t *testing.T) authz.Target {
			h := newHypervisor(t)
			change(h)
			return h.target()
		}
	}
	for name, tc := range map[string]struct {
		target func(*testing.T) authz.Target
		daemon func(*control.Options)
		method string
		rule   control.Rule
		answer spiceproto.LinkError // silent: a close without the link's reply
		result Result
		line   string
		calls  []string
	}{
		"register fails": {
			method: register, rule: control.Rule{Answer: control.Fail, Code: codes.Internal},
			answer: silent, result: RegisterFailed, line: "RegisterChannel failed; closing connection", calls: []string{register},
		},
		"register is refused": {
			method: register, rule: control.Rule{Answer: control.Refuse, Text: "disk full"},
			answer: silent, result: RegisterFailed, line: "RegisterChannel failed; closing connection", calls: []string{register},
		},
		"register hangs": {
			method: register, rule: control.Rule{Answer: control.Hang},
			answer: silent, result: RegisterFailed, line: "RegisterChannel failed; closing connection", calls: []string{register},
		},
		"daemon dies at register": {
			method: register, rule: control.Rule{Answer: control.Die},
			answer: silent, result: RegisterFailed, line: "RegisterChannel failed; closing connection", calls: []string{register},
		},
		"authorize fails": {
			method: authorize, rule: control.Rule{Answer: control.Fail, Code: codes.Internal},
			answer: spiceproto.LinkErrError, result: AuthorizerFailed, line: "AuthorizeConnection RPC failed; closing connection",
			calls: []string{register, authorize, deregister},
		},
		"authorize hangs": {
			method: authorize, rule: control.Rule{Answer: control.Hang},
			answer: spiceproto.LinkErrError, result: AuthorizerFailed, line: "AuthorizeConnection RPC failed; closing connection",
			calls: []string{register, authorize, deregister},
		},
		"daemon dies at authorize": {
			method: authorize, rule: control.Rule{Answer: control.Die},
			answer: spiceproto.LinkErrError, result: AuthorizerFailed, line: "AuthorizeConnection RPC failed; closing connection",
			calls: []string{register, authorize},
		},
		"authorize says nothing": {
			method: authorize, rule: control.Rule{Answer: control.Empty},
			answer: spiceproto.LinkErrError, result: AuthorizerFailed, line: "AuthorizeConnection RPC failed; closing connection",
			calls: []string{register, authorize, deregister},
		},
		"denied": {
			daemon: func(o *control.Options) { o.DenyTokens = []string{testToken} },
			answer: spiceproto.LinkErrPermissionDenied, result: Denied, line: "connection denied by control service",
			calls: []string{register, authorize, deregister},
		},
		"denied with the token as reason": {
			method: authorize, rule: control.Rule{Answer: control.Deny, Text: testToken + " is unknown"},
			answer: spiceproto.LinkErrPermissionDenied, result: Denied, line: "connection denied by control service",
			calls: []string{register, authorize, deregister},
		},
		"channel not permitted": {
			daemon: func(o *control.Options) {
				o.Policy = &kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{1}, Mode: kerbsidepb.FirewallPolicy_WARN_ONLY}
			},
			answer: spiceproto.LinkErrPermissionDenied, result: Denied, line: "channel type not permitted by firewall policy",
			calls: []string{register, authorize, "Channel type not permitted by firewall policy", deregister},
		},
		"hypervisor refuses the connection": {
			target: func(t *testing.T) authz.Target { return unreachable },
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: Connection refused (os error 111)", deregister},
		},
		"hypervisor resets": {
			target: func(t *testing.T) authz.Target {
				return authz.Target{Hypervisor: "127.0.0.1", InsecurePort: serveEach(t, "tcp", "127.0.0.1:0", func(c net.Conn) {
					c.Read(make([]byte, 1))
					c.(*net.TCPConn).SetLinger(0)
				})}
			},
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: Connection reset by peer (os error 104)", deregister},
		},
		"hypervisor refuses the link": {
			target: scripted(func(h *hypervisor) { h.replyError = spiceproto.LinkErrChannelNotAvailable }),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: Link error: ChannelUnavailable", deregister},
		},
		"hypervisor refuses the ticket": {
			target: scripted(func(h *hypervisor) { h.resultError = spiceproto.LinkErrPermissionDenied }),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: Authentication failed: PermissionDenied", deregister},
		},
		"hypervisor wants TLS and has no port": {
			target: scripted(func(h *hypervisor) { h.replyError = spiceproto.LinkErrNeedSecured }),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: Server requires TLS connection. Use tls-port in config.", deregister},
		},
		"hypervisor's subject is another": {
			target: shows(leaf, ca.pem, "O=Test,CN=other"),
			answer: spiceproto.LinkErrError, result: BackendFailed,
			line:  `TLS: rejecting certificate: pinned host_subject does not match subject "O=Test,CN=hv": CN is "hv", pinned is "other"`,
			calls: []string{register, authorize, "Hypervisor connection failed: invalid peer certificate: NotValidForName", deregister},
		},
		"hypervisor's certificate has expired": {
			target: shows(issueUntil(t, &ca, "hv", time.Now().Add(-time.Minute)), ca.pem, ""),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: invalid peer certificate: Expired", deregister},
		},
		"hypervisor's certificate is of another authority": {
			target: shows(leaf, issue(t, nil, "stranger").pem, "O=Test,CN=hv"),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: invalid peer certificate: UnknownIssuer", deregister},
		},
		"hypervisor's certificate is of version 1": {
			target: shows(oldCertificate(t, ca, leaf), ca.pem, "O=Test,CN=hv"),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize, "Hypervisor connection failed: invalid peer certificate: UnsupportedCertVersion", deregister},
		},
		"malformed pin": {
			target: shows(leaf, ca.pem, "CN"),
			answer: spiceproto.LinkErrError, result: BackendFailed, line: "hypervisor connection failed",
			calls: []string{register, authorize,
				`Hypervisor connection failed: refusing to connect with a malformed host_subject: host_subject "CN": no = in "CN"`, deregister},
		},
		"audit fails": {
			method: "RecordAuditEvent", rule: control.Rule{Answer: control.Refuse},
			result: Relayed, line: "RecordAuditEvent failed; continuing", calls: []string{register, authorize, connected, deregister},
		},
		"audit hangs": {
			method: "RecordAuditEvent", rule: control.Rule{Answer: control.Hang},
			result: Relayed, line: "RecordAuditEvent failed; continuing", calls: []string{register, authorize, connected, deregister},
		},
		"deregister fails": {
			method: deregister, rule: control.Rule{Times: 1, Answer: control.Fail, Code: codes.Internal},
			result: Relayed, line: "DeregisterChannel failed; continuing", calls: []string{register, authorize, connected, deregister},
		},
		"deregister hangs": {
			method: deregister, rule: control.Rule{Times: 1, Answer: control.Hang},
			result: Relayed, line: "DeregisterChannel failed; continuing", calls: []string{register, authorize, connected, deregister},
		},
	} {
		t.Run(name, func(t *testing.T) {
			target, timeout := tc.target, patience
			if target == nil {
				target = healthy
			}
			if tc.rule.Answer == control.Hang {
				timeout = unhurried
			}
			c := startControlled(t, target(t), timeout, tc.daemon)
			if tc.method != "" {
				c.daemon.On(tc.method, tc.rule)
			}
			p := c.tlsClient()
			kind := spiceproto.ChannelInputs
			p.send(linkMess(kind).Append(nil))
			switch {
			case tc.result == RegisterFailed:
				p.wantClose()
			case tc.result == Relayed:
				p.finish(t, spiceproto.LinkOK)
				p.wantEcho()
				p.Close()
			default:
				p.finish(t, tc.answer)
				p.wantEnd(nil)
				p.Close()
			}
			c.want(kind, tc.result)
			c.wantSequence(tc.calls...)
			c.stop()
			if c.logs.FilterMessage(tc.line).Len() == 0 {
				t.Errorf("no line %q; log:\n%s", tc.line, c.log())
			}
			authorized := int64(0)
			if tc.result == Relayed || tc.result == BackendFailed {
				authorized = 1
			}
			if c.opened.Load() != 1 || c.open.Load() != 0 || c.authorized.Load() != authorized {
				t.Errorf("counted: opened %d, open %d, authorized %d; want 1, 0, %d",
					c.opened.Load(), c.open.Load(), c.authorized.Load(), authorized)
			}
		})
	}
}

// finish takes a client that has sent its link message to the link's result.
func (c *peer) finish(t *testing.T, want spiceproto.LinkError) {
	t.Helper()
	reply, err := spiceproto.ReadLinkReply(c)
	if err != nil || reply.Error != spiceproto.LinkOK {
		t.Fatalf("link reply %v, %v", reply.Error, err)
	}
	c.send(ticketFor(t, reply, testToken))
	if got := c.result(); got != want {
		t.Errorf("link result %v, want %v", got, want)
	}
}

func TestHypervisorThatHangsIsAudited(t *testing.T) {
	hangs := serveEach(t, "tcp", "127.0.0.1:0", func(c net.Conn) { c.Read(make([]byte, 1<<20)); c.Read(make([]byte, 1)) })
	c := startControlled(t, authz.Target{Hypervisor: "127.0.0.1", InsecurePort: hangs}, patience, nil)
	c.cfg.Timeouts.Backend = soon
	p := c.tlsClient()
	p.send(linkMess(spiceproto.ChannelMain).Append(nil))
	p.finish(t, spiceproto.LinkErrError)
	p.Close()
	c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection failed: backend connect timed out after 50ms", "DeregisterChannel")
}

func TestUnixSocketTarget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vm.sock")
	newHypervisor(t).listen("unix", path)
	c := startControlled(t, authz.Target{Hypervisor: "unix:" + path, Ticket: testTicket}, patience, nil)
	c.openSession(spiceproto.ChannelMain)[0].wantEcho()
}

func TestEscalationToTLS(t *testing.T) {
	ca := issue(t, nil, "ca")
	_, target := tlsHypervisor(t, issue(t, &ca, "hv"))
	target.CACert, target.HostSubject = ca.pem, "O=Test,CN=hv"
	c := startControlled(t, target, patience, nil)
	c.openSession(spiceproto.ChannelMain)[0].wantEcho()
	c.wantLog(zap.InfoLevel, "hypervisor requires TLS; retrying backend connection over the secure port", "host_subject:O=Test,CN=hv")
	c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful")
}

// wantAllClosed waits until every client was told the end.
func wantAllClosed(peers []*peer) {
	for _, p := range peers {
		p.t.Helper()
		p.wantClose()
	}
}

var sessionChannels = []spiceproto.ChannelType{
	spiceproto.ChannelMain, spiceproto.ChannelDisplay, spiceproto.ChannelInputs, spiceproto.ChannelCursor, spiceproto.ChannelPlayback,
}

func TestTerminateSessionEndsItsChannels(t *testing.T) {
	c := startControlled(t, newHypervisor(t).target(), patience, nil)
	peers := c.openSession(sessionChannels...)
	c.daemon.Terminate("another session")
	peers[0].wantEcho()
	c.daemon.Terminate(testSession)
	wantAllClosed(peers)
	c.until("all channels gone", func() bool { return len(c.daemon.Channels()) == 0 })
	if n := c.logs.FilterMessage("session terminated by control plane; ending relay").Len(); n != len(peers) {
		t.Errorf("%d channels terminated, want %d; log:\n%s", n, len(peers), c.log())
	}
	c.wantLog(zap.InfoLevel, "ProxyControl TerminateSession event", "session_id:"+testSession, "terminated:true")
	c.wantLog(zap.InfoLevel, "ProxyControl TerminateSession event", "session_id:another session", "terminated:false")
	c.wantLog(zap.InfoLevel, "relay ended", "channel_type:display", "session terminated by control plane")
	// A session of the same name that begins later has a life of its own.
	c.openSession(spiceproto.ChannelMain)[0].wantEcho()
}

// TestTerminateWaitsForNoClient has clients that read nothing while much is
// held for them; TestTerminationIsQuick tells how long that may take.
func TestTerminateWaitsForNoClient(t *testing.T) {
	flood := func(conn net.Conn) {
		message := append(spiceproto.Header{Type: 250, Size: 1 << 20}.Append(nil), make([]byte, 1<<20)...)
		for {
			if _, err := conn.Write(message); err != nil {
				return
			}
		}
	}
	h := newHypervisor(t)
	h.then = flood
	c := startControlled(t, h.target(), patience, nil)
	peers := c.openSession(sessionChannels...)
	if !c.TerminateSession(testSession) {
		t.Error("no session terminated")
	}
	for range peers {
		await(t, c.ended, "end of a channel")
	}
}

func TestTerminateWhileConnecting(t *testing.T) {
	contacted := make(chan bool, 1)
	hangs := serveEach(t, "tcp", "127.0.0.1:0", func(c net.Conn) { contacted <- true; c.Read(make([]byte, 1<<20)); c.Read(make([]byte, 1)) })
	c := startControlled(t, authz.Target{Hypervisor: "127.0.0.1", InsecurePort: hangs}, patience, nil)
	p := c.tlsClient()
	p.send(ticketFor(t, p.link(linkMess(spiceproto.ChannelMain)), testToken))
	await(t, contacted, "hypervisor connection")
	c.daemon.Terminate(testSession)
	// The client may still have been told.
	if _, err := io.ReadAll(p); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the client was not closed")
	}
	p.Close()
	c.want(spiceproto.ChannelMain, Interrupted)
	c.wantSequence("RegisterChannel", "AuthorizeConnection",
		"Hypervisor connection failed: session terminated by control plane", "DeregisterChannel")
}

// TestDaemonDiesMidSession: live channels go on, new ones are refused until the
// daemon is back, and then both are known and can be terminated.
func TestDaemonDiesMidSession(t *testing.T) {
	c := startControlled(t, newHypervisor(t).target(), patience, nil)
	peers := c.openSession(spiceproto.ChannelMain, spiceproto.ChannelDisplay)
	c.daemon.Stop()
	for _, p := range peers {
		p.wantEcho()
	}
	refused := c.tlsClient()
	refused.send(linkMess(spiceproto.ChannelInputs).Append(nil))
	refused.wantClose()
	c.want(spiceproto.ChannelInputs, RegisterFailed)
	peers[1].Close() // unnoticed by the daemon
	if got := await(t, c.ended, "end of the display"); got.Type != spiceproto.ChannelDisplay {
		t.Errorf("%v ended", got.Type)
	}
	if err := c.daemon.Restart(); err != nil {
		t.Fatal(err)
	}
	c.until("the dead channel gone", func() bool { return len(c.daemon.Channels()) == 1 })
	peers[0].wantEcho()
	peers = append(peers[:1], c.openSession(spiceproto.ChannelInputs)...)
	c.daemon.Terminate(testSession)
	wantAllClosed(peers)
}

func TestDaemonThatHangsMidSession(t *testing.T) {
	c := startControlled(t, newHypervisor(t).target(), unhurried, nil)
	p := c.openSession(spiceproto.ChannelMain)[0]
	for _, method := range []string{"RegisterChannel", "DeregisterChannel", "RecordAuditEvent"} {
		c.daemon.On(method, control.Rule{Answer: control.Hang})
	}
	p.wantEcho()
	refused := c.tlsClient()
	refused.send(linkMess(spiceproto.ChannelInputs).Append(nil))
	refused.wantClose()
	c.want(spiceproto.ChannelInputs, RegisterFailed)
	c.stop() // is not held up for longer than the call
	c.wantLog(zap.InfoLevel, "all in-flight sessions drained")
}

func TestDrainDeregisters(t *testing.T) {
	c := startControlled(t, newHypervisor(t).target(), patience, nil)
	peers := c.openSession(spiceproto.ChannelMain, spiceproto.ChannelCursor)
	c.cancel()
	wantAllClosed(peers)
	c.stop()
	if channels := c.daemon.Channels(); len(channels) != 0 {
		t.Errorf("the daemon knows %v after the drain", channels)
	}
}

func TestRegistrationComesBeforeTheReply(t *testing.T) {
	c := startControlled(t, unreachable, patience, nil)
	c.daemon.On("RegisterChannel", control.Rule{Answer: control.Hang})
	p := c.tlsClient()
	p.send(linkMess(spiceproto.ChannelMain).Append(nil))
	c.wantSequence("RegisterChannel")
	p.SetReadDeadline(time.Now().Add(soon))
	if n, err := p.Read(make([]byte, 1)); n > 0 {
		t.Errorf("%d bytes before the channel is registered, err %v", n, err)
	}
	p.Close()
	c.cancel()
}

func TestFailureTexts(t *testing.T) {
	if got := auditFailure(fmt.Errorf("attempt: %w", &BackendError{Address: "a", Err: spiceproto.LinkError(99)}), 0); got != "Hypervisor connection failed: Link error: Error" {
		t.Errorf("an unknown link error is told as %q", got)
	}
	ca, stranger := issue(t, nil, "ca"), issue(t, nil, "stranger")
	leaf := issue(t, &ca, "hv")
	for name, tc := range map[string]struct {
		verifier verifier
		want     string
	}{
		"unknown authority": {verifier{roots: stranger.pool}, "UnknownIssuer"},
		"another name":      {verifier{roots: ca.pool, name: "hv2"}, "NotValidForName"},
	} {
		err := tc.verifier.verify(tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf.leaf}})
		if got := auditFailure(err, 0); got != "Hypervisor connection failed: invalid peer certificate: "+tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
