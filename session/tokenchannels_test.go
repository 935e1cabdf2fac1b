package session

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// TestTokenCannotHoldAllConnections opens as many channels with one token as it
// may have. The next one is told so at the end of its link stage, as of any other
// failure; another token is not affected, and the end of a channel makes room.
func TestTokenCannotHoldAllConnections(t *testing.T) {
	const most, other = 3, "other token"
	h := newHypervisor(t)
	target := h.target()
	auth, err := authz.NewStatic([]authz.Entry{{Token: testToken, Target: target}, {Token: other, Target: target}})
	if err != nil {
		t.Fatal(err)
	}
	p := startProxyWith(t, auth, func(c *Config) { c.ChannelsPerToken = most })
	var open []*peer
	for range most {
		c := p.client()
		c.open(linkMess(spiceproto.ChannelInputs))
		p.want(spiceproto.ChannelInputs, Relayed)
		<-h.linked
		open = append(open, c)
	}
	authorized := p.authorized.Load()
	for _, kind := range []spiceproto.ChannelType{spiceproto.ChannelMain, spiceproto.ChannelInputs} {
		c := p.client()
		c.send(ticketFor(t, c.link(linkMess(kind)), testToken))
		c.wantRefusal(spiceproto.LinkErrError)
		p.want(kind, Limited)
	}
	p.wantLog(zap.WarnLevel, "connection refused by a limit", "channel_type:main", "limit of channels of one token reached (3)")
	if n := len(h.linked); n != 0 || p.authorized.Load() != authorized {
		t.Errorf("%d refused channels reached the hypervisor, %d counted as authorized", n, p.authorized.Load()-authorized)
	}
	c := p.client()
	c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelInputs)), other))
	if r := c.result(); r != spiceproto.LinkOK {
		t.Errorf("link result %v with another token", r)
	}
	p.want(spiceproto.ChannelInputs, Relayed)
	c.wantEcho()
	open[0].Close()
	await(t, p.ended, "end")
	p.wantRoom(testToken)
	again := p.client()
	again.open(linkMess(spiceproto.ChannelInputs))
	again.wantEcho()
}

// wantRoom waits until a token may have another channel: it has a moment after the
// end of one.
func (p *proxy) wantRoom(token authz.Secret) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		release, err := p.perToken.acquire(token)
		if err == nil {
			release()
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatal(err)
		}
	}
}

// A channel that fails behind its token gives its place back before its client
// sees the end.
func TestTokenChannelsOfFailedHandshakes(t *testing.T) {
	p := startProxy(t, unreachable, func(c *Config) { c.ChannelsPerToken = 1 })
	for range 3 {
		c := p.client()
		c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
		c.wantRefusal(spiceproto.LinkErrError)
		p.want(spiceproto.ChannelMain, BackendFailed)
	}
}

// Nothing is left of tokens that have no channels, however they come and go.
func TestTokenChannels(t *testing.T) {
	const most = 5
	b := newTokenChannels(most)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if release, err := b.acquire("token"); err == nil {
					release()
				}
			}
		})
	}
	wg.Wait()
	var releases []func()
	for range most {
		release, err := b.acquire("token")
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	_, err := b.acquire("token")
	if refused, ok := errors.AsType[*TokenChannelsError](err); !ok || refused.Most != most {
		t.Errorf("err = %v, want a refusal", err)
	}
	for _, release := range releases {
		release()
	}
	if len(b.held) != 0 {
		t.Errorf("%d tokens are kept", len(b.held))
	}
	unbounded := newTokenChannels(0)
	for range 1000 {
		if _, err := unbounded.acquire("token"); err != nil {
			t.Fatal(err)
		}
	}
}
