package session

import (
	"net"
	"syscall"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// leg is one of the two connections of a channel.
type leg struct {
	// conn carries SPICE bytes: a *tls.Conn, or the socket itself.
	conn net.Conn
	// peer is who is at the other end: the client itself when a balancer stands
	// between; empty: the socket's.
	peer string
	// sock is the socket under conn, for options and queue sizes.
	sock syscall.Conn
	// tls tells that conn encrypts, so that bytes on the wire are more than
	// bytes written.
	tls bool
	// records joins the writes of a tls.Conn towards a client; nil on others.
	records *recordBuffer
	// probe samples the socket; nil where there is no TCP_INFO (unix sockets).
	probe func() (pacer.LinkSample, error)
	// rtt is the round trip measured while connecting, 0 if unknown.
	rtt time.Duration
	// receiveBuffer is the SO_RCVBUF set before connect that may be raised with
	// setReceiveBuffer on demand, in bytes; 0: left to the kernel or fixed.
	// openWindow lets the window announced to the peer grow with the buffer.
	receiveBuffer    int
	setReceiveBuffer func(bytes int) error
	openWindow       func(bytes int) error
}

// channel is one SPICE channel after both link stages: what the relay works on.
type channel struct {
	ref          string
	kind         spiceproto.ChannelType
	id           uint8
	connectionID uint32
	client       leg
	server       leg
	// mode is passthrough for every channel but display.
	mode pacer.Mode
	// serverCaps are the hypervisor's channel capability words.
	serverCaps spiceproto.Caps
	// fullHeaders: the messages of both legs have full headers.
	fullHeaders bool
	log         *zap.Logger
	stats       *Stats
	trace       ChannelTrace      // nil: not traced
	guard       *firewall.Channel // nil: no firewall
	// closedBy is the leg that ended the relay in good order, once it has ended:
	// client or hypervisor, or empty.
	closedBy string
}

// framer returns one at the start of either leg's messages.
func (ch *channel) framer() spiceproto.Framer { return spiceproto.Framer{Full: ch.fullHeaders} }
