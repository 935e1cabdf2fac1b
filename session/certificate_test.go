package session

import (
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// selfSigned makes or reads the certificate in dir.
func selfSigned(t *testing.T, dir, listen string) *x509.Certificate {
	t.Helper()
	files, err := SelfSigned(dir, netip.MustParseAddr(listen))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := files.Load()
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestSelfSignedIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first := selfSigned(t, dir, "0.0.0.0")
	if second := selfSigned(t, dir, "192.0.2.9"); !first.Equal(second) {
		t.Error("the second call made another certificate")
	}
	if info, err := os.Stat(filepath.Join(dir, selfSignedKey)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v; want mode 0600", info.Mode(), err)
	}
}

// TestSelfSignedNamesThisHost the ways a client with a copy may reach it.
func TestSelfSignedNamesThisHost(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"localhost", "127.0.0.1", "::1", host}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range interfaces {
		if n := a.(*net.IPNet); !n.IP.IsLinkLocalUnicast() {
			names = append(names, n.IP.String())
		}
	}
	for listen, own := range map[string][]string{
		"0.0.0.0": nil, "::": nil, "192.0.2.9": {"192.0.2.9"}, "2001:db8::9": {"2001:db8::9"},
	} {
		leaf := selfSigned(t, t.TempDir(), listen)
		pool := x509.NewCertPool()
		pool.AddCert(leaf)
		for _, name := range append(own, names...) {
			if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: name}); err != nil {
				t.Errorf("listening on %s, at %s: %v", listen, name, err)
			}
		}
		for _, a := range leaf.IPAddresses {
			if a.IsUnspecified() || a.IsLinkLocalUnicast() {
				t.Errorf("listening on %s: names %v", listen, a)
			}
		}
	}
}

func TestSelfSignedErrorsNameThePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SelfSigned(file, netip.Addr{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("state_dir that is a file: %v", err)
	}
}

func TestCertificateErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	good, err := SelfSigned(dir, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]CertificateFiles{
		"no certificate":    {dir + "/none.pem", good.Key},
		"no key":            {good.Cert, dir + "/none.pem"},
		"empty certificate": {empty, good.Key},
		"empty key":         {good.Cert, empty},
		"swapped":           {good.Key, good.Cert},
	} {
		bad := files.Cert
		if bad == good.Cert {
			bad = files.Key
		}
		if _, err := files.Load(); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: err = %v, want the path %s", name, err, bad)
		}
	}
	if _, err := good.Load(); err != nil {
		t.Error(err)
	}
}
