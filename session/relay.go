package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// flushTimeout is how long the bytes still held may take to leave once one
// direction of a channel has ended, the closing of the connections included.
const flushTimeout = 2 * time.Second

// relayConfig is what the relay of one channel needs beside the channel.
type relayConfig struct {
	pacing Pacing
	// onSession is told the session id that MAIN_INIT carries.
	onSession func(id uint32)
}

// relay carries one channel of the server.
func (s *Server) relay(ctx context.Context, ch *channel) error {
	if hasReadValve(ch.kind, ch.mode) && ch.server.probe != nil && s.cfg.Pacing.Backend.ReceiveBuffer == OptionAuto {
		ch.server.receiveBuffer = autoReceiveBuffer
	}
	return relay(ctx, ch, relayConfig{
		pacing:    s.cfg.Pacing,
		onSession: func(id uint32) { s.registry.learnSession(ch, id) },
	})
}

// relay carries one channel until either side ends it or ctx does. It closes
// both connections. The error tells which direction ended first and why: nil
// if a peer closed in good order, or context.Cause(ctx).
func relay(ctx context.Context, ch *channel, cfg relayConfig) error {
	r := &relaying{ch: ch, cfg: cfg, ended: make(chan struct{})}
	r.watch = newStallWatch(ch.client, cfg.pacing.StallTimeout, r.end)
	defer r.watch.stop()
	if r.acks = newAckWatch(ch); r.acks != nil {
		defer r.acks.stop()
	}
	stop := context.AfterFunc(ctx, func() { r.end(context.Cause(ctx)) })
	defer stop()
	if ch.kind == spiceproto.ChannelDisplay && ch.mode != pacer.Passthrough {
		r.runDisplay()
	} else {
		r.runPipes()
	}
	r.close()
	if errors.Is(r.cause, io.EOF) {
		return nil
	}
	return r.cause
}

// relaying is a relay under way.
type relaying struct {
	ch    *channel
	cfg   relayConfig
	watch *stallWatch
	acks  *ackWatch // nil on channels without ACKs

	once     sync.Once
	ended    chan struct{} // closed when cause is set
	cause    error
	deadline time.Time
}

// end begins the end of the channel: nothing more is read, and what is held
// has until the deadline to leave. Only the first cause counts.
func (r *relaying) end(cause error) {
	r.once.Do(func() {
		r.cause = cause
		r.deadline = time.Now().Add(flushTimeout)
		for _, l := range [...]leg{r.ch.client, r.ch.server} {
			l.conn.SetWriteDeadline(r.deadline)
			l.conn.SetReadDeadline(time.Now())
		}
		close(r.ended)
	})
}

// ending tells that the end has begun.
func (r *relaying) ending() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// direction runs one direction and ends the channel with it.
func (r *relaying) direction(wg *sync.WaitGroup, f func() error) {
	wg.Go(func() { r.end(f()) })
}

// close closes both legs in good order: whoever still reads gets everything
// written, then the end of the stream. Closing with unread bytes would reset the
// connection and may destroy what is on its way, so these are read first.
func (r *relaying) close() {
	var wg sync.WaitGroup
	for _, l := range [...]leg{r.ch.client, r.ch.server} {
		wg.Go(func() { lingerClose(l, r.deadline) })
	}
	wg.Wait()
}

// halfCloser is a connection that can end its sending side alone. A tls.Conn
// sends close_notify then.
type halfCloser interface{ CloseWrite() error }

func lingerClose(l leg, deadline time.Time) {
	under := l.conn
	if c, ok := l.conn.(*tls.Conn); ok {
		under = c.NetConn()
	}
	// A deadline would not do: a tls.Conn gives close_notify one of its own.
	cut := time.AfterFunc(time.Until(deadline), func() { under.Close() })
	defer cut.Stop()
	defer l.conn.Close()
	l.conn.SetReadDeadline(time.Time{})
	c, ok := l.conn.(halfCloser)
	if !ok || c.CloseWrite() != nil {
		return
	}
	if c, ok := under.(halfCloser); ok && l.tls {
		c.CloseWrite()
	}
	io.Copy(io.Discard, l.conn)
}

// legError says which leg failed at what.
type legError struct {
	leg  string // "client" or "hypervisor"
	verb string // "read from" or "write to"
	peer net.Addr
	err  error
}

func (e *legError) Error() string {
	return fmt.Sprintf("%s %s %v: %v", e.verb, e.leg, e.peer, e.err)
}

func (e *legError) Unwrap() error { return e.err }

func readError(name string, l leg, err error) error {
	return &legError{leg: name, verb: "read from", peer: l.conn.RemoteAddr(), err: err}
}

func writeError(name string, l leg, err error) error {
	return &legError{leg: name, verb: "write to", peer: l.conn.RemoteAddr(), err: err}
}
