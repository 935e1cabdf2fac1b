package session

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/session/authz"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

const (
	testToken  = "open sesame"
	testTicket = "hypervisor's own"
	// patience is how long a test waits for what must happen; no expectation
	// depends on its length.
	patience = time.Minute
	// soon is a limit for what never happens.
	soon = 50 * time.Millisecond
	// unhurried is a limit for what never happens, behind something that must happen
	// within it.
	unhurried = 3 * time.Second
)

// proxy is a Server on loopback with its Observer and its log.
type proxy struct {
	*Server
	t *testing.T
	// secure and insecure are addresses to dial, trust what to dial secure with.
	secure, insecure string
	trust            *tls.Config
	logs             *observer.ObservedLogs
	accepted         chan net.Conn
	outcomes         chan outcome
	started, ended   chan ChannelInfo
	// open are the connections that are, opened those that were.
	open, opened, authorized atomic.Int64
	cancel                   context.CancelFunc
	served                   chan error
	stopping                 sync.Once
}

type outcome struct {
	channel spiceproto.ChannelType
	result  Result
}

func (o outcome) String() string { return fmt.Sprintf("%v %v", o.channel, o.result) }

// startProxy serves one target until the test ends. Then nothing may run any
// more and the log must not hold a secret.
func startProxy(t *testing.T, target authz.Target, change func(*Config)) *proxy {
	t.Helper()
	auth, err := authz.NewStatic([]authz.Entry{{Token: testToken, Target: target}})
	if err != nil {
		t.Fatal(err)
	}
	return startProxyWith(t, auth, change)
}

// startProxyWith serves any authorizer; prepare may touch the Server's seams.
func startProxyWith(t *testing.T, auth authz.Authorizer, change func(*Config), prepare ...func(*Server)) *proxy {
	t.Helper()
	running := goleak.IgnoreCurrent()
	own := issue(t, nil, "proxy")
	cfg := DefaultConfig()
	cfg.SecurePort, cfg.InsecurePort = 1, 2 // listenAnywhere tells them apart
	cfg.InsecureMode = ServePlain
	cfg.Certificate = own.pair
	cfg.Firewall.Mode = firewall.Off // echoed messages are of no channel
	// A slow machine is no slow client.
	cfg.Timeouts.ProxyHeader, cfg.Timeouts.TLSAccept, cfg.Timeouts.Redirect = patience, patience, patience
	cfg.Timeouts.Link, cfg.Timeouts.Backend = patience, patience
	if change != nil {
		change(&cfg)
	}
	core, logs := observer.New(zap.DebugLevel)
	p := &proxy{
		t:        t,
		trust:    &tls.Config{RootCAs: own.pool, ServerName: "proxy"},
		logs:     logs,
		served:   make(chan error, 1),
		accepted: make(chan net.Conn, 100),
		outcomes: make(chan outcome, 100),
		started:  make(chan ChannelInfo, 100),
		ended:    make(chan ChannelInfo, 100),
	}
	var err error
	p.Server, err = New(cfg, Deps{Authorizer: auth, Observer: p, Log: zap.New(core)})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range prepare {
		f(p.Server)
	}
	p.serve(running)
	return p
}

// serve runs Serve and returns when the ports are bound.
func (p *proxy) serve(running goleak.Option) {
	bound := make(chan string, 2)
	p.listen = func(ctx context.Context, want netip.AddrPort) (net.Listener, error) {
		l, err := listenTCP(ctx, netip.MustParseAddrPort("127.0.0.1:0"))
		if err != nil {
			return nil, err
		}
		if int(want.Port()) == p.cfg.SecurePort {
			p.secure = l.Addr().String()
		} else {
			p.insecure = l.Addr().String()
		}
		bound <- l.Addr().String()
		return tellingListener{l, p.accepted}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() { p.served <- p.Serve(ctx) }()
	for range 2 {
		await(p.t, bound, "listener")
	}
	p.t.Cleanup(func() {
		if ctx.Err() == nil {
			p.stop()
		}
		goleak.VerifyNone(p.t, running)
		p.refuteSecrets()
	})
}

// stop ends Serve, which must not be an error. Once is enough.
func (p *proxy) stop() {
	p.t.Helper()
	p.cancel()
	p.stopping.Do(func() {
		if err := await(p.t, p.served, "end of Serve"); err != nil {
			p.t.Errorf("Serve: %v", err)
		}
	})
}

// tellingListener lets a test look at accepted sockets.
type tellingListener struct {
	net.Listener
	accepted chan<- net.Conn
}

func (l tellingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted <- c
	}
	return c, err
}

