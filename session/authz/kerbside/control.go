package kerbside

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// Sessions is what the daemon can end.
type Sessions interface {
	// TerminateSession ends every channel of a session and tells whether there
	// was any. It must not block.
	TerminateSession(id string) bool
}

// Control follows the daemon's control stream until ctx ends. A stream that
// breaks, falls silent or cannot be opened is opened again after a pause that
// doubles each time; the daemon then names the sessions to end anew, and is told
// anew which channels are live.
func (c *Client) Control(ctx context.Context, s Sessions) {
	pause := pause{shortest: c.shortestPause, longest: c.longestPause}
	for again := false; ; again = true {
		opened, err := c.follow(ctx, s, again)
		if ctx.Err() != nil {
			return
		}
		if opened {
			pause.reset()
		}
		wait := pause.next()
		say := c.log.Debug
		if pause.attempts == 1 {
			say = c.log.Warn // once for each outage
		}
		say("ProxyControl stream lost; opening it again",
			zap.String("node", c.cfg.Node), zap.Duration("retry_in", wait), zap.Error(err))
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// errSilent tells that a stream was given up because nothing came.
var errSilent = errors.New("no event")

// follow opens the stream and acts on its events until it ends. again tells that
// the daemon may have been away. The result tells whether it answered at all.
func (c *Client) follow(ctx context.Context, s Sessions, again bool) (opened bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The daemon begins with a heartbeat, so that the first limit is a call's.
	limit := c.cfg.Timeout
	watch := time.AfterFunc(limit, func() { cancel(errSilent) })
	defer watch.Stop()
	explain := func(err error) error {
		if context.Cause(ctx) == errSilent {
			err = fmt.Errorf("%w within %v", errSilent, limit)
		}
		return &CallError{Method: "ProxyControl", Socket: c.cfg.Socket, Err: err}
	}
	stream, err := c.rpc.ProxyControl(ctx, &kerbsidepb.ProxyControlRequest{Node: c.cfg.Node})
	if err != nil {
		return false, explain(err)
	}
	var reconciling sync.WaitGroup
	defer reconciling.Wait()
	defer cancel(nil)
	for {
		event, err := stream.Recv()
		if err != nil {
			return opened, explain(err)
		}
		limit = c.silence
		watch.Reset(limit)
		if !opened {
			opened = true
			c.log.Info("ProxyControl stream opened", zap.String("node", c.cfg.Node))
			reconciling.Go(func() { c.reconcile(ctx, again) })
		}
		c.act(event, s)
	}
}

// act does what an event asks for. Unknown events may come from newer daemons.
func (c *Client) act(event *kerbsidepb.ProxyControlEvent, s Sessions) {
	switch e := event.GetEvent().(type) {
	case *kerbsidepb.ProxyControlEvent_Heartbeat:
	case *kerbsidepb.ProxyControlEvent_TerminateSession:
		id := e.TerminateSession.GetSessionId()
		c.log.Info("ProxyControl TerminateSession event", zap.String("node", c.cfg.Node),
			zap.String("session_id", id), zap.Bool("terminated", s.TerminateSession(id)))
	default:
		c.log.Debug("ProxyControl event of an unknown kind", zap.String("node", c.cfg.Node))
	}
}
