package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"spicepacer/session"
	"spicepacer/spiceproto"
)

// asProxy makes the test binary behave as the proxy, so that tests see real
// exit codes and signals.
const asProxy = "KERBSIDE_PROXY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProxy) != "" {
		main()
	}
	os.Exit(m.Run())
}

// patience is how long a process may live, and take for what it must do; no
// expectation depends on its length.
const patience = 2 * time.Minute

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return commandOf(t, []string{asProxy + "=1", "HOME=" + t.TempDir()}, self, args...)
}

func commandOf(t *testing.T, environ []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = environ
	return cmd
}

// execute runs the proxy to its end.
func execute(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := command(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// ports finds n ports of 127.0.0.1 that are the test's until it ends: each is bound,
// so that no other program is given it, but not listened on, so that who connects
// is refused. A listener with SO_REUSEADDR, as all of Go's are, may still have it
// (socket(7)).
func ports(t *testing.T, n int) []int {
	t.Helper()
	var found []int
	for range n {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Close(fd) })
		if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
		name, err := syscall.Getsockname(fd)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, name.(*syscall.SockaddrInet4).Port)
	}
	return found
}

// settings are a file that works, with ports and a certificate of its own.
type settings struct {
	secure, insecure, metrics, hypervisor int
	stateDir, tls, extra                  string
}

func newSettings(t *testing.T) settings {
	t.Helper()
	p := ports(t, 4)
	return settings{p[0], p[1], p[2], p[3], t.TempDir(), "self_signed: true", ""}
}

func (s settings) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proxy.yaml")
	text := fmt.Sprintf(`
listen: {address: 127.0.0.1, secure_port: %d, insecure_port: %d}
metrics: {port: %d}
state_dir: %s
tls: {%s}
control:
  kind: static
  targets:
    - {token: sesame, name: lab, hypervisor: 127.0.0.1, insecure_port: %d}
%s`, s.secure, s.insecure, s.metrics, s.stateDir, s.tls, s.hypervisor, s.extra)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrintedAnswers(t *testing.T) {
	code, stdout, stderr := execute(t, "--contract-hash")
	if code != exitOK || stderr != "" || !regexp.MustCompile(`^[0-9a-f]{64}\n$`).MatchString(stdout) {
		t.Errorf("--contract-hash: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	for _, flag := range []string{"--help", "-h"} {
		code, stdout, stderr = execute(t, flag)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, "--backend-rcvbuf-bytes") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", flag, code, stdout, stderr)
		}
	}
}

func TestFailures(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	inUse := taken.Addr().(*net.TCPAddr)
	for _, tc := range []struct {
		name   string
		change func(*settings)
		flags  []string
		code   int
		want   string
	}{
		{"unknown flag", nil, []string{"--no-such"}, exitUsage, "--no-such"},
		{"unknown key", func(s *settings) { s.extra = "pacing: {mod: adaptive}" }, nil, exitUsage, "pacing.mod: unknown key"},
		{"wrong value", func(s *settings) { s.extra = "log: {level: loud}" }, nil, exitUsage, "log.level: "},
		{"several mistakes", func(s *settings) { s.extra = "log: [1, 2]\npacing: {mode: 7, queue_bytes: x}" }, nil, exitUsage, ": "},
		{"later version", func(s *settings) { s.extra = "pacing: {net_test: fast}" }, nil, exitUsage, "pacing.net_test: "},
		{"secure port in use", func(s *settings) { s.secure = inUse.Port }, nil, exitFailed, inUse.String()},
		{"insecure port in use", func(s *settings) { s.insecure = inUse.Port }, nil, exitFailed, inUse.String()},
		{"metrics port in use", func(s *settings) { s.metrics = inUse.Port }, nil, exitFailed, inUse.String()},
		{"no certificate", func(s *settings) { s.tls = "" }, []string{"--cert", "/no/cert.pem"}, exitFailed, "/no/cert.pem"},
		{"state_dir is no directory", func(s *settings) { s.stateDir = "/dev/null" }, nil, exitFailed, "/dev/null"},
		{"trace_dir is no directory", func(s *settings) { s.extra = "pacing: {trace_dir: /dev/null/traces}" }, nil, exitFailed, "/dev/null"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSettings(t)
			if tc.change != nil {
				tc.change(&s)
			}
			code, _, stderr := execute(t, append([]string{"--config", s.write(t)}, tc.flags...)...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, stderr %q; want %d and %q", code, stderr, tc.code, tc.want)
			}
			if strings.Count(stderr, "\n") != 1 {
				t.Errorf("stderr %q is not one line", stderr)
			}
		})
	}
}