func (p *proxy) Connection(c spiceproto.ChannelType, r Result) { p.outcomes <- outcome{c, r} }
func (p *proxy) ConnectionStarted()                            { p.open.Add(1); p.opened.Add(1) }
func (p *proxy) ConnectionEnded()                              { p.open.Add(-1) }
func (p *proxy) ChannelAuthorized()                            { p.authorized.Add(1) }
func (p *proxy) ChannelStarted(c ChannelInfo)                  { p.started <- c }
func (p *proxy) ChannelEnded(c ChannelInfo)                    { p.ended <- c }

// await receives what must come.
func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s within %v", what, patience)
		panic("unreachable")
	}
}

// want expects the next connection to come to r.
func (p *proxy) want(c spiceproto.ChannelType, r Result) {
	p.t.Helper()
	if got := await(p.t, p.outcomes, "outcome"); got != (outcome{c, r}) {
		p.t.Errorf("outcome %v, want %v; log:\n%s", got, outcome{c, r}, p.log())
	}
}

// wantLog expects a line with the message at level whose fields hold all parts.
// A line is there once its outcome is.
func (p *proxy) wantLog(level zapcore.Level, message string, parts ...string) {
	p.t.Helper()
	for _, e := range p.logs.FilterMessage(message).All() {
		text := fmt.Sprint(e.ContextMap())
		missing := func(part string) bool { return !strings.Contains(text, part) }
		if e.Level == level && !anyOf(parts, missing) {
			return
		}
	}
	p.t.Errorf("no line %q at %v with %q; log:\n%s", message, level, parts, p.log())
}

func anyOf(parts []string, f func(string) bool) bool {
	for _, p := range parts {
		if f(p) {
			return true
		}
	}
	return false
}

func (p *proxy) log() string {
	var b strings.Builder
	for _, e := range p.logs.All() {
		fmt.Fprintln(&b, e.Level, e.Message, e.ContextMap())
	}
	return b.String()
}

func (p *proxy) refuteSecrets() {
	for _, secret := range []string{testToken, testTicket} {
		if strings.Contains(p.log(), secret) {
			p.t.Errorf("the log shows a secret:\n%s", p.log())
		}
	}
}

// peer is one end of a SPICE connection, played by the test.
type peer struct {
	net.Conn
	t *testing.T
}

func (p *proxy) dial(address string) *peer {
	p.t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		p.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	p.t.Cleanup(func() { c.Close() })
	return &peer{c, p.t}
}

// wantKey waits until a ticket key is in stock.
func (p *proxy) wantKey() {
	p.t.Helper()
	select {
	case p.keys.stock <- await(p.t, p.keys.stock, "ticket key"):
	default:
	}
}

// client dials the plaintext port, tlsClient the other one.
func (p *proxy) client() *peer { p.t.Helper(); return p.dial(p.insecure) }

func (p *proxy) tlsClient() *peer {
	p.t.Helper()
	raw := p.dial(p.secure)
	c := tls.Client(raw.Conn, p.trust)
	if err := c.Handshake(); err != nil {
		p.t.Fatal(err)
	}
	return &peer{c, p.t}
}

func (c *peer) send(b []byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatalf("send %d bytes: %v", len(b), err)
	}
}

func (c *peer) read(n int) []byte {
	c.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		c.t.Fatalf("read %d bytes: %v", n, err)
	}
	return b
}

// wantEnd expects exactly these bytes and then a close in good order.
func (c *peer) wantEnd(want []byte) {
	c.t.Helper()
	got, err := io.ReadAll(c)
	if string(got) != string(want) || err != nil {
		c.t.Errorf("got %x, then %v; want %x and the end", got, err, want)
	}
}

