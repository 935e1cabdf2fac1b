package session

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/pacer"
	"spicepacer/session/authz"
	"spicepacer/session/sockopt"
	"spicepacer/spiceproto"
)

func TestChannelsReachTheHypervisor(t *testing.T) {
	h := newHypervisor(t)
	p := startProxy(t, h.target(), nil)
	for _, kind := range []spiceproto.ChannelType{
		spiceproto.ChannelMain, spiceproto.ChannelInputs, spiceproto.ChannelPlayback, spiceproto.ChannelWebDAV,
	} {
		c := p.tlsClient()
		m := linkMess(kind)
		m.ID = uint8(kind)
		m.Common = spiceproto.Caps{m.Common[0] | 1<<spiceproto.CapAuthSASL | 1<<30, 0x80000001}
		m.Channel = spiceproto.Caps{0x12345678, 0x9abcdef0}
		c.open(m)
		p.want(kind, Relayed)
		c.wantEcho()
		got := await(t, h.linked, "link")
		want := m
		want.Common = m.Common.Without(spiceproto.CapAuthSASL)
		if got.password != testTicket || string(got.link.Append(nil)) != string(want.Append(nil)) {
			t.Errorf("%v: hypervisor got %+v, want %+v and the ticket", kind, got.link, want)
		}
		c.Close()
		if info := await(t, p.ended, "end"); info.Type != kind || info.Stats.BytesToClient.Load() != uint64(len(anyMessage)) {
			t.Errorf("ended %v with %d bytes to the client", info.Type, info.Stats.BytesToClient.Load())
		}
	}
}

func TestUnixHypervisor(t *testing.T) {
	h := newHypervisor(t)
	path := filepath.Join(t.TempDir(), "spice.sock")
	h.listen("unix", path)
	p := startProxy(t, authz.Target{Hypervisor: "unix:" + path, Ticket: testTicket}, func(c *Config) { c.Pacing.Mode = pacer.Passthrough })
	c := p.client()
	m := linkMess(spiceproto.ChannelDisplay)
	m.Channel = spiceproto.Caps{0xffff}
	c.open(m)
	c.wantEcho()
	got := await(t, h.linked, "link").link.Channel
	want := m.Channel.Without(spiceproto.CapDisplayGLScanout).Without(spiceproto.CapDisplayGLScanout2)
	if !equalCaps(got, want) {
		t.Errorf("display capabilities %x, want %x: no file descriptor can be relayed", got, want)
	}
}

// refusedPort returns a port nobody listens on.
func refusedPort(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return addrPort(l.Addr()).Port()
}

func TestUnusableHypervisors(t *testing.T) {
	scripted := func(change func(*hypervisor)) func(*testing.T) authz.Target {
		return func(t *testing.T) authz.Target {
			h := newHypervisor(t)
			change(h)
			return h.target()
		}
	}
	raw := func(play func(net.Conn)) func(*testing.T) authz.Target {
		return func(t *testing.T) authz.Target {
			return authz.Target{Hypervisor: "127.0.0.1", InsecurePort: serveEach(t, "tcp", "127.0.0.1:0", play)}
		}
	}
	for name, tc := range map[string]struct {
		target func(*testing.T) authz.Target
		reason string
	}{
		"refuses": {func(t *testing.T) authz.Target {
			return authz.Target{Hypervisor: "127.0.0.1", InsecurePort: refusedPort(t)}
		}, "connection refused"},
		"hangs": {raw(func(c net.Conn) { io.Copy(io.Discard, c) }), "not complete within 50ms"},
		"hangs after the link reply": {raw(func(c net.Conn) {
			key, _ := spiceproto.GenerateTicketKey()
			c.Write(spiceproto.LinkReply{PubKey: key.PubKey(), Common: clientCaps}.Append(nil))
			io.Copy(io.Discard, c)
		}), "not complete within 50ms"},
		"closes":                        {raw(func(net.Conn) {}), "read link reply"},
		"speaks something else":         {raw(func(c net.Conn) { c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n")); io.Copy(io.Discard, c) }), "magic"},
		"asks for TLS, has no TLS port": {scripted(func(h *hypervisor) { h.replyError = spiceproto.LinkErrNeedSecured }), "need secured, and the target has no secure port"},
		"reports an error":              {scripted(func(h *hypervisor) { h.replyError = spiceproto.LinkErrInvalidData }), "invalid data"},
		"refuses the ticket":            {scripted(func(h *hypervisor) { h.resultError = spiceproto.LinkErrPermissionDenied }), "authentication: spice link: permission denied"},
		"lacks the mini header":         {scripted(func(h *hypervisor) { h.common = spiceproto.Caps{3} }), "lacks required SPICE common capabilities (has [auth-selection auth-spice])"},
		"offers SASL only":              {scripted(func(h *hypervisor) { h.common = spiceproto.Caps{0xd} }), "offers SASL authentication only"},
		"has no port":                   {func(*testing.T) authz.Target { return authz.Target{Hypervisor: "127.0.0.1"} }, "neither an insecure nor a secure port"},
		"is no socket":                  {func(t *testing.T) authz.Target { return authz.Target{Hypervisor: "unix:" + t.TempDir() + "/none"} }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			target := tc.target(t)
			target.Name = "hv"
			p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) { return target, nil }), func(c *Config) {
				if strings.Contains(tc.reason, soon.String()) {
					c.Timeouts.Backend = soon
				}
			})
			c := p.tlsClient()
			c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
			c.wantRefusal(spiceproto.LinkErrError)
			p.want(spiceproto.ChannelMain, BackendFailed)
			p.wantLog(zap.WarnLevel, "hypervisor connection failed", tc.reason, c.LocalAddr().String())
		})
	}
}

