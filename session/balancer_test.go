package session

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"
	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// proxyHeader is what a balancer sends for a client, with extra bytes of TLVs in
// version 2.
func proxyHeader(t testing.TB, version byte, client string, extra int) []byte {
	t.Helper()
	source := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(client))
	destination := &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 5900}
	if source.IP.To4() == nil {
		destination.IP = net.ParseIP("2001:db8::1")
	}
	h := proxyproto.HeaderProxyFromAddrs(version, source, destination)
	if extra > 0 {
		if err := h.SetTLVs([]proxyproto.TLV{{Type: proxyproto.PP2_TYPE_NOOP, Value: make([]byte, extra)}}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := h.Format()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var proxyV2Local = slices.Concat(proxyproto.SIGV2, []byte{0x20, 0, 0, 0})

func TestProxyHeaders(t *testing.T) {
	v2 := func(rest ...byte) []byte { return slices.Concat(proxyproto.SIGV2, rest) }
	const client4, client6 = "198.51.100.7:40000", "[2001:db8::7]:40000"
	for name, tc := range map[string]struct {
		header []byte
		client string // empty: none named
		fails  string
	}{
		"version 1":                {proxyHeader(t, 1, client4, 0), client4, ""},
		"version 1, IPv6":          {proxyHeader(t, 1, client6, 0), client6, ""},
		"version 1, unknown":       {[]byte("PROXY UNKNOWN\r\n"), "", ""},
		"version 1, unknown, long": {[]byte("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), "", ""},
		"version 2":                {proxyHeader(t, 2, client4, 0), client4, ""},
		"version 2, IPv6":          {proxyHeader(t, 2, client6, 0), client6, ""},
		"version 2, extras":        {proxyHeader(t, 2, client4, 1000), client4, ""},
		"version 2, mapped":        {v2(append([]byte{0x21, 0x21, 0, 36}, slices.Concat(netip.MustParseAddr("::ffff:198.51.100.7").AsSlice(), make([]byte, 16), []byte{0x9c, 0x40, 0, 0})...)...), client4, ""},
		"version 2, local":         {proxyV2Local, "", ""},
		"no header":                {[]byte("REDQ\x02\x00\x00\x00\x02\x00\x00\x00"), "", "no PROXY protocol header"},
		"no end of line":           {[]byte("PROXY TCP4 " + strings.Repeat("1", 200)), "", "no end of line within 107 bytes"},
		"no CR":                    {[]byte("PROXY TCP4 1.2.3.4 1.2.3.5 1 2\n"), "", "must end with"},
		"host name":                {[]byte("PROXY TCP4 localhost 1.2.3.5 1 2\r\n"), "", "invalid address"},
		"port too large":           {[]byte("PROXY TCP4 1.2.3.4 1.2.3.5 65536 2\r\n"), "", "invalid port"},
		"something else, in time":  {[]byte("PROXYTCP4 1.2.3.4\r\n"), "", "no PROXY protocol header"},
		"too long":                 {v2(0x21, 0x11, 0xff, 0xff), "", "65535 bytes"},
		"too short":                {v2(0x21, 0x11, 0, 4, 1, 2, 3, 4), "", "invalid length"},
		"version 3":                {v2(0x31, 0x11, 0, 0), "", "version and command"},
		"unix socket":              {v2(append([]byte{0x21, 0x31, 0, 216}, make([]byte, 216)...)...), "", "no TCP address"},
		"UDP":                      {v2(append([]byte{0x21, 0x12, 0, 12}, make([]byte, 12)...)...), "", "no TCP address"},
		"cut short":                {proxyHeader(t, 2, client4, 0)[:20], "", "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			const behind = "behind"
			r := strings.NewReader(string(tc.header) + behind)
			if tc.fails == "EOF" {
				r = strings.NewReader(string(tc.header))
			}
			got, err := readProxyHeader(r)
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("err = %v, want %q", err, tc.fails)
				}
				return
			}
			rest, _ := io.ReadAll(r)
			if err != nil || got.IsValid() != (tc.client != "") || got.IsValid() && got.String() != tc.client || string(rest) != behind {
				t.Errorf("client %v, err %v, %q left; want %s and what is behind the header", got, err, rest, tc.client)
			}
		})
	}
}

func FuzzProxyHeader(f *testing.F) {
	f.Add(proxyHeader(f, 1, "198.51.100.7:40000", 0))
	f.Add(proxyHeader(f, 2, "[2001:db8::7]:1", 10))
	f.Add(proxyV2Local)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		client, err := readProxyHeader(r)
		if err != nil && client.IsValid() {
			t.Errorf("client %v beside %v", client, err)
		}
		if n := len(b) - r.Len(); n > proxyPrefix+maxProxyExtras {
			t.Errorf("%d bytes read", n)
		}
	})
}

