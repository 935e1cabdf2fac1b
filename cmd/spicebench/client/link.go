package client

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

// linkTimeout bounds connecting, TLS and the link stage of one channel. The
// server itself never gives up, and a link of seconds is still a link.
const linkTimeout = 30 * time.Second

// keepAlive is what spice-gtk sets on its sockets (spice-session.c).
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 3}

// channelCaps are those seen from spice-gtk 0.42 (0xf on main, 0x3bf on display)
// that a client without a picture can keep to: no migration on main, no scan-out
// by file descriptor on display.
var channelCaps = map[spiceproto.ChannelType]spiceproto.Caps{
	spiceproto.ChannelMain: spiceproto.Caps(nil).
		With(spiceproto.CapMainNameAndUUID).
		With(spiceproto.CapMainAgentConnectedTokens),
	spiceproto.ChannelDisplay: spiceproto.Caps(nil).
		With(spiceproto.CapDisplaySizedStream).
		With(spiceproto.CapDisplayMonitorsConfig).
		With(spiceproto.CapDisplayComposite).
		With(spiceproto.CapDisplayA8Surface).
		With(spiceproto.CapDisplayStreamReport).
		With(spiceproto.CapDisplayLZ4Compression).
		With(spiceproto.CapDisplayMultiCodec).
		With(spiceproto.CapDisplayCodecMJPEG),
}

// ChannelError says on which channel with which peer what failed.
type ChannelError struct {
	Channel spiceproto.ChannelType
	Peer    string // host:port
	Doing   string // what was attempted
	Err     error
}

func (e *ChannelError) Error() string {
	return fmt.Sprintf("%s channel with %s: %s: %v", e.Channel, e.Peer, e.Doing, e.Err)
}

// Unwrap returns the reason.
func (e *ChannelError) Unwrap() error { return e.Err }

// open links channel 0 of a type. A plain port that wants TLS sends the channel
// to the secure address, as spice-gtk does, channel by channel.
func (c Config) open(ctx context.Context, kind spiceproto.ChannelType, session uint32) (*channel, error) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	if c.TLS != nil && c.SecureAddr == "" {
		return c.openAt(ctx, c.Addr, c.TLS, kind, session)
	}
	ch, err := c.openAt(ctx, c.Addr, nil, kind, session)
	if errors.Is(err, spiceproto.LinkErrNeedSecured) && c.SecureAddr != "" {
		c.logf("%s channel: %s wants TLS, going to %s", kind, c.Addr, c.SecureAddr)
		return c.openAt(ctx, c.SecureAddr, c.TLS, kind, session)
	}
	return ch, err
}

// openAt links at one address, in TLS if a configuration is given.
func (c Config) openAt(ctx context.Context, addr string, secure *tls.Config, kind spiceproto.ChannelType, session uint32) (*channel, error) {
	ch := &channel{kind: kind, peer: addr}
	conn, err := c.dial(ctx, addr)
	if err != nil {
		return nil, ch.fail("connect", err)
	}
	// The TCP connection is what gets closed: closing TLS would wait for a peer
	// that does not read.
	ch.conn, ch.close = conn, conn.Close
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	doing, err := "link", error(nil)
	if secure != nil {
		secured := tls.Client(conn, withServerName(secure, addr))
		ch.conn = secured
		doing, err = "TLS handshake", secured.HandshakeContext(ctx)
	}
	if err == nil {
		doing = "link"
		mess := spiceproto.LinkMess{ConnectionID: session, Type: kind, Common: linkstage.Common(), Channel: channelCaps[kind]}
		if c.FullHeaders {
			mess.Common = mess.Common.Without(spiceproto.CapMiniHeader).Without(spiceproto.CapAuthSelection)
		}
		var reply spiceproto.LinkReply
		reply, err = linkstage.Link(ch.conn, mess, c.Password)
		ch.caps, ch.framer.Full = reply.Channel, linkstage.FullHeaders(mess, reply)
	}
	if cancelled := !stop(); cancelled {
		err = context.Cause(ctx)
	}
	if err == nil {
		return ch, nil
	}
	conn.Close()
	return nil, ch.fail(doing, err)
}

func (c Config) dial(ctx context.Context, addr string) (net.Conn, error) {
	if c.DialContext != nil {
		return c.DialContext(ctx, "tcp", addr)
	}
	d := net.Dialer{KeepAliveConfig: keepAlive}
	return d.DialContext(ctx, "tcp", addr)
}

func withServerName(cfg *tls.Config, addr string) *tls.Config {
	if cfg.ServerName != "" {
		return cfg
	}
	cfg = cfg.Clone()
	cfg.ServerName, _, _ = net.SplitHostPort(addr)
	return cfg
}