// tlsHypervisor asks for TLS on its plaintext port and shows cert on the other.
func tlsHypervisor(t *testing.T, cert issued) (*hypervisor, authz.Target) {
	t.Helper()
	plain := newHypervisor(t)
	plain.replyError = spiceproto.LinkErrNeedSecured
	target := plain.target()
	secure := newHypervisor(t)
	secure.tls = &tls.Config{Certificates: []tls.Certificate{cert.pair}}
	target.SecurePort = secure.listen("tcp", "127.0.0.1:0")
	return secure, target
}

func TestHypervisorThatAsksForTLS(t *testing.T) {
	ca := issue(t, nil, "ca")
	h, target := tlsHypervisor(t, issue(t, &ca, "some.other.name"))
	target.CACert, target.HostSubject = ca.pem, "O=Test,CN=some.other.name"
	p := startProxyWith(t, authorizerFunc(func(r authz.Request) (authz.Target, error) {
		direct := target
		if r.Type == spiceproto.ChannelCursor {
			direct.InsecurePort = 0
		}
		return direct, nil
	}), nil)
	for _, kind := range []spiceproto.ChannelType{spiceproto.ChannelInputs, spiceproto.ChannelCursor} {
		c := p.client()
		c.open(linkMess(kind))
		p.want(kind, Relayed)
		c.wantEcho()
		if got := await(t, h.linked, "link"); got.password != testTicket {
			t.Errorf("%v: ticket %q", kind, got.password)
		}
	}
	const retry = "hypervisor requires TLS; retrying backend connection over the secure port"
	p.wantLog(zap.InfoLevel, retry, "host_subject:O=Test,CN=some.other.name", "channel_type:inputs")
	if n := p.logs.FilterMessage(retry).Len(); n != 1 {
		t.Errorf("%d retries logged, want none for the target without a plaintext port", n)
	}
}

func TestHypervisorCertificates(t *testing.T) {
	ca, stranger := issue(t, nil, "ca"), issue(t, nil, "stranger")
	leaf := issue(t, &ca, "hv")
	for name, tc := range map[string]struct {
		ca, pin string
		reason  string // empty: accepted
	}{
		"trusted":                  {ca.pem, "", ""},
		"trusted, one of several":  {stranger.pem + ca.pem, "", ""},
		"trusted itself":           {leaf.pem, "", ""},
		"pinned":                   {ca.pem, "O=Test,CN=hv", ""},
		"pinned otherwise":         {ca.pem, "O=Test,CN=hv2", `pinned host_subject does not match subject "O=Test,CN=hv": CN is "hv", pinned is "hv2"`},
		"pinned in another order":  {ca.pem, "CN=hv,O=Test", "pinned host_subject"},
		"unknown authority":        {stranger.pem, "", "unknown authority"},
		"unknown, pin or not":      {stranger.pem, "O=Test,CN=hv", "unknown authority"},
		"not of the system's":      {"", "", "certificate"},
		"not of the system's, pin": {"", "O=Test,CN=hv", "unknown authority"},
		"malformed pin":            {ca.pem, "CN", "refusing to connect with a malformed host_subject"},
	} {
		t.Run(name, func(t *testing.T) {
			h, target := tlsHypervisor(t, leaf)
			target.CACert, target.HostSubject = tc.ca, tc.pin
			p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) { return target, nil }), nil)
			c := p.client()
			c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
			if tc.reason == "" {
				if r := c.result(); r != spiceproto.LinkOK {
					t.Fatalf("link result %v; log:\n%s", r, p.log())
				}
				return
			}
			c.wantRefusal(spiceproto.LinkErrError)
			p.want(spiceproto.ChannelMain, BackendFailed)
			p.wantLog(zap.WarnLevel, "hypervisor connection failed", tc.reason)
			select {
			case <-h.linked:
				t.Error("the ticket went to a hypervisor that is not trusted")
			default:
			}
		})
	}
}

