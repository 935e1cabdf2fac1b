package kerbside

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"pgregory.net/rapid"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// sessions remembers what it was told to end.
type sessions chan string

func (s sessions) TerminateSession(id string) bool {
	s <- id
	return id == "live"
}

// startControl runs Control until the returned function is called or the test ends.
func (p *plane) startControl() (sessions, func()) {
	s := make(sessions, 100)
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan bool)
	go func() { defer close(done); p.Control(ctx, s) }()
	stop := func() { cancel(); <-done }
	p.t.Cleanup(stop)
	return s, stop
}

// failFirstStream has the daemon away at first.
func (p *plane) failFirstStream() {
	p.daemon.On("ProxyControl", control.Rule{Times: 1, Answer: control.Fail, Code: codes.Unavailable})
}

func (p *plane) wantEnded(s sessions, id string) {
	p.t.Helper()
	select {
	case got := <-s:
		if got != id {
			p.t.Errorf("session %q is ended, want %q", got, id)
		}
	case <-p.ctx.Done():
		p.t.Fatalf("session %q is not ended", id)
	}
}

// wantLine waits for a line of the log.
func (p *plane) wantLine(text string) { p.t.Helper(); p.wantLines(text, 1) }

// wantLines waits until there are n.
func (p *plane) wantLines(text string, n int) {
	p.t.Helper()
	for p.logs.FilterMessage(text).Len() < n {
		select {
		case <-p.ctx.Done():
			p.t.Fatalf("not %d lines %q in %v", n, text, p.logs.All())
		case <-time.After(time.Millisecond):
		}
	}
}

func TestTerminateSession(t *testing.T) {
	p := newPlane(t, nil)
	s, stop := p.startControl()
	p.want("ProxyControl", &kerbsidepb.ProxyControlRequest{Node: "node1"})
	p.daemon.Terminate("live")
	p.wantEnded(s, "live")
	p.daemon.Terminate("unknown")
	p.wantEnded(s, "unknown")
	stop()
	for id, terminated := range map[string]bool{"live": true, "unknown": false} {
		lines := p.logs.FilterMessage("ProxyControl TerminateSession event").
			FilterField(zap.String("node", "node1")).FilterField(zap.String("session_id", id)).FilterField(zap.Bool("terminated", terminated))
		if lines.Len() != 1 {
			t.Errorf("%d lines for %s, want 1: %v", lines.Len(), id, p.logs.All())
		}
	}
}

func TestControlReopens(t *testing.T) {
	for name, rule := range map[string]control.Rule{
		"dies":              {Times: 1, Answer: control.Die},
		"fails":             {Times: 2, Answer: control.Fail, Code: codes.Internal},
		"does not know it":  {Times: 1, Answer: control.Fail, Code: codes.Unimplemented},
		"says nothing":      {Times: 1, Answer: control.Hang},
		"says unknown news": {Times: 1, Answer: control.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t, nil)
			p.cfg.Timeout = soon
			p.daemon.On("ProxyControl", rule)
			s, _ := p.startControl()
			p.want("ProxyControl", nil)
			if rule.Answer == control.Die {
				p.until("restart", func() bool { return p.daemon.Restart() == nil })
			}
			p.daemon.Terminate("live")
			p.wantEnded(s, "live")
		})
	}
}

func TestControlOutlivesDaemons(t *testing.T) {
	p := newPlane(t, nil)
	s, _ := p.startControl()
	for n := range 3 {
		p.wantLines("ProxyControl stream opened", n+1)
		p.daemon.Stop()
		p.wantLines("ProxyControl stream lost; opening it again", n+1)
		// Marked while nobody was there to tell.
		id := fmt.Sprint("marked ", n)
		p.daemon.Terminate(id)
		if err := p.daemon.Restart(); err != nil {
			t.Fatal(err)
		}
		for m := range n + 1 {
			p.wantEnded(s, fmt.Sprint("marked ", m))
		}
	}
}

func TestSilentStreamIsReopened(t *testing.T) {
	p := newPlane(t, func(o *control.Options) { o.Heartbeat = time.Hour })
	p.silence = soon
	p.startControl()
	for range 3 {
		p.want("ProxyControl", nil)
	}
	p.wantLine("ProxyControl stream lost; opening it again")
}

func TestHeartbeatsKeepTheStream(t *testing.T) {
	p := newPlane(t, func(o *control.Options) { o.Heartbeat = time.Millisecond })
	p.silence = patience
	s, stop := p.startControl()
	p.want("ProxyControl", nil)
	time.Sleep(soon) // heartbeats come meanwhile; nothing else may
	p.daemon.Terminate("live")
	p.wantEnded(s, "live")
	stop()
	if calls := p.daemon.Calls(); len(calls) != 1 {
		t.Errorf("calls %v, want one stream", calls)
	}
}

func TestLiveChannelsAreListedAgain(t *testing.T) {
	p := newPlane(t, nil)
	other, gone := display, display
	other.Ref, gone.Ref = "ref2", "ref3"
	for _, ch := range []func() error{
		func() error { return p.Register(p.ctx, display) },
		func() error { return p.Register(p.ctx, other) },
		func() error { return p.Register(p.ctx, gone) },
		func() error { return p.Deregister(p.ctx, gone) },
	} {
		if err := ch(); err != nil {
			t.Fatal(err)
		}
	}
	p.startControl()
	p.wantLine("ProxyControl stream opened")
	p.daemon.Stop()
	p.daemon.ForgetChannels()
	if err := p.daemon.Restart(); err != nil {
		t.Fatal(err)
	}
	p.wantLine("live channels listed again")
	channels := p.daemon.Channels()
	_, first := channels["ref1"]
	_, second := channels["ref2"]
	if len(channels) != 2 || !first || !second {
		t.Errorf("the daemon knows %v, want the two live channels", channels)
	}
}