// TestLimitOfOpenFiles: the soft limit is raised as far as the hard one allows; if
// that is too little, the log says so, once and with both figures.
func TestLimitOfOpenFiles(t *testing.T) {
	const connections = 100
	for name, tc := range map[string]struct{ soft, hard, seen int }{
		"hard limit too low":   {300, 300, 300},
		"soft limit is raised": {100, 1000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSettings(t)
			s.extra = fmt.Sprintf("limits: {connections: %d}", connections)
			direct := command(t, "--config", s.write(t))
			limits := fmt.Sprintf(`ulimit -S -n %d && ulimit -H -n %d && exec "$0" "$@"`, tc.soft, tc.hard)
			r := startCommand(t, commandOf(t, direct.Env, "sh", append([]string{"-c", limits}, direct.Args...)...))
			text := r.stop()
			want := fmt.Sprintf(" open_files=%d needed=328 connections=%d", tc.seen, connections)
			if lines := strings.Count(text, "open_files="); tc.seen == 0 && lines != 0 || tc.seen != 0 && (lines != 1 || !strings.Contains(text, want)) {
				t.Errorf("log\n%s\nwant %q: %v", text, want, tc.seen != 0)
			}
		})
	}
}

// running is a proxy process.
type running struct {
	*exec.Cmd
	t     *testing.T
	out   io.Closer // the end that the test reads
	lines *bufio.Scanner
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	return startCommand(t, command(t, args...))
}

func startCommand(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &running{cmd, t, out, bufio.NewScanner(out)}
}

// wantLine reads the log up to a line that holds text.
func (r *running) wantLine(text string) {
	r.t.Helper()
	for r.lines.Scan() {
		if strings.Contains(r.lines.Text(), text) {
			return
		}
	}
	r.t.Fatalf("the log ended without %q: %v", text, r.lines.Err())
}

// waitReady waits until all three ports are bound, in whatever order.
func (r *running) waitReady() {
	r.t.Helper()
	for range 3 {
		r.wantLine("listener bound")
	}
}

// stop ends the proxy in good order, once it is ready, and returns its log.
func (r *running) stop() string {
	r.t.Helper()
	var log strings.Builder
	for bound := 0; r.lines.Scan(); {
		log.WriteString(r.lines.Text() + "\n")
		if strings.Contains(r.lines.Text(), "listener bound") {
			bound++
		}
		if bound == 3 {
			bound++
			if err := r.Process.Signal(syscall.SIGTERM); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	if err := r.Wait(); err != nil {
		r.t.Errorf("after the signal: %v, want exit code 0\n%s", err, log.String())
	}
	return log.String()
}

func TestRunAndStop(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			s := newSettings(t)
			r := start(t, "--config", s.write(t))
			r.waitReady()
			knock(t, s)
			r.wantLine("hypervisor connection failed")
			wantAnswer(t, s, "/healthz", http.StatusOK)
			wantAnswer(t, s, "/healthz/ready", http.StatusOK)
			wantMetric(t, s, `spicepacer_connections_total{channel="main",result="backend_failed"} 1`)
			if err := r.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			r.wantLine("all in-flight sessions drained")
			if err := r.Wait(); err != nil {
				t.Errorf("after the signal: %v, want exit code 0", err)
			}
		})
	}
}

