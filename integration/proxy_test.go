package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Where the proxy listens in the server's namespace.
const (
	securePort   = 5900
	insecurePort = 5901
	metricsPort  = 13003
)

// token is what clients give as password unless a test has several targets.
const token = "a token of the client"

// target is an entry of control.targets.
type target struct {
	Token        string `yaml:"token"`
	Name         string `yaml:"name"`
	Hypervisor   string `yaml:"hypervisor"`
	InsecurePort int    `yaml:"insecure_port"`
	SecurePort   int    `yaml:"secure_port"`
	Ticket       string `yaml:"ticket"`
	CACert       string `yaml:"ca_cert"`
	HostSubject  string `yaml:"host_subject"`
}

// plainTarget is a guest that serves its screen in plaintext.
var plainTarget = target{Token: token, Name: "lab", Hypervisor: "127.0.0.1", InsecurePort: qemuPort, Ticket: ticket}

// proxy is a running proxy.
type proxy struct {
	*process
	l *lab
}

// startProxy starts a proxy in a mode, showing clients the certificate of id, or
// one it has made itself if id is nil. It listens when this returns.
func (l *lab) startProxy(mode string, id *identity, targets ...target) *proxy {
	l.t.Helper()
	certificate := map[string]any{"self_signed": true}
	if id != nil {
		certificate = map[string]any{"cert": id.cert, "key": id.key}
	}
	text, err := yaml.Marshal(map[string]any{
		"listen":    map[string]any{"address": l.link.Server().Addr().String(), "secure_port": securePort, "insecure_port": insecurePort},
		"tls":       certificate,
		"state_dir": l.dir,
		"control":   map[string]any{"kind": "static", "targets": targets},
		"metrics":   map[string]any{"port": metricsPort},
		"log":       map[string]any{"level": "debug", "format": "json"},
		"pacing":    map[string]any{"mode": mode},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	name := "proxy-" + mode
	config := l.file(name + ".yaml")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	cmd := command(l.link.Server())(context.WithoutCancel(l.t.Context()), l.shop.proxy, "--config", config)
	// The tests' own variables have the names of settings.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SPICEPACER_") })
	p := &proxy{l.start(name, cmd), l}
	l.t.Cleanup(p.stop)
	for _, listener := range []string{"insecure SPICE", "secure SPICE", "Prometheus metrics"} {
		p.wantLog(listener+" listener bound", nil)
	}
	return p
}

// stop ends the proxy, which must take that in good order.
func (p *proxy) stop() {
	p.l.t.Helper()
	p.process.stop()
	if p.err != nil {
		p.l.t.Errorf("%s: %v, want exit code 0 after SIGTERM\n%s", p.name, p.err, p.output.tail())
	}
}

// entry is a line of the proxy's log.
type entry struct {
	Level      string `json:"level"`
	Message    string `json:"msg"`
	Peer       string `json:"peer"`
	Channel    string `json:"channel_type"`
	Hypervisor string `json:"hypervisor"`
	TLS        bool   `json:"tls"`
	Mode       string `json:"mode"`
	// FullHeaders: both legs have them.
	FullHeaders bool   `json:"full_headers"`
	Reason      string `json:"reason"`
}

// says makes a matcher of log lines of entries with this message.
func says(message string, match func(entry) bool) func(string) bool {
	return func(line string) bool {
		var e entry
		err := json.Unmarshal([]byte(line), &e)
		return err == nil && e.Message == message && (match == nil || match(e))
	}
}

// wantLog waits for an entry with the message, and that matches if match is not
// nil, anywhere in the log.
func (p *proxy) wantLog(message string, match func(entry) bool) entry {
	p.l.t.Helper()
	lines, err := p.output.wait(p.l.patient(), 1, says(message, match))
	if err != nil {
		p.l.t.Fatalf("%s log without %q: %v\n%s", p.name, message, err, p.output.tail())
	}
	var e entry
	if err := json.Unmarshal([]byte(lines[0]), &e); err != nil {
		p.l.t.Fatal(err)
	}
	return e
}

// metric returns a series of the metrics page, such as `name{label="value"}`.
func (p *proxy) metric(series string) (float64, error) {
	transport := &http.Transport{DialContext: dialer(p.l.link.Server()), DisableKeepAlives: true}
	page, err := (&http.Client{Transport: transport, Timeout: patience}).Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", metricsPort))
	if err != nil {
		return 0, err
	}
	defer page.Body.Close()
	lines := bufio.NewScanner(page.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), series+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("metrics page without %s: %v", series, lines.Err())
}

// clientAddr is where clients find the proxy's port.
func (l *lab) clientAddr(port int) string {
	return net.JoinHostPort(l.link.Server().Addr().String(), strconv.Itoa(port))
}
