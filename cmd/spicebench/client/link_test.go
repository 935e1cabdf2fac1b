package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"spicepacer/spiceproto"
)

// cancellingConn cancels a context at one of its reads and lets that read succeed
// once the connection has been closed for it.
type cancellingConn struct {
	net.Conn
	left   int // reads until the cancellation
	cancel func()
	once   sync.Once
	closed chan struct{}
}

func (c *cancellingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.left--; c.left == 0 {
		c.cancel()
		<-c.closed
	}
	return n, err
}

func (c *cancellingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestOpenCancelledAtAnyRead cancels the opening of a channel after each of its
// reads in turn, the last of the link stage among them: a channel whose connection
// was closed for it must not come out.
func TestOpenCancelledAtAnyRead(t *testing.T) {
	cancellations := 0
	for read := 1; ; read++ {
		opened := false
		synctest.Test(t, func(t *testing.T) {
			s := newFakeServer(t)
			cfg := s.config()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var conn *cancellingConn
			cfg.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				under, err := s.dial(ctx, network, addr)
				conn = &cancellingConn{Conn: under, left: read, cancel: cancel, closed: make(chan struct{})}
				return conn, err
			}
			ch, err := cfg.open(ctx, spiceproto.ChannelDisplay, sessionID)
			conn.Close()
			switch {
			case ctx.Err() == nil:
				opened = err == nil
			case !errors.Is(err, context.Canceled):
				t.Errorf("cancelled at read %d: channel %v, error %v, want context canceled", read, ch, err)
			default:
				cancellations++
			}
		})
		if opened || t.Failed() {
			break
		}
	}
	if cancellations < 3 {
		t.Errorf("the link stage was cancelled at %d reads, want at least 3", cancellations)
	}
}
