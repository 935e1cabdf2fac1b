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
	"os"
	"path/filepath"
	"time"
)

// LoadCertificate reads a PEM chain and its key. Errors name the file.
func LoadCertificate(certFile, keyFile string) (tls.Certificate, error) {
	chain, err := os.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read certificate key: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate %s with key %s: %w", certFile, keyFile, err)
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

// SelfSigned returns the certificate kept in dir, and makes it when there is
// none yet. Clients need a copy of self-signed.pem as their CA file.
func SelfSigned(dir string) (tls.Certificate, error) {
	certFile, keyFile := filepath.Join(dir, selfSignedCert), filepath.Join(dir, selfSignedKey)
	pair, err := LoadCertificate(certFile, keyFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return pair, err
	}
	if err := makeSelfSigned(dir, certFile, keyFile); err != nil {
		return tls.Certificate{}, fmt.Errorf("make self-signed certificate: %w", err)
	}
	return LoadCertificate(certFile, keyFile)
}

func makeSelfSigned(dir, certFile, keyFile string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := selfSignedTemplate(time.Now())
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(keyFile, "PRIVATE KEY", keyDER, 0o600); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", cert, 0o644)
}

// selfSignedTemplate names this host the ways a lab client would.
func selfSignedTemplate(now time.Time) *x509.Certificate {
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
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
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
