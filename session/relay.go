package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"spicepacer/pacer"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// flushTimeout is how long the bytes still held may take to leave once one
// direction of a channel has ended, the closing of the connections included.
const flushTimeout = 2 * time.Second

// terminateFlush is that time for the client of a terminated session, who is
// to be gone within a second. The hypervisor keeps its own; see settle.
const terminateFlush = 500 * time.Millisecond

// relayConfig is what the relay of one channel needs beside the channel.
type relayConfig struct {
	pacing Pacing
	// onSession is told the session id that MAIN_INIT carries.
	onSession func(id uint32)
	// displays are those of the channel's session; nil: a session of its own.
	displays *sessionDisplays
}

// relay carries one channel of the server.
func (s *Server) relay(ctx context.Context, ch *channel) error {
	if hasReadValve(ch.kind, ch.mode) && ch.server.probe != nil && s.cfg.Pacing.Backend.ReceiveBuffer == OptionAuto {
		ch.server.receiveBuffer = autoReceiveBuffer
	}
	return relay(ctx, ch, relayConfig{
		pacing:    s.cfg.Pacing,
		onSession: func(id uint32) { s.registry.learnSession(ch, id) },
		displays:  s.registry.displays(ch.ref),
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
	cause := r.truncation()
	r.close()
	if errors.Is(cause, io.EOF) {
		ch.closedBy = closer(cause)
		return nil
	}
	return cause
}

// closer names the leg whose peer closed it.
func closer(cause error) string {
	if e, ok := errors.AsType[*legError](cause); ok {
		return e.leg
	}
	return ""
}

// relaying is a relay under way.
type relaying struct {
	ch    *channel
	cfg   relayConfig
	watch *stallWatch
	acks  *ackWatch // nil on channels without ACKs
	// fromServer is how far the hypervisor's messages have been read, fromClient how
	// far the client's.
	fromServer, fromClient *spiceproto.Framer

	once  sync.Once
	ended chan struct{} // closed when cause is set
	cause error
	// The deadlines of both legs, set with the cause.
	clientDeadline, serverDeadline time.Time
}

// end begins the end of the channel: nothing more is read, and what is held
// has until the deadlines to leave. Only the first cause counts.
func (r *relaying) end(cause error) {
	r.once.Do(func() {
		r.cause = cause
		now := time.Now()
		r.clientDeadline, r.serverDeadline = now.Add(flushTimeout), now.Add(flushTimeout)
		if errors.Is(cause, errTerminated) {
			r.clientDeadline = now.Add(terminateFlush)
		}
		// What the client has sent last is as little waited for as the client.
		r.ch.client.conn.SetWriteDeadline(r.clientDeadline)
		r.ch.server.conn.SetWriteDeadline(r.clientDeadline)
		r.ch.client.conn.SetReadDeadline(now)
		r.ch.server.conn.SetReadDeadline(now)
		close(r.ended)
	})
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
	wg.Go(func() { lingerClose(r.ch.client, r.clientDeadline) })
	wg.Go(func() {
		r.settle()
		lingerClose(r.ch.server, r.serverDeadline)
	})
	wg.Wait()
}

const (
	// settleQuiet is how long a hypervisor must send nothing, between messages,
	// to count as waiting for an ACK or idle.
	settleQuiet = 250 * time.Millisecond
	// settleMargin is left of the flush time for the close itself.
	settleMargin = 250 * time.Millisecond
)

// settle reads on, without acknowledging anything, until the hypervisor has no
// message under way. A guest that changes its mode waits for that message, and
// spice-server 0.15.1 does not survive the end of a display connection within
// this wait (display-channel.cpp, destroy_surface_wait): QEMU hangs for good.
func (r *relaying) settle() {
	if r.acks == nil || r.fromServer == nil {
		return
	}
	conn, end := r.ch.server.conn, r.serverDeadline.Add(-settleMargin)
	buf := busyBuffers.Get().(*[busyBuffer]byte)
	defer busyBuffers.Put(buf)
	for now := time.Now(); now.Before(end); now = time.Now() {
		conn.SetReadDeadline(earlier(now.Add(settleQuiet), end))
		n, err := conn.Read(buf[:])
		skip(r.fromServer, buf[:n])
		quiet := errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && (!quiet || !r.fromServer.InMessage()) {
			return
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
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
	peer string
	err  error
}

func (e *legError) Error() string {
	return fmt.Sprintf("%s %s %s: %v", e.verb, e.leg, e.peer, e.err)
}

func (e *legError) Unwrap() error { return e.err }

func readError(name string, l leg, err error) error {
	return &legError{leg: name, verb: "read from", peer: l.address(), err: err}
}

// forwardError is a writeError unless the firewall refuses a message.
func forwardError(name string, l leg, err error) error {
	if refusal, ok := errors.AsType[*firewall.Refusal](err); ok {
		return refusal
	}
	return writeError(name, l, err)
}

func writeError(name string, l leg, err error) error {
	return &legError{leg: name, verb: "write to", peer: l.address(), err: err}
}