// TestStartNamesTheCertificate that the secure port shows, whoever made it.
func TestStartNamesTheCertificate(t *testing.T) {
	s := newSettings(t)
	r := start(t, "--config", s.write(t))
	want := func(listen settings) {
		t.Helper()
		r.wantLine(fmt.Sprintf("kerbside-proxy starting vdi_address=127.0.0.1 secure_port=%d insecure_port=%d"+
			" cert=%s/self-signed.pem cert_key=%[3]s/self-signed-key.pem ", listen.secure, listen.insecure, s.stateDir))
	}
	want(s)
	r.waitReady() // the files are there now
	given := newSettings(t)
	given.tls = fmt.Sprintf("cert: %s/self-signed.pem, key: %[1]s/self-signed-key.pem", s.stateDir)
	r = start(t, "--config", given.write(t))
	want(given)
}

// TestCertificateIsReplaced under a running proxy, by SIGHUP: a bad one first.
func TestCertificateIsReplaced(t *testing.T) {
	s, next := newSettings(t), t.TempDir()
	files, err := session.SelfSigned(next, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, "--config", s.write(t))
	r.waitReady()
	knock(t, s)
	install := func(from, name string) {
		t.Helper()
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.stateDir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hangUp := func() {
		t.Helper()
		if err := r.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	install(files.Key, "self-signed-key.pem")
	hangUp()
	r.wantLine("certificate not reloaded; keeping the old one cert=" + filepath.Join(s.stateDir, "self-signed.pem"))
	knock(t, s)
	install(files.Cert, "self-signed.pem")
	hangUp()
	r.wantLine("certificate reloaded cert=" + filepath.Join(s.stateDir, "self-signed.pem"))
	knock(t, s) // trusts what the file holds now
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wantLine("all in-flight sessions drained")
	if err := r.Wait(); err != nil {
		t.Errorf("after the signal: %v, want exit code 0", err)
	}
}

// knock goes through the link stage over TLS with the certificate that the
// proxy made; nothing listens on the hypervisor's port.
func knock(t *testing.T, s settings) {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(s.stateDir, "self-signed.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	c, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.secure), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	caps := spiceproto.Caps{1<<spiceproto.CapAuthSelection | 1<<spiceproto.CapAuthSpice | 1<<spiceproto.CapMiniHeader}
	if _, err := c.Write(spiceproto.LinkMess{Type: spiceproto.ChannelMain, Common: caps}.Append(nil)); err != nil {
		t.Fatal(err)
	}
	reply, err := spiceproto.ReadLinkReply(c)
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := spiceproto.EncryptTicket(&reply.PubKey, "sesame")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(append(spiceproto.AppendAuthMechanism(nil, spiceproto.AuthMechanismSpice), ticket[:]...)); err != nil {
		t.Fatal(err)
	}
	if result, err := spiceproto.ReadLinkResult(c); result != spiceproto.LinkErrError || err != nil {
		t.Errorf("link result %v, %v; want an error, as there is no hypervisor", result, err)
	}
}

// wantMetric fetches the metrics page until it has the line: a connection is
// counted just after it is logged.
func wantMetric(t *testing.T, s settings, line string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for page := ""; !strings.Contains(page, line+"\n"); page = metricsPage(t, s) {
		if time.Now().After(deadline) {
			t.Fatalf("metrics page without %s:\n%s", line, page)
		}
	}
}

func metricsPage(t *testing.T, s settings) string {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", s.metrics))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ask returns what the metrics address answers, 0 if nobody does.
func (s settings) ask(path string) int {
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", s.metrics, path))
	if err != nil {
		return 0
	}
	r.Body.Close()
	return r.StatusCode
}

// waitServing waits for the ports of a proxy whose log is not there to tell.
func (s settings) waitServing(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); s.ask("/healthz/ready") != http.StatusOK; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the proxy does not serve within %v", patience)
		}
	}
}

func wantAnswer(t *testing.T, s settings, path string, code int) {
	t.Helper()
	r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", s.metrics, path))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != code {
		t.Errorf("GET %s: %s, want %d", path, r.Status, code)
	}
}

func TestJSONLog(t *testing.T) {
	s := newSettings(t)
	s.extra = "log: {format: json, level: debug}"
	r := start(t, "--config", s.write(t))
	r.wantLine(`"msg":"kerbside-proxy starting"`)
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wantLine(`"msg":"all in-flight sessions drained"`)
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}
