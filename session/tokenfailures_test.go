package session

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

func TestTokenFailuresPerMinute(t *testing.T) {
	guesser, neighbour, other := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2"), netip.MustParseAddr("10.0.0.1")
	f := newTokenFailures(3)
	now := time.Unix(1000, 0)
	for range 3 {
		if err := f.check(guesser, now); err != nil {
			t.Fatal(err)
		}
		f.book(guesser, now)
	}
	for addr, want := range map[netip.Addr]error{guesser: errTooManyFailures, neighbour: errTooManyFailures, other: nil} {
		if err := f.check(addr, now); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", addr, err, want)
		}
	}
	if err := f.check(guesser, now.Add(19*time.Second)); err == nil {
		t.Error("free again before a third of a minute")
	}
	now = now.Add(20 * time.Second)
	if err := f.check(guesser, now); err != nil {
		t.Errorf("after a third of a minute: %v", err)
	}
	f.book(guesser, now)
	if err := f.check(guesser, now); err == nil {
		t.Error("more than one failure allowed after a third of a minute")
	}
	if f.check(guesser, now.Add(time.Minute)); len(f.byAddress) != 0 {
		t.Errorf("still remembered after a minute: %v", f.byAddress)
	}
}

func TestTokenFailuresAreBounded(t *testing.T) {
	address := func(n int) netip.Addr {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], uint32(n))
		return netip.AddrFrom4(a)
	}
	f := newTokenFailures(2)
	now := time.Unix(1000, 0)
	f.book(address(0), now)
	f.book(address(0), now)
	for n := range 2 * maxFailing {
		f.book(address(1+n), now)
	}
	if len(f.byAddress) != maxFailing {
		t.Errorf("%d addresses remembered, want %d", len(f.byAddress), maxFailing)
	}
	if f.check(address(0), now) == nil {
		t.Error("the worst address was forgotten")
	}
	f.book(address(0), now.Add(time.Hour))
	f.book(address(3*maxFailing), now.Add(time.Hour))
	if len(f.byAddress) != 2 {
		t.Errorf("%d addresses remembered after an hour, want the last 2", len(f.byAddress))
	}
}

// TestGuessingIsTurnedAway has one token refused for each way to fail, and then
// not even its TLS handshake taken.
func TestGuessingIsTurnedAway(t *testing.T) {
	guess := func(c *peer) {
		c.send(ticketFor(c.t, c.link(linkMess(spiceproto.ChannelMain)), "guess"))
		c.wantRefusal(spiceproto.LinkErrPermissionDenied)
	}
	noise := func(c *peer) {
		c.link(linkMess(spiceproto.ChannelMain))
		c.send(append(spiceproto.AppendAuthMechanism(nil, 1), make([]byte, 128)...))
		c.wantRefusal(spiceproto.LinkErrPermissionDenied)
	}
	leave := func(c *peer) { c.link(linkMess(spiceproto.ChannelMain)); c.Close() }
	for name, fail := range map[string]func(*peer){"wrong token": guess, "noise for a ticket": noise, "a key and no ticket": leave} {
		t.Run(name, func(t *testing.T) {
			p := startProxy(t, newHypervisor(t).target(), func(c *Config) { c.TokenFailures = 2 })
			relayed := p.tlsClient()
			relayed.open(linkMess(spiceproto.ChannelMain))
			for range 2 {
				fail(p.tlsClient())
			}
			for range 3 {
				await(t, p.outcomes, "outcome")
			}
			p.dial(p.secure).wantClose()
			p.want(0, Limited)
			p.wantLog(zap.WarnLevel, "connection refused by a limit", "refused tokens from this address")
			relayed.wantEcho()
		})
	}
}

// TestGoodTokensAreNoGuesses though their channel's type is not permitted.
func TestGoodTokensAreNoGuesses(t *testing.T) {
	p := startProxyWith(t, authorizerFunc(func(authz.Request) (authz.Target, error) {
		return authz.Target{}, &authz.Denied{Reason: "channel type", KnownToken: true}
	}), func(c *Config) { c.TokenFailures = 1 })
	for range 2 {
		c := p.tlsClient()
		c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
		c.wantRefusal(spiceproto.LinkErrPermissionDenied)
		p.want(spiceproto.ChannelMain, Denied)
	}
}
