package session

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"spicepacer/session/authz"
)

// backendTLS makes the TLS configuration for a target. A pin or certificates
// that cannot be used are an error even when plaintext would do: the operator
// asked for more than would be checked.
func backendTLS(t authz.Target, pools *rootPools) (*tls.Config, error) {
	pin, err := authz.ParseSubject(t.HostSubject)
	if err != nil {
		return nil, fmt.Errorf("refusing to connect with a malformed host_subject: %w", err)
	}
	roots, err := pools.of(t)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", t.Name, err)
	}
	v := verifier{roots: roots, pin: pin}
	if roots == nil && pin.IsZero() {
		v.name = t.Hypervisor
	}
	return &tls.Config{
		ServerName: t.Hypervisor,
		MinVersion: tls.VersionTLS12,
		// The standard check cannot forgive a name; verifier makes up for it.
		InsecureSkipVerify: true,
		VerifyConnection:   v.verify,
	}, nil
}

// verifier checks a hypervisor's certificate the way SPICE clients do: given
// certificates replace the system's, and either these or a pinned subject stand
// in for the name check, as hypervisor certificates seldom name the address
// that is dialled.
type verifier struct {
	roots *x509.CertPool // nil: the system's
	name  string         // empty: a name mismatch is forgiven
	pin   authz.Subject
}

func (v verifier) verify(state tls.ConnectionState) error {
	leaf := state.PeerCertificates[0]
	if leaf.Version < 3 {
		return errOldCertificate
	}
	options := x509.VerifyOptions{Roots: v.roots, DNSName: v.name, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	if _, err := leaf.Verify(options); err != nil {
		return err
	}
	if difference := v.pin.Mismatch(leaf); difference != "" {
		return &SubjectError{Subject: authz.SubjectText(leaf), Difference: difference}
	}
	return nil
}

// errOldCertificate refuses what Kerbside's proxy refuses: certificates without
// the extensions that say what they are for (RFC 5280, 4.1.2.1).
var errOldCertificate = errors.New("certificate is older than X.509 version 3")

// SubjectError tells that a hypervisor's certificate is trusted but not the
// pinned one.
type SubjectError struct {
	// Subject is the certificate's, in the order and form a pin has.
	Subject string
	// Difference tells the first attribute that is another.
	Difference string
}

func (e *SubjectError) Error() string {
	return fmt.Sprintf("TLS: rejecting certificate: pinned host_subject does not match subject %q: %s", e.Subject, e.Difference)
}