// wantClose expects no byte before the connection ends, in whatever order.
func (c *peer) wantClose() {
	c.t.Helper()
	got, err := io.ReadAll(c)
	if ne, ok := err.(net.Error); len(got) > 0 || ok && ne.Timeout() {
		c.t.Errorf("got %x, then %v; want a closed connection", got, err)
	}
}

var clientCaps = spiceproto.Caps{
	1<<spiceproto.CapAuthSelection | 1<<spiceproto.CapAuthSpice | 1<<spiceproto.CapMiniHeader,
}

func linkMess(t spiceproto.ChannelType) spiceproto.LinkMess {
	return spiceproto.LinkMess{ConnectionID: 77, Type: t, Common: clientCaps}
}

// link sends m and reads the reply, which must be a success.
func (c *peer) link(m spiceproto.LinkMess) spiceproto.LinkReply {
	c.t.Helper()
	c.send(m.Append(nil))
	reply, err := spiceproto.ReadLinkReply(c)
	if err != nil || reply.Error != spiceproto.LinkOK {
		c.t.Fatalf("link reply %v, %v", reply.Error, err)
	}
	return reply
}

func ticketFor(t *testing.T, reply spiceproto.LinkReply, token string) []byte {
	t.Helper()
	blob, err := spiceproto.EncryptTicket(&reply.PubKey, token)
	if err != nil {
		t.Fatal(err)
	}
	if !reply.Common.Has(spiceproto.CapAuthSelection) {
		return blob[:]
	}
	return append(spiceproto.AppendAuthMechanism(nil, spiceproto.AuthMechanismSpice), blob[:]...)
}

// result reads the link result.
func (c *peer) result() spiceproto.LinkError {
	c.t.Helper()
	r, err := spiceproto.ReadLinkResult(c)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// open goes through the whole link stage.
func (c *peer) open(m spiceproto.LinkMess) {
	c.t.Helper()
	c.send(ticketFor(c.t, c.link(m), testToken))
	if r := c.result(); r != spiceproto.LinkOK {
		c.t.Fatalf("link result %v", r)
	}
}

// wantRefusal expects the link result r and then the end.
func (c *peer) wantRefusal(r spiceproto.LinkError) {
	c.t.Helper()
	c.wantEnd(spiceproto.AppendLinkResult(nil, r))
}

// anyMessage is a small one that no channel gives a meaning.
var anyMessage = append(spiceproto.Header{Type: 250, Size: 4}.Append(nil), "ping"...)

// wantEcho expects the hypervisor to return what it is sent.
func (c *peer) wantEcho() {
	c.t.Helper()
	c.send(anyMessage)
	if got := c.read(len(anyMessage)); string(got) != string(anyMessage) {
		c.t.Errorf("echo %q, want %q", got, anyMessage)
	}
}

// hypervisor is a SPICE server that follows a script for each connection.
type hypervisor struct {
	t *testing.T
	// tls makes it speak TLS from the first byte.
	tls *tls.Config
	// replyError and resultError refuse the link, if set.
	replyError, resultError spiceproto.LinkError
	// common, if set, replaces the usual common capabilities.
	common spiceproto.Caps
	// linked is told each link message, its ticket and the socket.
	linked chan linked
	// then plays the rest of the connection; nil echoes.
	then func(c net.Conn)
}

type linked struct {
	link     spiceproto.LinkMess
	password string
	socket   *net.TCPConn
}

func newHypervisor(t *testing.T) *hypervisor {
	return &hypervisor{t: t, linked: make(chan linked, 100)}
}

// target starts h on a port and returns the target that reaches it in
// plaintext.
func (h *hypervisor) target() authz.Target {
	h.t.Helper()
	return authz.Target{Name: "hv", Hypervisor: "127.0.0.1", InsecurePort: h.listen("tcp", "127.0.0.1:0"), Ticket: testTicket}
}

// listen starts h and returns its port, 0 for a unix socket.
func (h *hypervisor) listen(network, address string) uint16 {
	h.t.Helper()
	return serveEach(h.t, network, address, h.play)
}

// serveEach plays every connection in a goroutine of its own, until the test
// ends.
func serveEach(t *testing.T, network, address string, play func(net.Conn)) uint16 {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				play(c)
			}()
		}
	}()
	return addrPort(l.Addr()).Port()
}

