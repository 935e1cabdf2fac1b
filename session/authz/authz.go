// Package authz decides which client may reach which hypervisor.
//
// The client's SPICE password is a token. An Authorizer turns it into a Target,
// or refuses with *Denied; any other error means that no decision was possible.
package authz

import (
	"context"
	"crypto/x509"
	"errors"
	"net/netip"
	"strings"

	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// Authorizer is asked once for every channel a client opens, after the ticket
// was decrypted. It bounds its own time and is safe for concurrent use.
type Authorizer interface {
	Authorize(ctx context.Context, r Request) (Target, error)
}

// Registrar keeps a record of channels outside the proxy. Like an Authorizer it
// bounds its own time and is safe for concurrent use.
type Registrar interface {
	// Register enters a channel whose link message was accepted, before that is
	// answered. After an error the connection is closed without an answer, and
	// nothing more is told about it.
	Register(ctx context.Context, c Channel) error
	// Audit adds a line to the log of the target's console.
	Audit(ctx context.Context, c Channel, t Target, message string) error
	// Deregister comes once for every channel that was entered, at its end and
	// after its last Audit.
	Deregister(ctx context.Context, c Channel) error
}

// Channel is what a client's link message tells, and whose it is.
type Channel struct {
	// Ref identifies the connection in logs: a version 4 UUID.
	Ref    string
	Client netip.AddrPort
	// ConnectionID is 0 for a session's main channel.
	ConnectionID uint32
	Type         spiceproto.ChannelType
	ID           uint8
}

// Request is a channel that asks for its target.
type Request struct {
	Channel
	// Token is the password the client gave, without the trailing NUL.
	Token Secret
}

// Target is a hypervisor's SPICE server.
type Target struct {
	// Name is shown in logs.
	Name string
	// Hypervisor is a host name, an IP address, or unix:/path.
	Hypervisor string
	// InsecurePort and SecurePort are the plaintext and the TLS port; 0: none.
	InsecurePort, SecurePort uint16
	// Ticket is the hypervisor's own SPICE password; it may be empty.
	Ticket Secret
	// CACert holds PEM certificates that alone are trusted for the TLS port;
	// empty: the system's roots.
	CACert string
	// HostSubject pins the subject of the hypervisor's certificate; see
	// ParseSubject.
	HostSubject string
	// Source and UUID name the console in a Registrar's log.
	Source, UUID string
	// Firewall is what becomes of messages the firewall objects to; Auto from an
	// authorizer that has no say in it.
	Firewall firewall.Mode
	// SessionID is what ends all channels of a client's session together; empty
	// for an authorizer that knows no sessions.
	SessionID string
}

const unixPrefix = "unix:"

// UnixPath returns the socket's path when the hypervisor is reached through a
// unix socket.
func (t Target) UnixPath() (string, bool) { return strings.CutPrefix(t.Hypervisor, unixPrefix) }

// Roots returns the certificates of CACert, nil when it is empty. A literal
// backslash-n counts as a newline, as libvirt-style configuration has it.
func (t Target) Roots() (*x509.CertPool, error) {
	if t.CACert == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(strings.ReplaceAll(t.CACert, `\n`, "\n"))) {
		return nil, errors.New("no certificate in ca_cert")
	}
	return pool, nil
}

// Denied is a refusal. Reason is for the log; the client learns only
// PERMISSION_DENIED.
type Denied struct{ Reason string }

func (d *Denied) Error() string { return "denied: " + d.Reason }

// What is told of a channel type that a firewall policy keeps out: to the client's
// denial, and to the console's log before that.
const (
	NotPermitted      = "channel type not permitted by firewall policy"
	AuditNotPermitted = "Channel type not permitted by firewall policy"
)

// Secret is text that formats as a placeholder, whatever the verb or encoder:
// convert it to a string to use it.
type Secret string

const hidden = "(secret)"

func (Secret) String() string               { return hidden }
func (Secret) GoString() string             { return hidden }
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
