package session

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

// relayScript plays the relays of one session against a registry.
type relayScript struct {
	*registry
	t        *testing.T
	idle     time.Duration
	channels map[spiceproto.ChannelType]*channel
	contexts map[spiceproto.ChannelType]context.Context
}

func newRelayScript(t *testing.T, idle time.Duration, kinds ...spiceproto.ChannelType) *relayScript {
	s := &relayScript{
		registry: newRegistry(0), t: t, idle: idle,
		channels: make(map[spiceproto.ChannelType]*channel), contexts: make(map[spiceproto.ChannelType]context.Context),
	}
	for _, kind := range kinds {
		s.open(kind)
	}
	return s
}

func (s *relayScript) open(kind spiceproto.ChannelType) {
	ctx, end := context.WithCancelCause(s.t.Context())
	ch := &channel{ref: kind.String(), kind: kind, stats: new(Stats)}
	s.join(ch.ref, "token", spiceproto.LinkMess{ConnectionID: 7, Type: kind})
	s.carry(ch, s.idle, end)
	s.channels[kind], s.contexts[kind] = ch, ctx
}

// close ends a channel with err.
func (s *relayScript) close(kind spiceproto.ChannelType, err error) {
	s.relayEnded(s.channels[kind], err)
	s.leave(kind.String())
	delete(s.channels, kind)
}

// wantOver expects that every channel that is left was ended with text in its
// reason, or that none was.
func (s *relayScript) wantOver(text string) {
	s.t.Helper()
	for kind := range s.channels {
		cause := context.Cause(s.contexts[kind])
		if text == "" && cause != nil || text != "" && (cause == nil || !strings.Contains(cause.Error(), text)) {
			s.t.Errorf("%v: cause %v, want %q", kind, cause, text)
		}
	}
}

const (
	mainCh    = spiceproto.ChannelMain
	displayCh = spiceproto.ChannelDisplay
	inputsCh  = spiceproto.ChannelInputs
	cursorCh  = spiceproto.ChannelCursor
)

func TestSessionEndsWithItsMainChannel(t *testing.T) {
	for err, want := range map[error]string{
		nil:                 "session is over: its main channel ended",
		errors.New("reset"): "its main channel ended: reset",
	} {
		s := newRelayScript(t, 0, mainCh, displayCh, inputsCh)
		s.close(mainCh, err)
		s.wantOver(want)
	}
}

func TestSessionEndsWithHalfItsChannels(t *testing.T) {
	reset := errors.New("reset")
	s := newRelayScript(t, 0, mainCh, displayCh, inputsCh, cursorCh)
	s.close(cursorCh, nil) // in good order: not lost
	s.close(inputsCh, reset)
	s.wantOver("")
	s.close(displayCh, reset)
	s.wantOver("2 of its 4 channels were lost, the last one display: reset")
	cause := context.Cause(s.contexts[mainCh])
	if lost, ok := errors.AsType[*SessionLostError](cause); !ok || !errors.Is(cause, reset) || lost.Lost != 2 {
		t.Errorf("cause %#v", cause)
	}
}

// TestSessionOutlivesOneChannel that is lost while others are still to come,
// unless it is what the user looks at.
func TestSessionOutlivesOneChannel(t *testing.T) {
	for kind, want := range map[spiceproto.ChannelType]string{
		spiceproto.ChannelWebDAV: "", displayCh: "1 of its 2 channels were lost, the last one display",
	} {
		s := newRelayScript(t, 0, mainCh, kind)
		s.close(kind, errors.New("reset"))
		s.wantOver(want)
	}
}

// TestLateChannelOfALostSession was connecting when the session ended; the one
// after it begins anew.
// A channel that is lost and comes back, again and again, is one channel.
func TestSessionOutlivesAFlappingChannel(t *testing.T) {
	s := newRelayScript(t, 0, mainCh, displayCh, inputsCh, spiceproto.ChannelWebDAV)
	for range 5 {
		s.close(spiceproto.ChannelWebDAV, errors.New("reset"))
		s.wantOver("")
		s.open(spiceproto.ChannelWebDAV)
	}
	s.wantOver("")
}