func (h *hypervisor) play(c net.Conn) {
	socket, _ := c.(*net.TCPConn)
	if h.tls != nil {
		c = tls.Server(c, h.tls)
		defer c.Close()
	}
	link, err := spiceproto.ReadLinkMess(c)
	if err != nil {
		return
	}
	if h.replyError != spiceproto.LinkOK {
		c.Write(spiceproto.LinkReply{Error: h.replyError}.Append(nil))
		return
	}
	password, err := h.authenticate(c, link)
	if err != nil {
		return
	}
	h.linked <- linked{link, password, socket}
	c.Write(spiceproto.AppendLinkResult(nil, h.resultError))
	if h.resultError != spiceproto.LinkOK {
		return
	}
	if h.then == nil {
		io.Copy(c, c)
		return
	}
	h.then(c)
}

func (h *hypervisor) authenticate(c net.Conn, link spiceproto.LinkMess) (string, error) {
	key, err := spiceproto.GenerateTicketKey()
	if err != nil {
		return "", err
	}
	reply := spiceproto.LinkReply{PubKey: key.PubKey()}
	reply.Common, reply.Channel = spiceproto.ServerCaps(link.Type)
	if h.common != nil {
		reply.Common = h.common
	}
	if _, err := c.Write(reply.Append(nil)); err != nil {
		return "", err
	}
	agreed := link.Common
	if !reply.Common.Has(spiceproto.CapAuthSelection) {
		agreed = nil // this server has never heard of it
	}
	password, err := readTicket(c, agreed, key)
	return string(password), err
}

// issued is a certificate with its key.
type issued struct {
	pair tls.Certificate
	leaf *x509.Certificate
	pool *x509.CertPool // with this certificate only
	pem  string
}

// issue makes a certificate for a host name, signed by ca or by itself.
func issue(t testing.TB, ca *issued, name string) issued {
	t.Helper()
	return issueUntil(t, ca, name, time.Now().Add(time.Hour))
}

func issueUntil(t testing.TB, ca *issued, name string, end time.Time) issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{Organization: []string{"Test"}, CommonName: name},
		DNSNames:              []string{name},
		NotAfter:              end,
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent, signer := template, any(key)
	if ca != nil {
		parent, signer = ca.leaf, ca.pair.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return issuedOf(t, der, key)
}

func issuedOf(t testing.TB, der []byte, key *ecdsa.PrivateKey) issued {
	t.Helper()
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return issued{
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf},
		leaf: leaf,
		pool: pool,
		pem:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
	}
}

// oldCertificate is what leaf says, signed by ca, in X.509 version 1.
func oldCertificate(t testing.TB, ca, leaf issued) issued {
	t.Helper()
	algorithm := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}} // ecdsa-with-SHA256
	type validity struct{ NotBefore, NotAfter time.Time }
	body, err := asn1.Marshal(struct {
		Serial    *big.Int
		Algorithm pkix.AlgorithmIdentifier
		Issuer    asn1.RawValue
		Validity  validity
		Subject   asn1.RawValue
		Key       asn1.RawValue
	}{
		leaf.leaf.SerialNumber, algorithm, asn1.RawValue{FullBytes: ca.leaf.RawSubject},
		validity{time.Now().Add(-time.Hour).UTC(), leaf.leaf.NotAfter},
		asn1.RawValue{FullBytes: leaf.leaf.RawSubject}, asn1.RawValue{FullBytes: leaf.leaf.RawSubjectPublicKeyInfo},
	})
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(body)
	signature, err := ecdsa.SignASN1(rand.Reader, ca.pair.PrivateKey.(*ecdsa.PrivateKey), digest[:])
	if err != nil {
		t.Fatal(err)
	}
	der, err := asn1.Marshal(struct {
		Body      asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}{asn1.RawValue{FullBytes: body}, algorithm, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}})
	if err != nil {
		t.Fatal(err)
	}
	return issuedOf(t, der, leaf.pair.PrivateKey.(*ecdsa.PrivateKey))
}
