package session

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// CertificateFiles are the paths of a PEM chain and of the key of its first
// certificate.
type CertificateFiles struct{ Cert, Key string }

// Load reads the certificate. Errors name the file.
func (f CertificateFiles) Load() (tls.Certificate, error) {
	chain, key, err := f.read()
	if err != nil {
		return tls.Certificate{}, err
	}
	return f.parse(chain, key)
}

func (f CertificateFiles) read() (chain, key []byte, err error) {
	if chain, err = os.ReadFile(f.Cert); err != nil {
		return nil, nil, fmt.Errorf("read certificate (tls.cert; tls.self_signed makes one): %w", err)
	}
	if key, err = os.ReadFile(f.Key); err != nil {
		return nil, nil, fmt.Errorf("read certificate key (tls.key): %w", err)
	}
	return chain, key, nil
}

func (f CertificateFiles) parse(chain, key []byte) (tls.Certificate, error) {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate %s with key %s: %w", f.Cert, f.Key, err)
	}
	return pair, nil
}

// Names of the files SelfSigned keeps.
const (
	selfSignedCert = "self-signed.pem"
	selfSignedKey  = "self-signed-key.pem"
)

// selfSignedLife is long because clients that trust this certificate have a
// copy of it.
const selfSignedLife = 10 * 365 * 24 * time.Hour

// SelfSignedFiles returns the paths that SelfSigned keeps its certificate at in
// dir, whether or not there is one yet.
func SelfSignedFiles(dir string) CertificateFiles {
	return CertificateFiles{filepath.Join(dir, selfSignedCert), filepath.Join(dir, selfSignedKey)}
}

// SelfSigned returns the files of the certificate kept in dir, and makes it when
// there is none yet: for listen, what the listeners bind to, and for this host's
// names and addresses. Clients need a copy of self-signed.pem as their CA file.
func SelfSigned(dir string, listen netip.Addr) (CertificateFiles, error) {
	files := SelfSignedFiles(dir)
	if _, err := files.Load(); !errors.Is(err, fs.ErrNotExist) {
		return files, err
	}
	if err := makeSelfSigned(dir, files, listen); err != nil {
		return files, fmt.Errorf("make self-signed certificate: %w", err)
	}
	return files, nil
}

func makeSelfSigned(dir string, files CertificateFiles, listen netip.Addr) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := selfSignedTemplate(time.Now(), certifiedAddresses(listen))
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(files.Key, "PRIVATE KEY", keyDER, 0o600); err != nil {
		return err
	}
	return writePEM(files.Cert, "CERTIFICATE", cert, 0o644)
}

// selfSignedTemplate names this host the ways a lab client would.
func selfSignedTemplate(now time.Time, addresses []net.IP) *x509.Certificate {
	names := []string{"localhost"}
	if host, err := os.Hostname(); err == nil && host != "localhost" {
		names = append(names, host)
	}
	return &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{Organization: []string{"spicepacer"}, CommonName: names[len(names)-1]},
		NotBefore:             now.Add(-time.Hour), // clocks of clients differ
		NotAfter:              now.Add(selfSignedLife),
		DNSNames:              names,
		IPAddresses:           addresses,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
}

// certifiedAddresses are those a client may reach the proxy at: the loopback's,
// listen if it is one, and the host's own but for link-local ones, which need a zone.
func certifiedAddresses(listen netip.Addr) []net.IP {
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	add := func(a net.IP) {
		known := slices.ContainsFunc(addresses, a.Equal)
		if a != nil && !known && !a.IsUnspecified() && !a.IsLinkLocalUnicast() {
			addresses = append(addresses, a)
		}
	}
	add(listen.WithZone("").AsSlice())
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return addresses // as good as can be known
	}
	for _, a := range interfaces {
		if n, ok := a.(*net.IPNet); ok {
			add(n.IP)
		}
	}
	return addresses
}

// writePEM writes beside the file and renames, so that a crash leaves no half
// of one.
func writePEM(path, kind string, der []byte, mode fs.FileMode) error {
	data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path+".new", data, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
