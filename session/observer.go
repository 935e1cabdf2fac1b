package session

import (
	"fmt"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// Observer is told what becomes of connections, for metrics. Calls come from
// many goroutines and must not block.
type Observer interface {
	// Connection reports, once for every accepted socket, what it came to:
	// at the start of its relay, else at its end. channel is 0 when the
	// connection ended before its link message.
	Connection(channel spiceproto.ChannelType, r Result)
	// ConnectionStarted and ConnectionEnded enclose every connection from the
	// end of its TLS handshake on; those that are only redirected have neither.
	ConnectionStarted()
	ConnectionEnded()
	// ChannelAuthorized reports a target, before the hypervisor is contacted.
	ChannelAuthorized()
	// ChannelStarted and ChannelEnded enclose a relay.
	ChannelStarted(ChannelInfo)
	ChannelEnded(ChannelInfo)
}

// ChannelInfo describes a channel that is being relayed.
type ChannelInfo struct {
	// Ref is the connection's reference in the log.
	Ref  string
	Type spiceproto.ChannelType
	ID   uint8
	// Mode is passthrough for every channel but display.
	Mode pacer.Mode
	// FullHeaders: the client has no mini header.
	FullHeaders bool
	Stats       *Stats
}

// Result is what an accepted connection came to.
type Result uint8

const (
	// Relayed: both link stages succeeded.
	Relayed Result = iota
	// Redirected: the insecure port answered NEED_SECURED.
	Redirected
	// Limited: closed because a limit was reached, at once or, for its token's,
	// behind its link stage.
	Limited
	// ProxyHeaderFailed: a balancer's PROXY protocol header was missing, wrong or
	// late.
	ProxyHeaderFailed
	// TLSFailed: the client's TLS handshake failed or took too long.
	TLSFailed
	// LinkFailed: the client's link stage broke a rule or took too long.
	LinkFailed
	// RegisterFailed: the registrar could not enter the channel.
	RegisterFailed
	// Denied: the authorizer refused the token.
	Denied
	// AuthorizerFailed: the authorizer could not decide.
	AuthorizerFailed
	// BackendFailed: no hypervisor could be reached.
	BackendFailed
	// Interrupted: the proxy stopped, or the session was terminated, during the
	// handshake.
	Interrupted
)

var resultNames = [...]string{
	"relayed", "redirected", "limited", "proxy_header_failed", "tls_failed", "link_failed",
	"register_failed", "denied", "authorizer_failed", "backend_failed", "interrupted",
}

// String returns the result's metric label.
func (r Result) String() string {
	if int(r) < len(resultNames) {
		return resultNames[r]
	}
	return fmt.Sprintf("result-%d", uint8(r))
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Connection(spiceproto.ChannelType, Result) {}
func (nobody) ConnectionStarted()                        {}
func (nobody) ConnectionEnded()                          {}
func (nobody) ChannelAuthorized()                        {}
func (nobody) ChannelStarted(ChannelInfo)                {}
func (nobody) ChannelEnded(ChannelInfo)                  {}
