package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs the certificates of a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string // the certificate
}

// identity is a certificate with its key, as files.
type identity struct{ cert, key string }

// newAuthority makes a certificate that signs itself.
func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t}
	a.key = a.newKey()
	template := newTemplate(pkix.Name{Organization: []string{name}})
	template.IsCA, template.BasicConstraintsValid = true, true
	a.cert = a.sign(template, template, &a.key.PublicKey)
	a.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
	return a
}

// issue makes a certificate and writes it, its key and the authority's own in the
// files that QEMU looks for in its x509-dir.
func (a *authority) issue(dir string, subject pkix.Name, addr netip.Addr) *identity {
	a.t.Helper()
	key := a.newKey()
	template := newTemplate(subject)
	template.IPAddresses = []net.IP{addr.AsSlice()}
	cert := a.sign(template, a.cert, &key.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	id := &identity{cert: filepath.Join(dir, "server-cert.pem"), key: filepath.Join(dir, "server-key.pem")}
	a.write(id.cert, "CERTIFICATE", cert.Raw)
	a.write(id.key, "PRIVATE KEY", der)
	a.write(filepath.Join(dir, "ca-cert.pem"), "CERTIFICATE", a.cert.Raw)
	return id
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

func (a *authority) write(path, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func newTemplate(subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      subject,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
}