func TestListingGoesOnAfterAFailure(t *testing.T) {
	p := newPlane(t, nil)
	other := display
	other.Ref = "ref2"
	if err := p.Register(p.ctx, display); err != nil {
		t.Fatal(err)
	}
	if err := p.Register(p.ctx, other); err != nil {
		t.Fatal(err)
	}
	p.daemon.ForgetChannels()
	p.daemon.On("RegisterChannel", control.Rule{Times: 1, Answer: control.Refuse, Text: "disk full"})
	p.failFirstStream()
	p.startControl()
	p.wantLine("live channel not listed again")
	p.wantLine("live channels listed again")
	if channels := p.daemon.Channels(); len(channels) != 1 {
		t.Errorf("the daemon knows %v, want one channel", channels)
	}
}

// TestEndedChannelStaysRemoved ends a channel while it is being listed again.
func TestEndedChannelStaysRemoved(t *testing.T) {
	p := newPlane(t, nil)
	if err := p.Register(p.ctx, display); err != nil {
		t.Fatal(err)
	}
	p.want("RegisterChannel", nil)
	p.daemon.On("RegisterChannel", control.Rule{Delay: soon})
	p.failFirstStream()
	p.startControl()
	p.want("ProxyControl", nil)
	p.want("ProxyControl", nil)
	p.want("RegisterChannel", nil) // under way
	if err := p.Deregister(p.ctx, display); err != nil {
		t.Fatal(err)
	}
	p.want("DeregisterChannel", nil)
	if channels := p.daemon.Channels(); len(channels) != 0 {
		t.Errorf("the daemon knows %v, want nothing", channels)
	}
}

// TestMissedEnds ends channels while the daemon is away.
func TestMissedEnds(t *testing.T) {
	p := newPlane(t, nil)
	if err := p.Register(p.ctx, display); err != nil {
		t.Fatal(err)
	}
	p.daemon.On("DeregisterChannel", control.Rule{Times: 2, Answer: control.Fail, Code: codes.Unavailable})
	if err := p.Deregister(p.ctx, display); err == nil {
		t.Fatal("no error")
	}
	_, stop := p.startControl() // fails once more
	p.wantLine("ended channel not removed")
	stop()
	p.startControl()
	p.until("removal", func() bool { return len(p.daemon.Channels()) == 0 })
	p.wantLine("live channels listed again")
	if debts := p.channels.debts(); len(debts) != 0 {
		t.Errorf("still owed: %v", debts)
	}
}

func TestDebtsAreBounded(t *testing.T) {
	c := newChannels()
	for n := range mostOwed + 1 {
		c.owe(fmt.Sprint(n))
	}
	if len(c.debts()) != mostOwed {
		t.Errorf("%d owed, want %d", len(c.debts()), mostOwed)
	}
}

// TestLateClear has a daemon that was not there at the start.
func TestLateClear(t *testing.T) {
	for name, live := range map[string]bool{"no channel yet": false, "a channel lives": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t, nil)
			p.daemon.On("ClearNodeChannels", control.Rule{Times: 1, Answer: control.Fail, Code: codes.Unavailable})
			if err := p.ClearNodeChannels(p.ctx); err == nil {
				t.Fatal("no error")
			}
			p.want("ClearNodeChannels", nil)
			if live {
				if err := p.Register(p.ctx, display); err != nil {
					t.Fatal(err)
				}
				p.want("RegisterChannel", nil)
			}
			p.failFirstStream()
			p.startControl()
			p.want("ProxyControl", nil)
			p.want("ProxyControl", nil)
			if live {
				p.want("RegisterChannel", nil)
			} else {
				p.want("ClearNodeChannels", &kerbsidepb.ClearNodeChannelsRequest{Node: "node1"})
			}
		})
	}
}

// TestFirstStreamListsNothing: channels that came before it are known.
func TestFirstStreamListsNothing(t *testing.T) {
	p := newPlane(t, nil)
	if err := p.Register(p.ctx, display); err != nil {
		t.Fatal(err)
	}
	s, stop := p.startControl()
	p.daemon.Terminate("live")
	p.wantEnded(s, "live")
	stop()
	if n := len(p.daemon.Calls()); n != 2 {
		t.Errorf("%d calls, want one registration and one stream", n)
	}
}

func TestPauses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shortest := time.Duration(rapid.Int64Range(1, 1000).Draw(t, "shortest"))
		p := pause{shortest: shortest, longest: 20 * shortest}
		for range rapid.IntRange(1, 3).Draw(t, "outages") {
			p.reset()
			due := shortest
			for n := range 12 {
				if got := p.next(); got < due/2 || got > due {
					t.Fatalf("pause %d is %v, want %v to %v", n, got, due/2, due)
				}
				if p.attempts != n+1 {
					t.Fatalf("%d attempts, want %d", p.attempts, n+1)
				}
				due = min(2*due, p.longest)
			}
		}
	})
}
