package cost

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"spicepacer/cmd/spicebench/process"
	"spicepacer/session"
)

// program is one of the two that are compared.
type program struct {
	path    string
	version string
}

// findProxy looks for kerbside-proxy.
func findProxy(name string) (program, error) {
	path, err := process.LookPath(name)
	if err != nil {
		return program{}, fmt.Errorf("proxy: %w", err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, fmt.Errorf("proxy: %w", err)
	}
	return program{path, "kerbside-proxy, " + info.GoVersion}, nil
}

// findHAProxy looks for HAProxy.
func findHAProxy(ctx context.Context, name string) (program, error) {
	path, err := process.LookPath(name)
	if err != nil {
		return program{}, fmt.Errorf("HAProxy: %w; install the Debian package haproxy, or leave its arm out with --arms", err)
	}
	out, err := exec.CommandContext(ctx, path, "-v").Output()
	if err != nil {
		return program{}, fmt.Errorf("version of HAProxy: %w", err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	version, _, _ := strings.Cut(line, " - ")
	return program{path, version}, nil
}

// place is where a program listens and where its hypervisor does, on
// 127.0.0.1, and a directory with the certificate session.SelfSigned made.
type place struct {
	port, hypervisor int
	dir              string
}

const proxyConfig = `listen: {address: 127.0.0.1, secure_port: %d, insecure_port: 0}
tls: {self_signed: true}
state_dir: %q
control:
  kind: static
  targets: [{token: %[4]q, name: spicebench, hypervisor: 127.0.0.1, insecure_port: %[3]d, ticket: %[4]q}]
metrics: {port: 0}
pacing: {%[5]s}
`

// pacing are the proxy's settings in each arm.
var pacing = map[string]string{
	armPassthrough: "mode: passthrough",
	armAdaptive:    "mode: adaptive",
	armFIFO:        "mode: adaptive, reorder: false",
}

func (p place) proxyConfig(arm string) string {
	return fmt.Sprintf(proxyConfig, p.port, p.dir, p.hypervisor, ticket, pacing[arm])
}

// haproxyConfig has one thread, which a single connection cannot use more of. The
// client's order of ciphers is Go's own, so that both programs choose the same.
const haproxyConfig = `global
	nbthread 1
	maxconn 16
defaults
	mode tcp
	timeout connect 10s
	timeout client 1m
	timeout server 1m
listen spice
	bind 127.0.0.1:%d ssl crt %s ssl-min-ver TLSv1.3 prefer-client-ciphers
	server hypervisor 127.0.0.1:%d
`

func (p place) haproxyConfig() string {
	return fmt.Sprintf(haproxyConfig, p.port, filepath.Join(p.dir, bundle), p.hypervisor)
}

// Files in the directory of a place.
const (
	certFile = "self-signed.pem" // of session.SelfSigned, as is the key
	keyFile  = "self-signed-key.pem"
	bundle   = "haproxy.pem" // both
)

// makeCertificate makes the certificate both programs show.
func makeCertificate(dir string) error {
	if _, err := session.SelfSigned(dir, netip.Addr{}); err != nil {
		return err
	}
	cert, err := os.ReadFile(filepath.Join(dir, certFile))
	if err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, bundle), append(cert, key...), 0o600)
}

// startProxy starts kerbside-proxy.
func (p place) startProxy(ctx context.Context, path, arm string) (*process.Process, error) {
	file := filepath.Join(p.dir, "proxy.yaml")
	if err := os.WriteFile(file, []byte(p.proxyConfig(arm)), 0o600); err != nil {
		return nil, err
	}
	return process.Start(ctx, path, "--config", file)
}

// startHAProxy starts HAProxy as a single process in the foreground.
func (p place) startHAProxy(ctx context.Context, path string) (*process.Process, error) {
	file := filepath.Join(p.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(p.haproxyConfig()), 0o600); err != nil {
		return nil, err
	}
	return process.Start(ctx, path, "-db", "-f", file)
}
