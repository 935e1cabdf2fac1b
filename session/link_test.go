package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// unreachable is a target for clients that never get so far.
var unreachable = authz.Target{Name: "hv", Hypervisor: "127.0.0.1", InsecurePort: 1}

func TestRedirectAnswersNeedSecured(t *testing.T) {
	p := startProxy(t, unreachable, func(c *Config) { c.InsecureMode = Redirect })
	c := p.client()
	c.send(linkMess(spiceproto.ChannelMain).Append(nil))
	// REDQ, 2.2, size 178, error 5, an empty key, no capabilities.
	head, _ := hex.DecodeString("52454451" + "02000000" + "02000000" + "b2000000" + "05000000")
	c.wantEnd(append(head, make([]byte, 174)...))
	p.want(spiceproto.ChannelMain, Redirected)
	if n := p.opened.Load(); n != 0 {
		t.Errorf("%d connections counted, want none for a redirect", n)
	}
}

func TestLinkReplyOffersWhatSpiceServerDoes(t *testing.T) {
	p := startProxy(t, unreachable, nil)
	for kind := spiceproto.ChannelMain; kind.Valid(); kind++ {
		c := p.client()
		reply := c.link(linkMess(kind))
		common, channel := spiceproto.ServerCaps(kind)
		if !equalCaps(reply.Common, common) || !equalCaps(reply.Channel, channel) {
			t.Errorf("%v: offered %x, %x; want %x, %x", kind, reply.Common, reply.Channel, common, channel)
		}
		c.Close()
	}
}

func equalCaps(a, b spiceproto.Caps) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// patched returns a good link message with the u32 at offset replaced.
func patched(offset int, v uint32) []byte {
	b := linkMess(spiceproto.ChannelMain).Append(nil)
	binary.LittleEndian.PutUint32(b[offset:], v)
	return b
}

func channelByte(v byte) []byte {
	b := linkMess(spiceproto.ChannelMain).Append(nil)
	b[20] = v
	return b
}

func TestBadLinkMessages(t *testing.T) {
	good := linkMess(spiceproto.ChannelMain).Append(nil)
	const silent = spiceproto.LinkOK
	for _, tc := range []struct {
		name   string
		input  []byte
		answer spiceproto.LinkError
		reason string
	}{
		{"another protocol", []byte("GET / HTTP/1.1\r\nHost: proxy\r\n\r\n"), spiceproto.LinkErrInvalidMagic, "magic"},
		{"noise", bytes.Repeat([]byte{0xff}, lingerBytes-1000), spiceproto.LinkErrInvalidMagic, "magic"},
		{"newer major version", patched(4, 3), spiceproto.LinkErrVersionMismatch, "major version 3"},
		{"major version 0", patched(4, 0), silent, "major version 0"},
		{"size below the least", patched(12, 17), spiceproto.LinkErrInvalidData, "size 17"},
		{"size above the most", append(patched(12, 4097), make([]byte, 4097)...), spiceproto.LinkErrInvalidData, "size 4097"},
		{"absurd size", patched(12, 0xffffffff), spiceproto.LinkErrInvalidData, "size 4294967295"},
		{"too many capability words", patched(22, 1000), spiceproto.LinkErrInvalidData, "1000 common"},
		{"capabilities outside", patched(30, 4000), spiceproto.LinkErrInvalidData, "offset 4000"},
		{"capabilities inside the fixed part", patched(30, 4), spiceproto.LinkErrInvalidData, "offset 4"},
		{"channel type 0", channelByte(0), silent, "unknown channel type 0"},
		{"channel type 12", channelByte(12), silent, "unknown channel type 12"},
		{"header cut short", good[:10], silent, "unexpected EOF"},
		{"body cut short", good[:30], silent, "unexpected EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startProxy(t, unreachable, nil)
			for _, c := range []*peer{p.client(), p.tlsClient()} {
				c.send(tc.input)
				if err := c.Conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				if tc.answer == silent {
					c.wantClose()
				} else {
					c.wantEnd(spiceproto.LinkReply{Error: tc.answer}.Append(nil))
				}
				if got := await(t, p.outcomes, "outcome"); got.result != LinkFailed {
					t.Errorf("outcome %v, want %v", got, LinkFailed)
				}
				p.wantLog(zap.InfoLevel, "client link stage failed", c.LocalAddr().String(), tc.reason)
			}
		})
	}
}

