package spicetest

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// LinkConn is one end of a Link: a net.Conn with CloseWrite, whose counters can
// be read like a socket's.
type LinkConn struct {
	link *Link
	out  *half
	in   *half
	name string

	closed                      bool
	readDeadline, writeDeadline time.Time
}

// LinkInfo is what a kernel tells about a socket.
type LinkInfo struct {
	// SendQueue is the bytes written and not acknowledged, unsent ones included
	// (SIOCOUTQ); NotSent those unsent (tcpi_notsent_bytes).
	SendQueue, NotSent int
	// ReceiveQueue is the bytes that have arrived and were not read (SIOCINQ).
	ReceiveQueue int
	// BytesAcked is tcpi_bytes_acked.
	BytesAcked uint64
	// RTT is smoothed, MinRTT the smallest since connect; 0 before any sample.
	RTT, MinRTT time.Duration
	// Window is the congestion window in bytes.
	Window int
}

// Info returns the counters of this end.
func (c *LinkConn) Info() LinkInfo {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.advance()
	return LinkInfo{
		SendQueue: c.out.queued(), NotSent: c.out.unsent(), ReceiveQueue: c.in.unread,
		BytesAcked: c.out.acked, RTT: c.out.rtt, MinRTT: c.out.minRTT, Window: c.out.window,
	}
}

// Read implements io.Reader.
func (c *LinkConn) Read(p []byte) (int, error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	for {
		now := c.advance()
		if err := c.check("read", c.readDeadline); err != nil {
			return 0, err
		}
		if n := c.in.read(now, p); n > 0 || len(p) == 0 {
			c.link.wake()
			return n, nil
		}
		if c.in.ended(now) {
			return 0, io.EOF
		}
		c.link.wait(c.until(c.in.nextForReader(now), c.readDeadline))
	}
}

// Write implements io.Writer. It returns when the send buffer has taken all of
// p.
func (c *LinkConn) Write(p []byte) (int, error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	written := 0
	for {
		now := c.advance()
		if err := c.check("write", c.writeDeadline); err != nil {
			return written, err
		}
		if c.out.finished || c.out.broken {
			return written, c.fail("write", syscall.EPIPE)
		}
		if n := c.out.write(now, p[written:]); n > 0 {
			written += n
			c.link.wake()
		}
		if written == len(p) {
			return written, nil
		}
		c.link.wait(c.until(c.out.nextAck(), c.writeDeadline))
	}
}

// CloseWrite ends the outgoing stream behind what was written.
func (c *LinkConn) CloseWrite() error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out.finish(c.advance())
	c.link.wake()
	return nil
}

// Close ends both directions. What was written still arrives.
func (c *LinkConn) Close() error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.out.finish(c.advance())
	c.in.broken = true
	c.closed = true
	c.link.wake()
	return nil
}

// LocalAddr implements net.Conn.
func (c *LinkConn) LocalAddr() net.Addr { return linkAddr(c.name) }

// RemoteAddr implements net.Conn.
func (c *LinkConn) RemoteAddr() net.Addr {
	for i := range c.link.ends {
		if end := &c.link.ends[i]; end != c {
			return linkAddr(end.name)
		}
	}
	return nil
}

// SetDeadline implements net.Conn.
func (c *LinkConn) SetDeadline(t time.Time) error { return c.setDeadlines(t, true, true) }

// SetReadDeadline implements net.Conn.
func (c *LinkConn) SetReadDeadline(t time.Time) error { return c.setDeadlines(t, true, false) }

// SetWriteDeadline implements net.Conn.
func (c *LinkConn) SetWriteDeadline(t time.Time) error { return c.setDeadlines(t, false, true) }

func (c *LinkConn) setDeadlines(t time.Time, read, write bool) error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if read {
		c.readDeadline = t
	}
	if write {
		c.writeDeadline = t
	}
	c.link.wake()
	return nil
}

// advance brings both directions up to the present and returns it.
func (c *LinkConn) advance() time.Duration {
	now := c.link.now()
	c.out.advance(now)
	c.in.advance(now)
	return now
}

func (c *LinkConn) check(op string, deadline time.Time) error {
	if c.closed {
		return c.fail(op, net.ErrClosed)
	}
	if !deadline.IsZero() && !time.Now().Before(deadline) {
		return c.fail(op, os.ErrDeadlineExceeded)
	}
	return nil
}

func (c *LinkConn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: linkAddr("").Network(), Addr: c.RemoteAddr(), Err: err}
}

// until returns the earlier of a moment and a deadline.
func (c *LinkConn) until(at time.Duration, deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return at
	}
	return min(at, deadline.Sub(c.link.start))
}

type linkAddr string

func (linkAddr) Network() string  { return "simulated" }
func (a linkAddr) String() string { return fmt.Sprintf("end-%s", string(a)) }
