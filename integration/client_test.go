package integration

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"spicepacer/cmd/spicebench/client"
)

// headless configures the bench's client for one press through the proxy, whose
// certificate the authority has signed.
func (l *lab) headless(ca *authority, token string) client.Config {
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	cfg := client.DefaultConfig()
	cfg.Addr = l.clientAddr(securePort)
	cfg.TLS = &tls.Config{RootCAs: roots}
	cfg.Password = token
	cfg.DialContext = dialer(l.link.Client())
	cfg.Presses, cfg.Warmup = 1, time.Second
	cfg.Timeout = patience
	cfg.Logf = l.t.Logf
	return cfg
}
