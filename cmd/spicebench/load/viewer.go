package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"spicepacer/cmd/spicebench/linkstage"
	"spicepacer/spiceproto"
)

const (
	// readSize is enough for what starts a channel.
	readSize = 1 << 10
	// startTimeout bounds all that happens until a channel is up. Some hundred
	// connections may be on their way at a time.
	startTimeout = 30 * time.Second
)

// viewers opens channels as SPICE clients do.
type viewers struct {
	addr  string
	trust *tls.Config
}

// channel is the client's side of one channel.
type channel struct {
	conn    *tls.Conn
	kind    spiceproto.ChannelType
	framer  spiceproto.Framer
	session uint32 // of MAIN_INIT
	up      bool   // what starts the channel has come
}

// source is an address of the loopback network: each client has one of its own,
// so that limits for one address see clients as they are elsewhere.
func source(client int) *net.TCPAddr {
	const hosts = 250
	return &net.TCPAddr{IP: net.IPv4(127, byte(1+client/(hosts*hosts)%hosts), byte(client/hosts%hosts), byte(1+client%hosts))}
}

// dial connects to the proxy without a word.
func (v viewers) dial(ctx context.Context, client int) (net.Conn, error) {
	return (&net.Dialer{LocalAddr: source(client)}).DialContext(ctx, "tcp4", v.addr)
}

// secure connects and shakes hands.
func (v viewers) secure(ctx context.Context, client int) (*tls.Conn, error) {
	sock, err := v.dial(ctx, client)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(sock, v.trust)
	if err := conn.HandshakeContext(ctx); err != nil {
		sock.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return conn, nil
}

// link opens a channel up to the end of its link stage. A refusal is a
// spiceproto.LinkError.
func (v viewers) link(ctx context.Context, client int, kind spiceproto.ChannelType, session uint32, token string) (*channel, error) {
	conn, err := v.secure(ctx, client)
	if err != nil {
		return nil, err
	}
	// Closing TLS would wait for a peer that does not read.
	defer context.AfterFunc(ctx, func() { conn.NetConn().Close() })()
	if _, err := linkstage.Link(conn, linkMess(kind, session), token); err != nil {
		conn.Close()
		return nil, err
	}
	return &channel{conn: conn, kind: kind}, nil
}

// open opens a channel until it is up.
func (v viewers) open(ctx context.Context, client int, kind spiceproto.ChannelType, session uint32) (*channel, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not up within %v", startTimeout))
	defer cancel()
	ch, err := v.link(ctx, client, kind, session, tokenServed)
	if err == nil {
		err = ch.start(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s channel of client %d: %w", kind, client, errors.Join(context.Cause(ctx), err))
	}
	return ch, nil
}

// linkMess offers what the relay needs and nothing that would make more of a
// channel's start.
func linkMess(kind spiceproto.ChannelType, session uint32) spiceproto.LinkMess {
	return spiceproto.LinkMess{ConnectionID: session, Type: kind, Common: linkstage.Common()}
}

// start exchanges the messages that start the channel. It closes the channel when
// that fails.
func (c *channel) start(ctx context.Context) error {
	defer context.AfterFunc(ctx, c.cut)()
	if _, err := c.conn.Write(opening(c.kind)); err != nil {
		c.cut()
		return err
	}
	for !c.up {
		if err := c.read(); err != nil {
			c.cut()
			return fmt.Errorf("first messages: %w", err)
		}
	}
	return nil
}

// read takes what comes next and answers it.
func (c *channel) read() error {
	var buf [readSize]byte
	n, err := c.conn.Read(buf[:])
	var replies []byte
	for p := buf[:n]; len(p) > 0; {
		s := c.framer.Next(p)
		p = p[len(s.Bytes):]
		if !s.End {
			continue
		}
		op := c.framer.Header().Type
		if op == spiceproto.MsgMainInit && c.kind == spiceproto.ChannelMain {
			init, err := spiceproto.ParseMainInit(c.framer.Head())
			if err != nil {
				return err
			}
			c.session = init.SessionID
		}
		c.up = c.up || op == lastOfStart[c.kind]
		replies = append(replies, reply(op, c.framer.Head())...)
	}
	if len(replies) > 0 {
		if _, err := c.conn.Write(replies); err != nil {
			return err
		}
	}
	return err
}

// reply is what the client says to a hypervisor's message.
func reply(op uint16, head []byte) []byte {
	if op != spiceproto.MsgSetAck {
		return nil
	}
	m, err := spiceproto.ParseSetAck(head)
	if err != nil {
		return nil
	}
	return spiceproto.AckSync{Generation: m.Generation}.Append(nil)
}

// stay reads until the channel ends, and tells why it does.
func (c *channel) stay() error {
	for {
		if err := c.read(); err != nil {
			return err
		}
	}
}

// cut closes the socket without a word.
func (c *channel) cut() { c.conn.NetConn().Close() }
