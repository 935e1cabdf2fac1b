package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"debug/buildinfo"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"spicepacer/cmd/spicebench/process"
	"spicepacer/session"
)

// Passwords: ticket is the hypervisor's, the tokens lead to where their names say.
const (
	ticket       = "spicebench-load"
	tokenServed  = "served"
	tokenFailing = "failing"
	tokenDead    = "dead"
)

// Files session.SelfSigned keeps.
const (
	certFile = "self-signed.pem"
	keyFile  = "self-signed-key.pem"
)

// certificate makes a certificate in dir that proxy and hypervisor share, and
// returns the configuration of a server with it and of a client that trusts it.
func certificate(dir string) (server, client *tls.Config, err error) {
	if _, err := session.SelfSigned(dir, netip.AddrFrom4([4]byte{127, 0, 0, 1})); err != nil {
		return nil, nil, err
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, certFile), filepath.Join(dir, keyFile))
	if err != nil {
		return nil, nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(pair.Leaf)
	server = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
	return server, &tls.Config{RootCAs: trusted, ServerName: "localhost", MinVersion: tls.VersionTLS13}, nil
}

// ports are those on 127.0.0.1 that a run uses: the proxy's two and the
// hypervisors'.
type ports struct{ spice, metrics, served, failing, dead int }

const proxyConfig = `listen: {address: 127.0.0.1, secure_port: %d, insecure_port: 0}
tls: {self_signed: true}
state_dir: %q
log: {level: error}
metrics: {port: %d}
limits: {connections: %d, handshakes_per_address: %[4]d, channels_per_token: 0}
pacing: {mode: %s}
control:
  kind: static
  targets:
`

// configFor returns the proxy's configuration.
func (o options) configFor(dir string, p ports) string {
	// All that can be open at a time, twice over.
	limit := 2 * (o.sessions*len(kinds) + maxPending)
	text := fmt.Sprintf(proxyConfig, p.spice, dir, p.metrics, limit, o.mode)
	for _, target := range []struct {
		token string
		port  int
	}{{tokenServed, p.served}, {tokenFailing, p.failing}, {tokenDead, p.dead}} {
		where := fmt.Sprintf("insecure_port: %d", target.port)
		if o.hypervisorTLS {
			where = fmt.Sprintf("secure_port: %d, ca_cert: %q", target.port, "file:"+filepath.Join(dir, certFile))
		}
		text += fmt.Sprintf("    - {token: %s, name: %[1]s, hypervisor: 127.0.0.1, %s, ticket: %s}\n", target.token, where, ticket)
	}
	return text
}

// startProxy starts the proxy.
func (o options) startProxy(ctx context.Context, dir string, p ports) (*process.Process, error) {
	file := filepath.Join(dir, "proxy.yaml")
	if err := os.WriteFile(file, []byte(o.configFor(dir, p)), 0o600); err != nil {
		return nil, err
	}
	return process.Start(ctx, o.proxy, "--config", file)
}

// version tells what the proxy was built with.
func version(path string) (string, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("proxy: %w", err)
	}
	return "kerbside-proxy, " + info.GoVersion, nil
}
