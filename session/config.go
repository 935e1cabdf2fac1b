package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"spicepacer/pacer"
	"spicepacer/session/firewall"
	"spicepacer/session/sockopt"
	"spicepacer/spiceproto"
)

// InsecureMode says what the plaintext port is for.
type InsecureMode uint8

const (
	// Redirect answers every link message with NEED_SECURED: clients then open
	// the channel again over TLS.
	Redirect InsecureMode = iota
	// ServePlain relays without TLS, for labs only.
	ServePlain
)

// Config is everything a Server needs to know. DefaultConfig gives the usual
// values.
type Config struct {
	// Address is what both listeners bind to.
	Address netip.Addr
	// SecurePort and InsecurePort are TCP ports; 0 switches a listener off.
	SecurePort, InsecurePort int
	InsecureMode             InsecureMode
	// Certificate is what the secure port shows; unused when that is off.
	Certificate tls.Certificate
	// Connections bounds the client sockets held at a time; HandshakesPerAddress
	// those of one address (one /64 of IPv6) that have not reached their relay.
	Connections, HandshakesPerAddress int
	// ChannelsPerToken bounds the channels that one token has at a time; 0: no bound.
	ChannelsPerToken int
	// TokenFailures is how many tokens of one address (one /64 of IPv6) may be
	// refused in a minute before it is turned away.
	TokenFailures int
	// ProxyProtocolFrom are the balancers, whose connections begin with a PROXY
	// protocol header of version 1 or 2 that names the client.
	ProxyProtocolFrom []netip.Prefix
	Timeouts          Timeouts
	Firewall          Firewall
	Pacing            Pacing
}

// Firewall says what is judged on channels, and which may be opened.
type Firewall struct {
	// Config's mode, unless it is Auto, is stronger than an authorizer's.
	firewall.Config
	// Permitted are the channel types a client may open; empty: all, or those the
	// authorizer permits.
	Permitted []spiceproto.ChannelType
}

// Timeouts bound every stage before the relay, and the stop.
type Timeouts struct {
	// ProxyHeader bounds the PROXY protocol header of a balancer.
	ProxyHeader time.Duration
	// TLSAccept bounds the TLS handshake of a client.
	TLSAccept time.Duration
	// Redirect bounds a connection to the insecure port in Redirect mode.
	Redirect time.Duration
	// Link bounds the link message; again the reply and the ticket; and again
	// the result.
	Link time.Duration
	// Backend bounds one attempt to reach a hypervisor, its link stage included.
	Backend time.Duration
	// Idle is how long a session may last without a byte on any of its channels;
	// 0: for ever.
	Idle time.Duration
	// Drain is how long Serve waits for its connections after it was told to
	// stop.
	Drain time.Duration
}

// Pacing configures the relay of display channels.
type Pacing struct {
	Mode pacer.Mode
	// QueueTarget is the standing queue allowed in the client leg on top of the
	// path's bandwidth-delay product.
	QueueTarget time.Duration
	// QueueBytes bounds the display queue of one channel.
	QueueBytes int
	// Reorder lets newer updates take the place of older ones in the display
	// queue of adaptive mode, and small ones go first, where that is provably
	// invisible.
	Reorder bool
	// Compression is the image compression asked of every hypervisor that can
	// choose; 0 leaves that to the client. CompressionAuto, with Reorder, asks
	// for AUTO_LZ while the link is the limit, and else for the client's choice.
	Compression     spiceproto.Compression
	CompressionAuto bool
	// StallTimeout is how long a client may acknowledge nothing while bytes are
	// outstanding.
	StallTimeout time.Duration
	// RawValve shuts the read valve by bytes alone instead of after whole
	// sweeps. It starves regions of the picture and exists to show that.
	RawValve bool
	// PassthroughPercent of the sessions, 0 to 100, are left unpaced.
	PassthroughPercent int
	Client             ClientOptions
	Backend            BackendOptions
}

// ClientOptions are socket options of the client leg; zero leaves the kernel's
// default.
type ClientOptions struct {
	CongestionControl string
	NotSentLowat      int
}

// Values of BackendOptions other than a number of bytes.
const (
	OptionAuto = 0
	OptionOff  = -1
)

// rtoMax keeps a link of several seconds of outage from staying silent for as
// long again: 5.3 s instead of 9.7 s without progress after 5 s.
const rtoMax = time.Second

// BackendOptions are limits of a hypervisor leg with a read valve: bytes, OptionAuto or
// OptionOff.
type BackendOptions struct{ ReceiveBuffer, MaxSegment int }

const (
	// autoReceiveBuffer and autoMaxSegment together leave about 30 kB in the
	// server's socket, measured on loopback with CUBIC; either alone leaves
	// hundreds.
	autoReceiveBuffer = 4096
	autoMaxSegment    = 1448
)

// DefaultConfig returns the values of the configuration contract, with both
// listeners off.
func DefaultConfig() Config {
	return Config{
		Address:              netip.IPv4Unspecified(),
		Connections:          1000,
		HandshakesPerAddress: 32,
		TokenFailures:        60,
		Timeouts: Timeouts{
			ProxyHeader: 5 * time.Second,
			TLSAccept:   10 * time.Second,
			Redirect:    10 * time.Second,
			Link:        30 * time.Second,
			Backend:     30 * time.Second,
			Idle:        15 * time.Minute,
			Drain:       10 * time.Second,
		},
		Firewall: Firewall{Config: firewall.DefaultConfig()},
		Pacing: Pacing{
			Mode:        pacer.Adaptive,
			QueueTarget: 10 * time.Millisecond,
			QueueBytes:  4 << 20,
			Reorder:     true, CompressionAuto: true,
			StallTimeout: 30 * time.Second,
		},
	}
}

func (c Config) validate() error {
	if !c.Address.IsValid() {
		return errors.New("no listen address")
	}
	for _, port := range []int{c.SecurePort, c.InsecurePort} {
		if port < 0 || port > 65535 {
			return fmt.Errorf("port %d outside 0..65535", port)
		}
	}
	switch {
	case c.SecurePort == 0 && c.InsecurePort == 0:
		return errors.New("both listeners are off")
	case c.SecurePort != 0 && len(c.Certificate.Certificate) == 0:
		return errors.New("no certificate for the secure port")
	case c.ChannelsPerToken < 0:
		return errors.New("limit of channels of one token is negative")
	case c.Connections < 1 || c.HandshakesPerAddress < 1 || c.TokenFailures < 1:
		return errors.New("connection limits must be at least 1")
	}
	return nil
}

// paced tells whether a channel's flow is taken in hand.
func paced(t spiceproto.ChannelType, m pacer.Mode) bool {
	return t == spiceproto.ChannelDisplay && m != pacer.Passthrough
}

// hasReadValve tells whether a channel's hypervisor leg is read only as the
// client's link drains. Withhold mode holds the server by ACKs alone.
func hasReadValve(t spiceproto.ChannelType, m pacer.Mode) bool {
	return t == spiceproto.ChannelDisplay && m == pacer.Adaptive
}

// sockopt returns the limits for the socket of such a leg.
func (o BackendOptions) sockopt() sockopt.Backend {
	resolve := func(v, auto int) int {
		switch v {
		case OptionAuto:
			return auto
		case OptionOff:
			return 0
		}
		return v
	}
	return sockopt.Backend{
		ReceiveBuffer: resolve(o.ReceiveBuffer, autoReceiveBuffer),
		MaxSegment:    resolve(o.MaxSegment, autoMaxSegment),
	}
}
