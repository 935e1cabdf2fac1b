package ab

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
	"time"
)

// certificate is the proxy's, in two PEM files; the client trusts the first.
type certificate struct{ cert, key string }

// makeCertificate makes a certificate for the address that signs itself.
func makeCertificate(dir string, addr netip.Addr) (certificate, error) {
	c := certificate{cert: filepath.Join(dir, "proxy.pem"), key: filepath.Join(dir, "proxy-key.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "spicebench"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(30 * 24 * time.Hour),
		IPAddresses:           []net.IP{addr.AsSlice()},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return c, err
	}
	if err := writePEM(c.cert, "CERTIFICATE", der); err != nil {
		return c, err
	}
	if der, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return c, err
	}
	return c, writePEM(c.key, "PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
