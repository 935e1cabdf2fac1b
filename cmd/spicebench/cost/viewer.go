package cost

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"spicepacer/cmd/spicebench/linkstage"
	"spicepacer/session/sockopt"
	"spicepacer/spiceproto"
)

const (
	// readSize is how much the viewer asks the kernel for at once. With TLS
	// records of 16 KiB it saves most of its system calls, and leaves the
	// processor to the program under test.
	readSize = 256 << 10
	// linkBuffer is the receive buffer of a viewer that takes a limited rate: a
	// link keeps little of what it cannot carry yet.
	linkBuffer = 64 << 10
	// linkTimeout bounds connecting, TLS and the link stage.
	linkTimeout = 20 * time.Second
	// dialAgain is the pause between attempts to connect to a program that is
	// starting, which gives no event one could wait for.
	dialAgain = 10 * time.Millisecond
)

// viewer is the client's side of one channel after its link stage. It counts what
// it receives, acknowledges it and drops it.
type viewer struct {
	conn     *tls.Conn
	load     load
	framer   spiceproto.Framer
	received tally
	window   uint32 // W; 0: no ACKs
	left     uint32 // messages until the next ACK
	replies  []byte
}

// dialViewer connects to addr, as soon as somebody listens there, in TLS, and
// takes the channel through the link stage.
func dialViewer(ctx context.Context, addr string, trust *tls.Config, l load) (*viewer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, linkTimeout, fmt.Errorf("no link within %v", linkTimeout))
	defer cancel()
	var dialer net.Dialer
	if l.receive > 0 {
		dialer.Control = sockopt.Backend{ReceiveBuffer: linkBuffer}.Control
	}
	sock, err := dialPatiently(ctx, &dialer, addr)
	if err != nil {
		return nil, fmt.Errorf("viewer: connect to %s: %w", addr, err)
	}
	defer context.AfterFunc(ctx, func() { sock.Close() })()
	secure := tls.Client(wideConn{sock, bufio.NewReaderSize(sock, readSize)}, trust)
	if err = secure.HandshakeContext(ctx); err != nil {
		err = fmt.Errorf("TLS handshake: %w", err)
	} else {
		_, err = linkstage.Link(secure, spiceproto.LinkMess{Type: l.channel, Common: linkstage.Common()}, ticket)
	}
	if err != nil {
		sock.Close()
		return nil, fmt.Errorf("viewer: link with %s: %w", addr, errors.Join(context.Cause(ctx), err))
	}
	return &viewer{conn: secure, load: l}, nil
}

func dialPatiently(ctx context.Context, dialer *net.Dialer, addr string) (net.Conn, error) {
	retry := time.NewTicker(dialAgain)
	defer retry.Stop()
	for {
		conn, err := dialer.DialContext(ctx, "tcp4", addr)
		if err == nil {
			return conn, nil
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), err)
		}
	}
}

// wideConn reads from the socket in larger pieces than it is asked for.
type wideConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c wideConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// receive takes all that comes, to the end of the stream. A display channel is
// opened first.
func (v *viewer) receive(ctx context.Context) (tally, error) {
	defer v.conn.Close()
	// Closing TLS would wait for a peer that does not read.
	defer context.AfterFunc(ctx, func() { v.conn.NetConn().Close() })()
	if v.load.channel == spiceproto.ChannelDisplay {
		v.replies = spiceproto.DisplayInit{PixmapCacheID: 1, GLZDictionaryID: 1}.Append(v.replies)
	}
	buf := make([]byte, readSize)
	start := time.Now()
	for {
		if err := v.reply(); err != nil {
			return v.received, fmt.Errorf("viewer: %w", err)
		}
		if err := v.awaitTurn(ctx, start); err != nil {
			return v.received, fmt.Errorf("viewer: %w", err)
		}
		n, err := v.conn.Read(buf)
		v.received.bytes += uint64(n)
		if err := v.consume(buf[:n]); err != nil {
			return v.received, fmt.Errorf("viewer: %w", err)
		}
		switch {
		case errors.Is(err, io.EOF) && !v.framer.InMessage():
			return v.received, nil
		case err != nil:
			return v.received, fmt.Errorf("viewer: receive after %d bytes: %w", v.received.bytes, err)
		}
	}
}

// awaitTurn waits until the viewer may take more at the load's rate.
func (v *viewer) awaitTurn(ctx context.Context, start time.Time) error {
	if v.load.receive == 0 {
		return nil
	}
	due := float64(v.received.bytes) / v.load.receive * float64(time.Second)
	return sleepUntil(ctx, start.Add(time.Duration(due)))
}

func (v *viewer) reply() error {
	if len(v.replies) == 0 {
		return nil
	}
	_, err := v.conn.Write(v.replies)
	v.replies = v.replies[:0]
	return err
}

// consume frames what was read and notes the replies to it.
func (v *viewer) consume(p []byte) error {
	for len(p) > 0 {
		s := v.framer.Next(p)
		p = p[len(s.Bytes):]
		if !s.End {
			continue
		}
		v.received.messages++
		if err := v.message(); err != nil {
			return err
		}
	}
	return nil
}

// message counts down to the next ACK as spice-gtk does, which begins with the
// message after SET_ACK.
func (v *viewer) message() error {
	if v.framer.Header().Type == spiceproto.MsgSetAck {
		m, err := spiceproto.ParseSetAck(v.framer.Head())
		v.window, v.left = m.Window, m.Window
		v.replies = spiceproto.AckSync{Generation: m.Generation}.Append(v.replies)
		return err
	}
	if v.window == 0 {
		return nil
	}
	if v.left--; v.left == 0 {
		v.left = v.window
		v.replies = spiceproto.AppendAck(v.replies)
	}
	return nil
}
