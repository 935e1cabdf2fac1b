package session

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSelfSignedIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, err := SelfSigned(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := SelfSigned(dir)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Certificate[0]) != string(second.Certificate[0]) {
		t.Error("the second call made another certificate")
	}
	if info, err := os.Stat(filepath.Join(dir, selfSignedKey)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v; want mode 0600", info.Mode(), err)
	}
	leaf, err := x509.ParseCertificate(first.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: name}); err != nil {
			t.Errorf("a client with a copy, at %s: %v", name, err)
		}
	}
}

func TestSelfSignedErrorsNameThePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := SelfSigned(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("state_dir that is a file: %v", err)
	}
}

func TestLoadCertificateErrorsNameThePath(t *testing.T) {
	dir := t.TempDir()
	if _, err := SelfSigned(dir); err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(dir, selfSignedCert), filepath.Join(dir, selfSignedKey)
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][2]string{
		"no certificate":    {dir + "/none.pem", key},
		"no key":            {cert, dir + "/none.pem"},
		"empty certificate": {empty, key},
		"empty key":         {cert, empty},
		"swapped":           {key, cert},
	} {
		bad := files[0]
		if bad == cert {
			bad = files[1]
		}
		if _, err := LoadCertificate(files[0], files[1]); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: err = %v, want the path %s", name, err, bad)
		}
	}
	if _, err := LoadCertificate(cert, key); err != nil {
		t.Error(err)
	}
}