// behindBalancer lets loopback be one.
func behindBalancer(c *Config) {
	c.ProxyProtocolFrom = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

func TestClientBehindABalancer(t *testing.T) {
	asked := make(chan authz.Request, 2)
	h := newHypervisor(t)
	target := h.target()
	p := startProxyWith(t, authorizerFunc(func(r authz.Request) (authz.Target, error) {
		asked <- r
		return target, nil
	}), behindBalancer)
	const client = "198.51.100.7:40000"
	for version, address := range map[byte]string{1: p.insecure, 2: p.secure} {
		c := p.dial(address)
		header := proxyHeader(t, version, client, 0)
		c.send(header[:5]) // a header may come in pieces
		c.send(header[5:])
		if address == p.secure {
			secure := tls.Client(c.Conn, p.trust)
			if err := secure.Handshake(); err != nil {
				t.Fatal(err)
			}
			c = &peer{secure, t}
		}
		c.open(linkMess(spiceproto.ChannelInputs))
		p.want(spiceproto.ChannelInputs, Relayed)
		c.wantEcho()
		if got := await(t, asked, "request"); got.Client.String() != client {
			t.Errorf("version %d: the authorizer was told of %v, want %s", version, got.Client, client)
		}
		p.wantLog(zap.InfoLevel, "hypervisor connection successful; handing off to relay", "peer:"+client, "balancer:127.0.0.1:")
		c.Close()
	}
}

func TestBalancerThatSpeaksForItself(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), behindBalancer)
	c := p.client()
	c.send(proxyV2Local)
	c.open(linkMess(spiceproto.ChannelInputs))
	c.wantEcho()
	p.wantLog(zap.InfoLevel, "hypervisor connection successful; handing off to relay", "peer:"+c.LocalAddr().String())
}

func TestBadProxyHeaders(t *testing.T) {
	for name, tc := range map[string]struct {
		send   []byte
		reason string
	}{
		"none":    {linkMess(spiceproto.ChannelMain).Append(nil), "no PROXY protocol header"},
		"hostile": {slices.Concat(proxyproto.SIGV2, []byte{0x21, 0x11, 0xff, 0xff}), "65535 bytes"},
		"slow":    {[]byte("PROXY TCP4 198.51"), "PROXY protocol header not complete within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, unreachable, func(c *Config) {
				behindBalancer(c)
				if name == "slow" {
					c.Timeouts.ProxyHeader = soon
				}
			})
			c := p.client()
			c.send(tc.send)
			c.wantClose()
			p.want(0, ProxyHeaderFailed)
			p.wantLog(zap.WarnLevel, "PROXY protocol header of a balancer not understood", tc.reason, c.LocalAddr().String())
		})
	}
}

// TestBalancerThatOnlyConnects is how many check their servers' health.
func TestBalancerThatOnlyConnects(t *testing.T) {
	p := startProxy(t, unreachable, behindBalancer)
	p.client().Close()
	p.want(0, ProxyHeaderFailed)
	p.wantLog(zap.DebugLevel, "PROXY protocol header of a balancer not understood")
}

func TestStrangersCannotNameThemselves(t *testing.T) {
	p := startProxy(t, unreachable, func(c *Config) {
		c.ProxyProtocolFrom = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	c := p.client()
	c.send(proxyHeader(t, 1, "10.0.0.1:1", 0))
	c.wantEnd(spiceproto.LinkReply{Error: spiceproto.LinkErrInvalidMagic}.Append(nil))
	p.want(0, LinkFailed)
	p.wantLog(zap.InfoLevel, "client link stage failed", "peer:"+c.LocalAddr().String())
}

// TestLimitsBehindABalancer are those of the clients it names.
func TestLimitsBehindABalancer(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), func(c *Config) {
		behindBalancer(c)
		c.HandshakesPerAddress, c.TokenFailures = 1, 1
	})
	connect := func(client string) *peer {
		c := p.client()
		c.send(proxyHeader(t, 2, client, 0))
		return c
	}
	guesser := connect("198.51.100.1:1")
	guesser.send(ticketFor(t, guesser.link(linkMess(spiceproto.ChannelMain)), "guess"))
	guesser.wantRefusal(spiceproto.LinkErrPermissionDenied)
	p.want(spiceproto.ChannelMain, Denied)
	connect("198.51.100.1:2").wantClose()
	p.want(0, Limited)

	shaking := connect("198.51.100.2:1")
	shaking.link(linkMess(spiceproto.ChannelMain))
	connect("198.51.100.2:2").wantClose()
	p.want(0, Limited)

	other := connect("198.51.100.3:1")
	other.open(linkMess(spiceproto.ChannelMain))
	other.wantEcho()
}

func TestErrorsNameTheClientBehindABalancer(t *testing.T) {
	near, far := net.Pipe()
	far.Close()
	l := newLeg(near, near).of(netip.MustParseAddrPort("198.51.100.7:40000"))
	if err := readError("client", l, io.ErrUnexpectedEOF); !strings.Contains(err.Error(), "client 198.51.100.7:40000") || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("err = %v", err)
	}
	if got := (leg{conn: near}).address(); got != near.RemoteAddr().String() {
		t.Errorf("address %s without a balancer", got)
	}
}