func TestClientThatSpeaksNoTLS(t *testing.T) {
	p := startProxy(t, unreachable, nil)
	c := p.dial(p.secure)
	c.send(linkMess(spiceproto.ChannelMain).Append(nil))
	io.Copy(io.Discard, c) // a TLS alert, perhaps
	p.want(0, TLSFailed)
	p.wantLog(zap.InfoLevel, "client TLS handshake failed", c.LocalAddr().String(), "does not look like a TLS handshake")
}

func TestClientThatSaysNothingIsNoEvent(t *testing.T) {
	p := startProxy(t, unreachable, nil)
	p.client().Close()
	p.want(0, LinkFailed)
	p.dial(p.secure).Close()
	p.want(0, TLSFailed)
	if lines := p.logs.FilterLevelExact(zap.DebugLevel).Len(); lines != 2 {
		t.Errorf("%d debug lines, want one for each; log:\n%s", lines, p.log())
	}
}

func TestSlowLinkStages(t *testing.T) {
	good := linkMess(spiceproto.ChannelMain).Append(nil)
	shorten := func(c *Config) {
		c.Timeouts.Link, c.Timeouts.Redirect, c.Timeouts.TLSAccept = soon, soon, soon
	}
	redirect := func(c *Config) { shorten(c); c.InsecureMode = Redirect }
	for name, tc := range map[string]struct {
		change func(*Config)
		play   func(*proxy) *peer
		result Result
		reason string
	}{
		"TLS hello": {shorten, func(p *proxy) *peer { return p.dial(p.secure) },
			TLSFailed, "TLS handshake not complete within 50ms"},
		"link message": {shorten, func(p *proxy) *peer { c := p.client(); c.send(good[:20]); return c },
			LinkFailed, "link message not complete within 50ms"},
		"link message to redirect": {redirect, func(p *proxy) *peer { c := p.client(); c.send(good[:3]); return c },
			LinkFailed, "link message not complete within 50ms"},
		"link message over TLS": {func(c *Config) { c.Timeouts.Link = soon }, func(p *proxy) *peer { return p.tlsClient() },
			LinkFailed, "link message not complete within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, unreachable, tc.change)
			tc.play(p).wantClose()
			p.want(0, tc.result)
			p.wantLog(zap.InfoLevel, resultMessages[tc.result], tc.reason)
		})
	}
}

func TestSlowTicket(t *testing.T) {
	p := startProxy(t, unreachable, func(c *Config) { c.Timeouts.Link = unhurried })
	p.wantKey()
	c := p.client()
	c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken)[:100])
	c.wantClose()
	p.want(spiceproto.ChannelMain, LinkFailed)
	p.wantLog(zap.InfoLevel, "client link stage failed", "ticket not complete within 3s")
}

func TestByteAtATime(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), nil)
	for _, c := range []*peer{p.client(), p.tlsClient()} {
		dribble := func(b []byte) {
			for i := range b {
				c.send(b[i : i+1])
			}
		}
		dribble(linkMess(spiceproto.ChannelInputs).Append(nil))
		reply, err := spiceproto.ReadLinkReply(c)
		if err != nil {
			t.Fatal(err)
		}
		dribble(ticketFor(t, reply, testToken))
		if r := c.result(); r != spiceproto.LinkOK {
			t.Fatalf("link result %v", r)
		}
		p.want(spiceproto.ChannelInputs, Relayed)
		c.wantEcho()
		c.Close()
	}
}

func TestBadTickets(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(t *testing.T, r spiceproto.LinkReply) []byte
		want   spiceproto.LinkError
		result Result
		reason string
	}{
		"SASL": {func(*testing.T, spiceproto.LinkReply) []byte { return spiceproto.AppendAuthMechanism(nil, 2) },
			spiceproto.LinkErrInvalidData, LinkFailed, "not offered: 2"},
		"noise": {func(*testing.T, spiceproto.LinkReply) []byte {
			return append(spiceproto.AppendAuthMechanism(nil, 1), bytes.Repeat([]byte{0x55}, 128)...)
		}, spiceproto.LinkErrPermissionDenied, LinkFailed, "does not decrypt"},
		"unknown token": {func(t *testing.T, r spiceproto.LinkReply) []byte { return ticketFor(t, r, "guess") },
			spiceproto.LinkErrPermissionDenied, Denied, "unknown token"},
		"no token": {func(t *testing.T, r spiceproto.LinkReply) []byte { return ticketFor(t, r, "") },
			spiceproto.LinkErrPermissionDenied, Denied, "unknown token"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, unreachable, nil)
			c := p.tlsClient()
			c.send(tc.answer(t, c.link(linkMess(spiceproto.ChannelMain))))
			c.wantRefusal(tc.want)
			p.want(spiceproto.ChannelMain, tc.result)
			p.wantLog(zap.InfoLevel, resultMessages[tc.result], tc.reason, "channel_type:main", c.LocalAddr().String())
			if strings.Contains(p.log(), "guess") {
				t.Errorf("the log shows the token:\n%s", p.log())
			}
		})
	}
}

