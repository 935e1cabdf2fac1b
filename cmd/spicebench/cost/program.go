package cost

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"spicepacer/session"
)

// program is one of the two that are compared.
type program struct {
	path    string
	version string
}

// findProxy looks for kerbside-proxy.
func findProxy(name string) (program, error) {
	path, err := lookPath(name)
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
	path, err := lookPath(name)
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

// lookPath finds a program in PATH or where a path says. The result is
// absolute, since a program starts without a shell's search.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
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
pacing: {mode: %[5]s}
`

func (p place) proxyConfig(mode string) string {
	return fmt.Sprintf(proxyConfig, p.port, p.dir, p.hypervisor, ticket, mode)
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

// freePort returns a port of 127.0.0.1 on which nobody listens.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// process is a started program.
type process struct {
	cmd    *exec.Cmd
	stop   context.CancelFunc
	output bytes.Buffer  // of both kinds, valid once exited is closed, as is err
	exited chan struct{} // closed when it has been reaped
	err    error
}

// startProxy starts kerbside-proxy.
func (p place) startProxy(ctx context.Context, path, mode string) (*process, error) {
	file := filepath.Join(p.dir, "proxy.yaml")
	if err := os.WriteFile(file, []byte(p.proxyConfig(mode)), 0o600); err != nil {
		return nil, err
	}
	return start(ctx, path, "--config", file)
}

// startHAProxy starts HAProxy as a single process in the foreground.
func (p place) startHAProxy(ctx context.Context, path string) (*process, error) {
	file := filepath.Join(p.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(p.haproxyConfig()), 0o600); err != nil {
		return nil, err
	}
	return start(ctx, path, "-db", "-f", file)
}

// start starts a program that does not outlive this process, however that ends,
// and that a Ctrl-C on the terminal does not reach before its time.
func start(ctx context.Context, path string, args ...string) (*process, error) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	p := &process{cmd: exec.CommandContext(ctx, path, args...), stop: cancel, exited: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = patience
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// end stops the program, by force if it does not heed, and waits for its end.
func (p *process) end() {
	p.stop()
	<-p.exited
}

// watch runs f with a context that ends with the program, whose end then is the
// error.
func (p *process) watch(ctx context.Context, f func(context.Context) error) error {
	// A program's connections break a moment before it can be reaped.
	const moment = 100 * time.Millisecond
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.exited:
			cancel(p.failure())
		case <-ctx.Done():
		}
	}()
	err := f(ctx)
	if err == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	case <-time.After(moment):
		return err
	}
}

// failure tells why the program ended by itself: what it said last, from a panic on.
func (p *process) failure() error {
	text := strings.TrimSpace(p.output.String())
	said := text[strings.LastIndex(text, "\n")+1:]
	if i := strings.Index(text, "panic: "); i >= 0 {
		said = text[i:]
	}
	return fmt.Errorf("%s ended too early: %w", filepath.Base(p.cmd.Path), errors.Join(p.err, errors.New(said)))
}
