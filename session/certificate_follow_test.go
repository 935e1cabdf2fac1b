package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/spiceproto"
)

// install writes a certificate where files says, the key only if it is wanted.
func (f CertificateFiles) install(t *testing.T, c issued, key bool) {
	t.Helper()
	if err := os.WriteFile(f.Cert, []byte(c.pem), 0o600); err != nil {
		t.Fatal(err)
	}
	if !key {
		return
	}
	der, err := x509.MarshalPKCS8PrivateKey(c.pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCertificateIsFollowed looks at files that change, in a bubble whose clock
// stands at the year 2000.
func TestCertificateIsFollowed(t *testing.T) {
	dir := t.TempDir()
	files := CertificateFiles{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		first, second := issueUntil(t, nil, "first", now.Add(time.Hour)), issueUntil(t, nil, "second", now.Add(time.Hour))
		expired := issueUntil(t, nil, "expired", now.Add(-time.Second))
		files.install(t, first, true)
		s := idleServer(t, func(c *Config) { c.Certificate = first.pair })
		core, logs := observer.New(zap.InfoLevel)
		s.log = zap.New(core)
		ctx, cancel := context.WithCancel(t.Context())
		hangup := make(chan os.Signal)
		go s.FollowCertificate(ctx, files, hangup)
		for _, step := range []struct {
			what    string
			install func()
			asked   bool
			shown   issued
			message string // of the one line, if any
		}{
			{"nothing new", func() {}, false, first, ""},
			{"key not there yet", func() { files.install(t, second, false) }, false, first, "certificate not reloaded; keeping the old one"},
			{"still not there", func() {}, false, first, ""},
			{"asked for", func() {}, true, first, "certificate not reloaded; keeping the old one"},
			{"complete", func() { files.install(t, second, true) }, false, second, "certificate reloaded"},
			{"the same", func() {}, false, second, ""},
			{"the same, asked for", func() {}, true, second, "certificate reloaded"},
			{"expired", func() { files.install(t, expired, true) }, false, second, "certificate not reloaded; keeping the old one"},
			{"gone", func() { os.Remove(files.Key) }, false, second, "certificate not reloaded; keeping the old one"},
			{"back", func() { files.install(t, first, true) }, false, first, "certificate reloaded"},
		} {
			step.install()
			if step.asked {
				hangup <- os.Interrupt
			} else {
				time.Sleep(certificateLooks)
			}
			synctest.Wait()
			if got := s.certificate.Load(); string(got.Certificate[0]) != string(step.shown.pair.Certificate[0]) {
				t.Errorf("%s: another certificate is shown", step.what)
			}
			lines := logs.TakeAll()
			if len(lines) > 1 || len(lines) == 0 && step.message != "" || len(lines) == 1 && lines[0].Message != step.message {
				t.Errorf("%s: log %v, want %q", step.what, lines, step.message)
			}
			if len(lines) == 1 && lines[0].ContextMap()["cert"] != files.Cert {
				t.Errorf("%s: no path in %v", step.what, lines[0].ContextMap())
			}
		}
		cancel()
	})
}

// TestNewCertificateKeepsSessions replaces it under a relayed channel.
func TestNewCertificateKeepsSessions(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), nil)
	old := p.tlsClient()
	old.open(linkMess(spiceproto.ChannelInputs))
	next := issue(t, nil, "proxy")
	files := CertificateFiles{filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")}
	files.install(t, next, true)
	f := certificateFollower{server: p.Server, files: files}
	f.look(false)
	p.trust = &tls.Config{RootCAs: next.pool, ServerName: "proxy"}
	c := p.tlsClient()
	c.open(linkMess(spiceproto.ChannelCursor))
	c.wantEcho()
	old.wantEcho()
}