func TestAuthorizerThatCannotDecide(t *testing.T) {
	p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) {
		return authz.Target{}, errors.New("daemon is away")
	}), nil)
	c := p.client()
	c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
	c.wantRefusal(spiceproto.LinkErrError)
	p.want(spiceproto.ChannelMain, AuthorizerFailed)
	p.wantLog(zap.WarnLevel, "AuthorizeConnection RPC failed; closing connection", "daemon is away")
}

func TestAuthorizerIsTold(t *testing.T) {
	asked := make(chan authz.Request, 1)
	p := startProxyWith(t, authorizerFunc(func(r authz.Request) (authz.Target, error) {
		asked <- r
		return authz.Target{}, &authz.Denied{Reason: "test"}
	}), nil)
	c := p.client()
	m := linkMess(spiceproto.ChannelUSBRedir)
	m.ID = 3
	c.send(ticketFor(t, c.link(m), testToken))
	got := await(t, asked, "request")
	if got.Token != testToken || got.ConnectionID != 77 || got.Type != spiceproto.ChannelUSBRedir || got.ID != 3 ||
		got.Client.String() != c.LocalAddr().String() || len(got.Ref) != 36 || got.Ref[14] != '4' {
		t.Errorf("request %+v", got)
	}
	c.wantRefusal(spiceproto.LinkErrPermissionDenied)
	p.wantLog(zap.InfoLevel, "connection denied by control service", got.Ref)
}

type authorizerFunc func(authz.Request) (authz.Target, error)

func (f authorizerFunc) Authorize(_ context.Context, r authz.Request) (authz.Target, error) {
	return f(r)
}

// TestHandshakeFloodStarvesNobody has one address open connections that begin no
// TLS handshake, while another one wants to work.
func TestHandshakeFloodStarvesNobody(t *testing.T) {
	const allowed = 4
	p := startProxy(t, newHypervisor(t).target(), func(c *Config) {
		c.Connections, c.HandshakesPerAddress = 2*allowed, allowed
	})
	flooder := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for n := range 10 * allowed {
		c, err := flooder.Dial("tcp", p.secure)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n >= allowed {
			c.SetDeadline(time.Now().Add(patience))
			(&peer{c, t}).wantClose()
			p.want(0, Limited)
		}
	}
	c := p.tlsClient()
	c.open(linkMess(spiceproto.ChannelMain))
	p.want(spiceproto.ChannelMain, Relayed)
	c.wantEcho()
}

// TestRefusalsDoNotFillTheLog: the pause after a line lasts while the test does.
func TestRefusalsDoNotFillTheLog(t *testing.T) {
	p := startProxyWith(t, authorizerFunc(nil), func(c *Config) { c.Connections = 1 },
		func(s *Server) { s.refusals.next = time.Now().Add(time.Hour) })
	p.client()
	for range 3 {
		p.client().wantClose()
		p.want(0, Limited)
	}
	if _, ok := p.refusals.allow(time.Now()); ok || p.refusals.skipped != 4 {
		t.Errorf("%d lines skipped, want the 3 of the connections and this one", p.refusals.skipped)
	}
	if lines := p.logs.FilterMessage("connection refused by a limit").Len(); lines != 0 {
		t.Errorf("%d lines in the pause", lines)
	}
}

func TestLimits(t *testing.T) {
	t.Run("connections", func(t *testing.T) {
		p := startProxy(t, unreachable, func(c *Config) { c.Connections = 1 })
		p.client() // accepted first, being first in the backlog
		p.client().wantClose()
		p.want(0, Limited)
		p.wantLog(zap.WarnLevel, "connection refused by a limit", "limit of connections")
	})
	t.Run("handshakes", func(t *testing.T) {
		p := startProxy(t, newHypervisor(t).target(), func(c *Config) { c.HandshakesPerAddress = 1 })
		relayed := p.client()
		relayed.open(linkMess(spiceproto.ChannelMain))
		p.want(spiceproto.ChannelMain, Relayed)
		p.client() // takes the place that the relayed one left
		p.client().wantClose()
		p.want(0, Limited)
		p.wantLog(zap.WarnLevel, "connection refused by a limit", "handshakes from this address")
		relayed.wantEcho()
	})
}
