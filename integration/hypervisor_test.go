package integration

import (
	"crypto/x509/pkix"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/guest"
	"spicepacer/spiceproto"
)

// The subject of the hypervisor's certificate, and how host_subject names it.
var hypervisorName = pkix.Name{Country: []string{"US"}, Organization: []string{"Lab, Inc."}, CommonName: "hv1"}

const hostSubject = `C=US,O=Lab\, Inc.,CN=hv1`

// hypervisorCase is a way to reach a hypervisor. reason is what the log says of a
// failure, empty if the guest answers a key.
type hypervisorCase struct {
	name   string
	change func(*target)
	reason string
}

// A hypervisor that takes display and inputs over TLS only. One proxy meets it in
// all ways that work and fails in all that do not, which are told to the client as a
// link error and to the operator with peer and reason.
func TestHypervisorTLS(t *testing.T) {
	l := newLab(t, "0:0")
	ca, stranger := newAuthority(t, "Hypervisors"), newAuthority(t, "Strangers")
	dir := t.TempDir()
	ca.issue(dir, hypervisorName, l.link.Server().Addr())
	l.boot(l.activity("idle"), guest.QEMU{
		SpicePort: qemuPort, TLSPort: qemuTLSPort, TLSDir: dir,
		Args: []string{"-spice", "tls-channel=display,tls-channel=inputs"},
	})
	cases := []hypervisorCase{
		{"secure port only", func(t *target) { t.InsecurePort = 0 }, ""},
		{"another subject", func(t *target) { t.InsecurePort, t.HostSubject = 0, "O=Lab,CN=hv2" },
			"rejecting certificate: pinned host_subject does not match subject"},
		{"another authority", func(t *target) { t.InsecurePort, t.CACert = 0, stranger.pem }, "certificate signed by unknown authority"},
		{"wrong ticket", func(t *target) { t.Ticket = "guess" }, "authentication: spice link: permission denied"},
		{"port without a listener", func(t *target) { t.InsecurePort = 5999 }, "127.0.0.1:5999 (plaintext): dial tcp 127.0.0.1:5999: connect: connection refused"},
		{"no secure port", func(t *target) { t.SecurePort = 0 }, "and the target has no secure port"},
		{"plaintext or TLS as asked", func(*target) {}, ""},
	}
	var targets []target
	for _, c := range cases {
		to := target{
			Token: c.name, Name: c.name, Hypervisor: "127.0.0.1", InsecurePort: qemuPort, SecurePort: qemuTLSPort,
			Ticket: ticket, CACert: ca.pem, HostSubject: hostSubject,
		}
		c.change(&to)
		targets = append(targets, to)
	}
	proxyCA := newAuthority(t, "Proxies")
	id := proxyCA.issue(l.dir, pkix.Name{CommonName: "proxy"}, l.link.Server().Addr())
	p := l.startProxy("adaptive", id, targets...)
	for _, c := range cases {
		t.Log(c.name)
		_, err := client.Run(l.patient(), l.headless(proxyCA, c.name))
		switch {
		case c.reason != "":
			p.wantRefusal(err, c.reason)
		case err != nil:
			t.Errorf("%s: client: %v, want an answered key", c.name, err)
		}
	}
	for _, channel := range []string{"display", "inputs"} {
		p.wantLog("hypervisor requires TLS; retrying backend connection over the secure port", func(e entry) bool { return e.Channel == channel })
	}
	for channel, secure := range map[string]bool{"main": false, "cursor": false, "display": true, "inputs": true} {
		p.wantLog("hypervisor connection successful; handing off to relay", func(e entry) bool {
			return e.Hypervisor == "plaintext or TLS as asked" && e.Channel == channel && e.TLS == secure
		})
	}
}

// wantRefusal checks that a client got a link error and that the log says why.
func (p *proxy) wantRefusal(err error, reason string) {
	p.l.t.Helper()
	if !errors.Is(err, spiceproto.LinkErrError) {
		p.l.t.Errorf("client: %v, want %v, as the log should say %q", err, spiceproto.LinkErrError, reason)
	}
	e := p.wantLog("hypervisor connection failed", func(e entry) bool { return strings.Contains(e.Reason, reason) })
	if e.Level != "warn" || e.Peer == "" {
		p.l.t.Errorf("log entry %+v, want a warning with the peer", e)
	}
}

// A hypervisor on the same host that serves a Unix socket.
func TestHypervisorUnixSocket(t *testing.T) {
	l := newLab(t, "0:0")
	socket := filepath.Join(t.TempDir(), "spice")
	l.boot(l.activity("idle"), guest.QEMU{Unix: socket})
	ca := newAuthority(t, "Proxies")
	id := ca.issue(l.dir, pkix.Name{CommonName: "proxy"}, l.link.Server().Addr())
	missing := socket + ".missing"
	p := l.startProxy("adaptive", id,
		target{Token: token, Name: "local", Hypervisor: "unix:" + socket, Ticket: ticket},
		target{Token: "missing", Name: "missing", Hypervisor: "unix:" + missing, Ticket: ticket})

	_, err := client.Run(l.patient(), l.headless(ca, "missing"))
	p.wantRefusal(err, missing)
	if _, err := client.Run(l.patient(), l.headless(ca, token)); err != nil {
		t.Errorf("client: %v, want an answered key", err)
	}
}
