package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/config"
	"spicepacer/session"
	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// node is a place for a proxy under a Kerbside daemon.
type node struct {
	settings
	socket string
}

func newNode(t *testing.T) node {
	t.Helper()
	n := node{newSettings(t), filepath.Join(t.TempDir(), "api.sock")}
	if _, err := session.SelfSigned(n.stateDir, netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	return n
}

// args are the words that the daemon starts its proxy with, in its order.
func (n node) args() []string {
	return []string{
		"--vdi-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(n.secure),
		"--insecure-port", fmt.Sprint(n.insecure),
		"--cert", filepath.Join(n.stateDir, "self-signed.pem"),
		"--cert-key", filepath.Join(n.stateDir, "self-signed-key.pem"),
		"--cacert", "/etc/pki/CA/ca-cert.pem",
		"--host-subject", "C=US,O=Shaken Fist,CN=Kerbside Proxy",
		"--node-name", "node1",
		"--prometheus-port", fmt.Sprint(n.metrics),
		"--metrics-address", "127.0.0.1",
		"--api-socket", n.socket,
		"--verbose",
		"--client-notsent-lowat-bytes", "131072",
		"--backend-rcvbuf-bytes", "65536",
	}
}

// daemon starts the stand-in; the hypervisor's port is one where nobody listens.
func (n node) daemon(t *testing.T) *control.Daemon {
	t.Helper()
	d, err := control.Start(control.Options{Socket: n.socket, Target: &kerbsidepb.Target{
		Hypervisor: "hv", HypervisorIp: "127.0.0.1", InsecurePort: uint32(n.hypervisor), Source: "src", Uuid: "console", SessionId: "s1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// wantCalls waits for the calls' names, in order.
func wantCalls(t *testing.T, d *control.Daemon, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, method := range want {
		call, err := d.Next(ctx)
		if err != nil || call.Method != method {
			t.Fatalf("call %q, %v; want %q", call.Method, err, method)
		}
	}
}

func TestUnderTheDaemon(t *testing.T) {
	n := newNode(t)
	d := n.daemon(t)
	r := start(t, n.args()...)
	r.wantLine("kerbside-proxy starting vdi_address=127.0.0.1")
	r.waitReady()
	wantCalls(t, d, "ClearNodeChannels", "ProxyControl")
	knock(t, n.settings)
	wantCalls(t, d, "RegisterChannel", "AuthorizeConnection", "RecordAuditEvent", "DeregisterChannel")
	calls := d.Calls()
	audit, _ := calls[len(calls)-2].Request.(*kerbsidepb.AuditEventRequest)
	if audit.GetMessage() != "Hypervisor connection failed: Connection refused (os error 111)" || audit.GetNode() != "node1" {
		t.Errorf("audit event %v", audit)
	}
	for _, line := range []string{
		"kerbside_proxy_connections_total 1", "kerbside_proxy_authorized_total 1", "kerbside_proxy_denied_total 0",
		"kerbside_proxy_active_connections 0", `kerbside_proxy_bytes_relayed_total{direction="client_to_server"} 0`,
	} {
		wantMetric(t, n.settings, line)
	}
	d.Terminate("s1")
	r.wantLine("kerbside_proxy: ProxyControl TerminateSession event node=node1 session_id=s1 terminated=false")
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wantLine("shutdown signal received; draining in-flight sessions active=")
	r.wantLine("all in-flight sessions drained")
	if err := r.Wait(); err != nil {
		t.Errorf("after the signal: %v, want exit code 0", err)
	}
}

// TestDrainIsNotReady: the page still answers while a channel's last call keeps
// the drain waiting.
func TestDrainIsNotReady(t *testing.T) {
	n := newNode(t)
	d := n.daemon(t)
	d.On("DeregisterChannel", control.Rule{Answer: control.Hang})
	r := start(t, n.args()...)
	r.waitReady()
	knock(t, n.settings)
	wantCalls(t, d, "ClearNodeChannels", "ProxyControl", "RegisterChannel", "AuthorizeConnection", "RecordAuditEvent", "DeregisterChannel")
	wantAnswer(t, n.settings, "/healthz/ready", http.StatusOK)
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wantLine("shutdown signal received; draining in-flight sessions active=1")
	wantAnswer(t, n.settings, "/healthz/ready", http.StatusServiceUnavailable)
	wantAnswer(t, n.settings, "/healthz", http.StatusOK)
	d.Stop()
	if err := r.Wait(); err != nil {
		t.Errorf("after the drain: %v, want exit code 0", err)
	}
}

// TestClearingComesFirst: no port is open before the node's channels are cleared.
func TestClearingComesFirst(t *testing.T) {
	n := newNode(t)
	d := n.daemon(t)
	d.On("ClearNodeChannels", control.Rule{Answer: control.Hang})
	r := start(t, n.args()...)
	wantCalls(t, d, "ClearNodeChannels")
	if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.secure)); err == nil {
		c.Close()
		t.Error("the secure port is open while the node's channels are cleared")
	}
	d.Stop() // fails the call
	r.wantLine("WARN kerbside_proxy: ClearNodeChannels at startup failed; continuing")
	r.waitReady()
}

func TestStartWithoutAnAnswer(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, node){
		"no daemon": func(*testing.T, node) {},
		"mute daemon": func(t *testing.T, n node) {
			l, err := net.Listen("unix", n.socket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go io.Copy(io.Discard, c)
				}
			}()
		},
		"call that hangs": func(t *testing.T, n node) {
			n.daemon(t).On("ClearNodeChannels", control.Rule{Answer: control.Hang})
		},
		"call that fails": func(t *testing.T, n node) {
			n.daemon(t).On("ClearNodeChannels", control.Rule{Answer: control.Fail, Code: codes.Internal})
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			prepare(t, n)
			file := filepath.Join(t.TempDir(), "proxy.yaml")
			if err := os.WriteFile(file, []byte("control: {rpc_timeout: 100ms}"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := start(t, append(n.args(), "--config", file)...)
			r.wantLine("ClearNodeChannels at startup failed; continuing")
			r.waitReady()
			if err := r.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := r.Wait(); err != nil {
				t.Errorf("after the signal: %v, want exit code 0", err)
			}
		})
	}
}

// TestSignalDuringTheStart ends a proxy that waits for its daemon.
func TestSignalDuringTheStart(t *testing.T) {
	n := newNode(t)
	d := n.daemon(t)
	d.On("ClearNodeChannels", control.Rule{Answer: control.Hang})
	r := start(t, n.args()...)
	wantCalls(t, d, "ClearNodeChannels")
	began := time.Now()
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.wantLine("all in-flight sessions drained")
	if err := r.Wait(); err != nil {
		t.Errorf("after %v: %v, want exit code 0", time.Since(began), err)
	}
}

func TestContractHash(t *testing.T) {
	code, stdout, stderr := execute(t, "--contract-hash")
	if code != exitOK || stdout != config.NewestContractHash+"\n" || stderr != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	other := strings.Repeat("0a", 32)
	file := filepath.Join(t.TempDir(), "proxy.yaml")
	if err := os.WriteFile(file, []byte("control: {contract_hash: "+other+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ = execute(t, "--config", file, "--contract-hash"); code != exitOK || stdout != other+"\n" {
		t.Errorf("exit %d, stdout %q; want the file's", code, stdout)
	}
}

func TestExitCodesOfTheContract(t *testing.T) {
	n := newNode(t)
	missing := slices.Clone(n.args())
	missing[slices.Index(missing, "--cert")+1] = "/no/cert.pem"
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"unknown flag":      {[]string{"--no-such"}, exitUsage, "--no-such"},
		"version":           {[]string{"--version"}, exitUsage, "--version"},
		"no value":          {[]string{"--node-name"}, exitUsage, "--node-name"},
		"bad number":        {[]string{"--secure-port", "many"}, exitUsage, "many"},
		"number too large":  {[]string{"--secure-port", "65536"}, exitUsage, "65536"},
		"given twice":       {[]string{"--node-name", "a", "--node-name", "a"}, exitUsage, "more than once"},
		"host name to bind": {[]string{"--vdi-address", "localhost"}, exitFailed, "localhost"},
		"host name, page":   {[]string{"--metrics-address", "localhost"}, exitFailed, "localhost"},
		"no such file":      {[]string{"--config", "/no/such.yaml"}, exitUsage, "/no/such.yaml"},
		"no certificate":    {missing, exitFailed, "/no/cert.pem"},
	} {
		code, _, stderr := execute(t, tc.args...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, stderr %q; want %d and %q", name, code, stderr, tc.code, tc.want)
		}
	}
}