func TestLateChannelOfALostSession(t *testing.T) {
	s := newRelayScript(t, 0, mainCh, displayCh)
	s.join("late", "token", spiceproto.LinkMess{ConnectionID: 7})
	s.close(mainCh, nil)
	ctx, end := context.WithCancelCause(t.Context())
	s.carry(&channel{ref: "late", kind: inputsCh, stats: new(Stats)}, 0, end)
	if _, ok := errors.AsType[*SessionLostError](context.Cause(ctx)); !ok {
		t.Errorf("the late channel's cause is %v", context.Cause(ctx))
	}
	s.open(cursorCh)
	if cause := context.Cause(s.contexts[cursorCh]); cause != nil {
		t.Errorf("a new session ended at once: %v", cause)
	}
	for _, ref := range []string{"late", "display", "cursor"} {
		s.leave(ref)
	}
	if len(s.sessions)+len(s.members) > 0 {
		t.Errorf("left: sessions %v, members %v", s.sessions, s.members)
	}
}

func TestIdleLimitIsTheSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 15 * time.Minute
		s := newRelayScript(t, limit, mainCh, displayCh, inputsCh)
		for range 100 { // one direction of one channel keeps them all
			time.Sleep(limit - time.Second)
			s.channels[displayCh].stats.BytesToServer.Add(6)
		}
		synctest.Wait()
		s.wantOver("")
		start := time.Now()
		<-s.contexts[inputsCh].Done()
		if after := time.Since(start); after < limit || after > limit+limit/idleLooks {
			t.Errorf("ended after %v without a byte, limit %v", after, limit)
		}
		synctest.Wait()
		s.wantOver("session is idle: no byte on any of its channels for 15m0s")
	})
}

func TestNoIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRelayScript(t, 0, mainCh)
		time.Sleep(1000 * time.Hour)
		s.wantOver("")
	})
}

// TestIdleLooksEndWithTheSession: a timer that ran on would look at it again.
func TestIdleLooksEndWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRelayScript(t, time.Minute, displayCh, cursorCh)
		joined := s.members["display"]
		s.close(displayCh, nil)
		s.close(cursorCh, nil)
		time.Sleep(time.Hour)
		if joined.relays.idle != nil || joined.relays.over != nil {
			t.Errorf("timer %v, over %v", joined.relays.idle, joined.relays.over)
		}
	})
}

func TestLostMainClosesTheRest(t *testing.T) {
	h := newHypervisor(t)
	first, lose := make(chan bool, 1), make(chan bool)
	first <- true
	h.then = func(c net.Conn) {
		select {
		case <-first:
			<-lose
			c.(*net.TCPConn).SetLinger(0) // its end is a reset
		default:
			io.Copy(c, c)
		}
	}
	p := startProxy(t, h.target(), nil)
	main := p.tlsClient()
	main.open(linkMess(mainCh))
	inputs := p.tlsClient()
	inputs.open(linkMess(inputsCh))
	inputs.wantEcho()
	close(lose)
	inputs.wantEnd(nil)
	main.wantEnd(nil)
	inputs.Close()
	main.Close()
	for range 2 {
		await(t, p.ended, "end")
	}
	p.stop()
	p.wantLog(zap.InfoLevel, "relay ended", "channel_type:inputs", "session is over: its main channel ended: read from hypervisor")
}

func TestIdleSessionIsClosed(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), func(c *Config) { c.Timeouts.Idle = unhurried })
	c := p.tlsClient()
	c.open(linkMess(inputsCh))
	c.wantEcho()
	c.wantEnd(nil)
	c.Close()
	await(t, p.ended, "end")
	p.stop()
	p.wantLog(zap.WarnLevel, "relay idle-read timeout; ending relay", "channel_type:inputs", "session is idle")
}