func TestSystemRootsCheckTheName(t *testing.T) {
	ca := issue(t, nil, "ca")
	leaf := issue(t, &ca, "hv.example")
	state := tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf.leaf, ca.leaf}}
	for name, want := range map[string]bool{"hv.example": true, "hv.example.": true, "127.0.0.1": false, "other": false, "": true} {
		v := verifier{roots: ca.pool, name: name}
		if err := v.verify(state); (err == nil) != want {
			t.Errorf("name %q: err = %v, want accepted %v", name, err, want)
		}
	}
	cfg, err := backendTLS(authz.Target{Hypervisor: "hv.example"}, new(rootPools))
	if err != nil || cfg.ServerName != "hv.example" {
		t.Errorf("server name %q, err %v", cfg.ServerName, err)
	}
}

func TestCapabilitiesTheHypervisorLacks(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	a := attempt{client: &client{link: linkMess(spiceproto.ChannelDisplay), log: zap.New(core)}}
	var all spiceproto.LinkReply
	all.Common, all.Channel = spiceproto.ServerCaps(spiceproto.ChannelDisplay)
	a.warnMissingCaps(all)
	if logs.Len() != 0 {
		t.Errorf("warned of %v though nothing is missing", logs.All()[0].ContextMap())
	}
	a.warnMissingCaps(spiceproto.LinkReply{Common: spiceproto.Caps{9}, Channel: spiceproto.Caps{0x1012}})
	if logs.Len() != 1 {
		t.Fatalf("%d warnings, want 1", logs.Len())
	}
	got := fmt.Sprint(logs.All()[0].ContextMap())
	if want := "map[missing_channel:[pref-compression] missing_common:[auth-spice]]"; got != want {
		t.Errorf("warned of %s, want %s", got, want)
	}
}

func TestBackendOptionValues(t *testing.T) {
	for o, want := range map[BackendOptions]sockopt.Backend{
		{OptionAuto, OptionAuto}: {ReceiveBuffer: 4096, MaxSegment: 1448},
		{OptionOff, OptionOff}:   {},
		{8192, 1400}:             {ReceiveBuffer: 8192, MaxSegment: 1400},
	} {
		if got := o.sockopt(); got != want {
			t.Errorf("%+v gives %+v, want %+v", o, got, want)
		}
	}
}

// TestSessionsAreTreatedAlike has one session drawn to be left alone and one to
// be paced, and opens a display in each.
func TestSessionsAreTreatedAlike(t *testing.T) {
	h := newHypervisor(t)
	id := make(chan uint32, 1)
	h.then = func(c net.Conn) {
		select {
		case n := <-id:
			c.Write(mainInit(n))
		default:
		}
		io.Copy(io.Discard, c)
	}
	target, draws := h.target(), []int{49, 50}
	p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) { return target, nil }),
		func(c *Config) { c.Pacing.PassthroughPercent = 50 },
		func(s *Server) { s.registry.draw = func(int) int { d := draws[0]; draws = draws[1:]; return d } })
	for n, want := range []pacer.Mode{pacer.Passthrough, pacer.Adaptive} {
		session := uint32(1000 + n)
		id <- session
		c := p.client()
		c.open(spiceproto.LinkMess{Type: spiceproto.ChannelMain, Common: clientCaps})
		c.read(len(mainInit(session)))
		await(t, p.started, "main channel")
		for range 2 {
			display := linkMess(spiceproto.ChannelDisplay)
			display.ConnectionID = session
			p.client().open(display)
			if got := await(t, p.started, "display"); got.Mode != want {
				t.Errorf("session %d: mode %v, want %v", n, got.Mode, want)
			}
		}
	}
}

// mainInit is a MAIN_INIT that names the session.
func mainInit(session uint32) []byte {
	b := spiceproto.Header{Type: spiceproto.MsgMainInit, Size: 32}.Append(nil)
	body := make([]byte, 32)
	for i := range 4 {
		body[i] = byte(session >> (8 * i))
	}
	return slices.Concat(b, body)
}
