package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spicepacer/session/authz"
)

// target is the least that makes a file complete.
const target = `
control:
  kind: static
  targets:
    - {token: t0, hypervisor: hv, insecure_port: 5930}
`

// loadText loads text as the file, with environ and flags over it.
func loadText(t *testing.T, text string, environ []string, flags ...string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proxy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, action, err := Load(append([]string{"--config", path}, flags...), environ)
	if err == nil && action != Run {
		t.Fatalf("action = %d, want Run", action)
	}
	return cfg, err
}

var compareAddresses = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestDefaults(t *testing.T) {
	got, err := loadText(t, target+"pacing:\nlisten: {address: }\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Control.Kind = ControlStatic
	want.Control.Targets = []Target{{Token: "t0", Name: "hv", Hypervisor: "hv", InsecurePort: 5930}}
	if diff := cmp.Diff(want, got, compareAddresses); diff != "" {
		t.Errorf("an empty section or key changes a default:\n%s", diff)
	}
}

func TestExampleFile(t *testing.T) {
	cfg, action, err := Load([]string{"--config", "../deploy/proxy.example.yaml"}, nil)
	if err != nil || action != Run {
		t.Fatalf("action %d, err %v", action, err)
	}
	want := Default()
	want.TLS.SelfSigned = true
	want.Control.Kind = ControlStatic
	want.Limits.ProxyProtocolFrom, want.Firewall.PermittedChannels = []netip.Prefix{}, []string{}
	want.Control.Targets = []Target{{Token: "change-me", Name: "lab", Hypervisor: "127.0.0.1", InsecurePort: 5930}}
	if diff := cmp.Diff(want, cfg, compareAddresses); diff != "" {
		t.Errorf("the example does not show the defaults:\n%s", diff)
	}
}

func TestPrecedence(t *testing.T) {
	file := target + `
listen: {secure_port: 1}
log: {level: warn}
metrics: {port: 1}
`
	cfg, err := loadText(t, file,
		[]string{"SPICEPACER_LISTEN__SECURE_PORT=2", "SPICEPACER_METRICS__PORT=2", "OTHER=3"},
		"--secure-port=3")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen.SecurePort != 3 || cfg.Metrics.Port != 2 || cfg.Log.Level != "warn" {
		t.Errorf("flag, environment, file give %d, %d, %s; want 3, 2, warn",
			cfg.Listen.SecurePort, cfg.Metrics.Port, cfg.Log.Level)
	}
}

func TestEveryType(t *testing.T) {
	cfg, err := loadText(t, target+`
listen: {address: "::1", insecure_mode: serve}
pacing:
  queue_target: 25ms
  queue_bytes: 1MiB
  passthrough_percent: 50
  client: {congestion_control: bbr, notsent_lowat: 16KiB}
  backend: {receive_buffer: 8192, max_segment: off}
`, []string{"SPICEPACER_TLS__SELF_SIGNED=true", "SPICEPACER_PACING__STALL_TIMEOUT=1m"})
	if err != nil {
		t.Fatal(err)
	}
	p := cfg.Pacing
	if p.QueueTarget != 25*time.Millisecond || p.QueueBytes != 1<<20 || p.PassthroughPercent != 50 ||
		p.StallTimeout != time.Minute || p.Client != (Client{"bbr", 16 << 10}) || p.Backend != (Backend{8192, BufferOff}) {
		t.Errorf("pacing = %+v", p)
	}
	if cfg.Listen.Address != netip.IPv6Loopback() || !cfg.TLS.SelfSigned {
		t.Errorf("address %v, self_signed %v", cfg.Listen.Address, cfg.TLS.SelfSigned)
	}
}

func TestContractFlags(t *testing.T) {
	// The daemon passes these twelve, in this order, then the two socket flags.
	cfg, err := loadText(t, "{}", nil,
		"--vdi-address", "127.0.0.1", "--secure-port", "1", "--insecure-port", "2", "--cert", "c", "--cert-key", "k",
		"--cacert", "ca", "--host-subject", "CN=x", "--node-name", "n", "--prometheus-port", "3",
		"--metrics-address", "127.0.0.2", "--api-socket", "/s", "--verbose",
		"--client-notsent-lowat-bytes", "4096", "--backend-rcvbuf-bytes", "0")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen = Listen{netip.MustParseAddr("127.0.0.1"), 1, 2, InsecureRedirect}
	want.TLS = TLS{Cert: "c", Key: "k"}
	want.Control.NodeName, want.Control.Socket = "n", "/s"
	want.Metrics = Metrics{netip.MustParseAddr("127.0.0.2"), 3}
	want.Log.Level = "debug"
	want.Pacing.Client.NotSentLowat = 4096
	want.Pacing.Backend.ReceiveBuffer = BufferOff
	if diff := cmp.Diff(want, cfg, compareAddresses); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsFromFiles(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ticket := filepath.Join(dir, "ticket")
	if err := os.WriteFile(ticket, []byte("hypervisor's own\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := loadText(t, `
control:
  kind: static
  targets:
    - {token: "file:`+token+`", ticket: plain, hypervisor: "unix:/run/vm.sock"}
    - {token: plain, ticket: "file:`+ticket+`", hypervisor: hv, secure_port: 1}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Control.Targets[0]; got.Token != "from-file" || got.Ticket != "plain" {
		t.Errorf("token %q, ticket %q", string(got.Token), string(got.Ticket))
	}
	if got := cfg.Control.Targets[1]; got.Token != "plain" || got.Ticket != "hypervisor's own" {
		t.Errorf("token %q, ticket %q", string(got.Token), string(got.Ticket))
	}
}

func TestBalancers(t *testing.T) {
	want := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("2001:db8::1/128"),
	}
	for name, load := range map[string]func() (Config, error){
		"file": func() (Config, error) {
			return loadText(t, target+"limits: {idle_timeout: 0s, proxy_protocol_from: [10.1.2.3/8, \"::ffff:192.0.2.7\", \"2001:db8::1\"]}", nil)
		},
		"environment": func() (Config, error) {
			return loadText(t, target+"limits: {idle_timeout: 0s}", []string{"SPICEPACER_LIMITS__PROXY_PROTOCOL_FROM=10.0.0.0/8, 192.0.2.7,2001:db8::1,"})
		},
	} {
		cfg, err := load()
		if err != nil || !slices.Equal(cfg.Limits.ProxyProtocolFrom, want) || cfg.Limits.IdleTimeout != 0 {
			t.Errorf("%s: %+v, err %v; want %v and no idle limit", name, cfg.Limits, err, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	withTarget := func(fields string) string {
		return "control: {kind: static, targets: [{" + fields + "}]}"
	}
	for _, tc := range []struct {
		name, file string
		environ    string
		flags      []string
		want       []string // all must be in the one line
	}{
		{name: "unknown key", file: "pacing: {queue_tarjet: 10ms}", want: []string{"pacing.queue_tarjet: unknown key", "pacing.queue_target", "proxy.yaml"}},
		{name: "unknown section", file: "pacng: {mode: adaptive}", want: []string{"pacng: unknown key", "is pacing"}},
		{name: "key without its section", file: "mode: adaptive", want: []string{"mode: unknown key", "is pacing.mode"}},
		{name: "unknown key in a list", file: withTarget("tokn: x"), want: []string{"control.targets[0].tokn: unknown key", "is control.targets[].token"}},
		{name: "keys are lower case", file: "Pacing: {mode: adaptive}", want: []string{"Pacing: unknown key", "is pacing"}},
		{name: "unknown variable", environ: "SPICEPACER_LOG__LEVL=info", want: []string{"log.levl: unknown key", "is log.level", "SPICEPACER_LOG__LEVL"}},
		{name: "unknown flag", flags: []string{"--secure-prot=1"}, want: []string{"--secure-prot"}},
		{name: "stray argument", flags: []string{"start"}, want: []string{`unexpected argument "start"`}},
		{name: "no YAML", file: "pacing: [", want: []string{"proxy.yaml"}},
		{name: "key given twice", file: "log: {level: info}\nlog: {level: warn}", want: []string{"proxy.yaml", "log"}},
		{name: "value for a section", file: "pacing: fast", want: []string{"pacing: ", "proxy.yaml"}},
		{name: "text for a port", file: "listen: {secure_port: many}", want: []string{"listen.secure_port: ", `"many"`}},
		{name: "fraction for a port", file: "listen: {secure_port: 5900.5}", want: []string{"listen.secure_port: ", "whole number"}},
		{name: "truth for a port", file: "listen: {secure_port: true}", want: []string{"listen.secure_port: ", "whole number"}},
		{name: "port too high", file: "listen: {secure_port: 65536}", want: []string{"listen.secure_port: 65536 is outside"}},
		{name: "port in the environment", environ: "SPICEPACER_METRICS__PORT=x", want: []string{"metrics.port", "SPICEPACER_METRICS__PORT"}},
		{name: "port as a flag", flags: []string{"--prometheus-port=99999"}, want: []string{"--prometheus-port", "99999"}},
		{name: "no listener", file: "listen: {secure_port: 0, insecure_port: 0}", want: []string{"listen.secure_port: both"}},
		{name: "one port for both", file: "listen: {secure_port: 7, insecure_port: 7}", want: []string{"listen.insecure_port: 7"}},
		{name: "redirect to nowhere", file: "listen: {secure_port: 0}", want: []string{"listen.insecure_mode: redirect"}},
		{name: "insecure mode", file: "listen: {insecure_mode: maybe}", want: []string{`listen.insecure_mode: "maybe"`}},
		{name: "host name to bind to", file: "listen: {address: localhost}", want: []string{"listen.address: ", "localhost"}},
		{name: "empty address", file: "listen: {address: ''}", want: []string{"listen.address: "}},
		{name: "metrics address", flags: []string{"--metrics-address=here"}, want: []string{"metrics.address: ", "--metrics-address"}},
		{name: "no certificate", file: "tls: {cert: ''}", want: []string{"tls.cert: "}},
		{name: "no key", file: "tls: {key: ''}", want: []string{"tls.key: "}},
		{name: "nowhere to keep a certificate", file: "{state_dir: '', tls: {self_signed: true}}", want: []string{"state_dir: "}},
		{name: "text for a truth", file: "tls: {self_signed: perhaps}", want: []string{"tls.self_signed: ", "perhaps"}},
		{name: "control kind", file: "control: {kind: oracle}", want: []string{`control.kind: "oracle"`}},
		{name: "targets for the daemon", file: "control: {targets: [{token: t, hypervisor: h, insecure_port: 1}]}", want: []string{"control.targets: are for control.kind static", "proxy.yaml"}},
		{name: "no socket", file: "control: {socket: ''}", want: []string{"control.socket: must be set"}},
		{name: "socket too long", file: "control: {socket: /" + strings.Repeat("x", 107) + "}", want: []string{"control.socket: is longer than the 107 bytes"}},
		{name: "no node name", file: "control: {node_name: ''}", want: []string{"control.node_name: must be set"}},
		{name: "firewall mode", file: "firewall: {mode: block}", want: []string{`firewall.mode: "block" is none of auto, enforce, warn, off`}},
		{name: "findings", file: "firewall: {findings: warn}", want: []string{`firewall.findings: "warn" is none of observe, enforce, off`}},
		{name: "channel type", file: "firewall: {permitted_channels: [main, sound]}", want: []string{`firewall.permitted_channels[1]: "sound"`, "main"}},
		{name: "size that ends every channel", file: "firewall: {max_message: 1}", want: []string{"firewall.max_message: 1 is outside"}},
		{name: "rate", file: "firewall: {messages_per_second: -1}", want: []string{"firewall.messages_per_second: -1 is outside"}},
		{name: "time limit", file: "control: {rpc_timeout: 0s}", want: []string{"control.rpc_timeout: 0s is outside"}},
		{name: "flag given twice", flags: []string{"--node-name=a", "--node-name", "b"}, want: []string{"--node-name is given more than once"}},
		{name: "switch given twice", flags: []string{"--verbose", "--verbose"}, want: []string{"--verbose is given more than once"}},
		{name: "flag without value", flags: []string{"--node-name"}, want: []string{"--node-name"}},
		{name: "contract hash", file: "control: {contract_hash: ABC}", want: []string{"control.contract_hash: "}},
		{name: "no targets", file: "control: {kind: static, targets: []}", want: []string{"control.targets: "}},
		{name: "target without token", file: withTarget("hypervisor: h, insecure_port: 1"), want: []string{"control.targets[0].token: "}},
		{name: "target without hypervisor", file: withTarget("token: t, insecure_port: 1"), want: []string{"control.targets[0].hypervisor: "}},
		{name: "target with an empty path", file: withTarget("token: t, hypervisor: 'unix:'"), want: []string{"control.targets[0].hypervisor: "}},
		{name: "target without port", file: withTarget("token: t, hypervisor: h"), want: []string{"control.targets[0].insecure_port: "}},
		{name: "target port", file: withTarget("token: t, hypervisor: h, secure_port: -1"), want: []string{"control.targets[0].secure_port: -1"}},
		{name: "target subject", file: withTarget("token: t, hypervisor: h, secure_port: 1, host_subject: X=1"), want: []string{"control.targets[0].host_subject: ", `"X"`}},
		{name: "target certificates", file: withTarget("token: t, hypervisor: h, secure_port: 1, ca_cert: none"), want: []string{"control.targets[0].ca_cert: "}},
		{name: "secret file", file: withTarget("token: 'file:/no/such', hypervisor: h, secure_port: 1"), want: []string{"control.targets[0].token: ", "/no/such"}},
		{name: "token too long", file: withTarget("hypervisor: h, secure_port: 1, token: " + strings.Repeat("x", 61)), want: []string{"control.targets[0].token: ", "60"}},
		{name: "token twice", file: "control: {kind: static, targets: [{token: t, hypervisor: h, secure_port: 1}, {token: t, hypervisor: i, secure_port: 1}]}",
			want: []string{"control.targets[1].token: ", "control.targets[0]"}},
		{name: "list as text", environ: "SPICEPACER_CONTROL__TARGETS=x", want: []string{"control.targets: ", "SPICEPACER_CONTROL__TARGETS"}},
		{name: "connections", file: "limits: {connections: 0}", want: []string{"limits.connections: 0"}},
		{name: "handshakes", file: "limits: {handshakes_per_address: 0}", want: []string{"limits.handshakes_per_address: 0"}},
		{name: "channels per token", file: "limits: {channels_per_token: -1}", want: []string{"limits.channels_per_token: -1"}},
		{name: "proxy protocol", file: "limits: {proxy_protocol_from: [10.0.0.0/8, balancer]}", want: []string{"limits.proxy_protocol_from[1]: ", "balancer", "10.0.0.0/8"}},
		{name: "proxy protocol in the environment", environ: "SPICEPACER_LIMITS__PROXY_PROTOCOL_FROM=10.0.0.1,lb", want: []string{"limits.proxy_protocol_from: ", `"lb"`, "SPICEPACER_LIMITS__PROXY_PROTOCOL_FROM"}},
		{name: "token failures", file: "limits: {token_failures_per_minute: 0}", want: []string{"limits.token_failures_per_minute: 0"}},
		{name: "idle timeout", file: "limits: {idle_timeout: 10ms}", want: []string{"limits.idle_timeout: 10ms"}},
		{name: "log level", file: "log: {level: loud}", want: []string{`log.level: "loud"`}},
		{name: "log format", file: "log: {format: xml}", want: []string{`log.format: "xml"`}},
		{name: "mode", file: "pacing: {mode: fast}", want: []string{"pacing.mode: ", `"fast"`}},
		{name: "duration without unit", file: "pacing: {queue_target: 10}", want: []string{"pacing.queue_target: ", `"10"`}},
		{name: "duration too long", file: "pacing: {queue_target: 2s}", want: []string{"pacing.queue_target: 2s"}},
		{name: "stall timeout", file: "pacing: {stall_timeout: 1ms}", want: []string{"pacing.stall_timeout: 1ms"}},
		{name: "size", file: "pacing: {queue_bytes: 4 furlongs}", want: []string{"pacing.queue_bytes: ", "furlongs"}},
		{name: "size too small", file: "pacing: {queue_bytes: 1}", want: []string{"pacing.queue_bytes: 1 is outside"}},
		{name: "size below zero", file: "pacing: {client: {notsent_lowat: -1}}", want: []string{"pacing.client.notsent_lowat: "}},
		{name: "percent", file: "pacing: {passthrough_percent: 101}", want: []string{"pacing.passthrough_percent: 101"}},
		{name: "buffer", file: "pacing: {backend: {receive_buffer: 0}}", want: []string{"pacing.backend.receive_buffer: "}},
		{name: "segment", file: "pacing: {backend: {max_segment: 64KiB}}", want: []string{"pacing.backend.max_segment: 65536"}},
		{name: "reorder", file: "pacing: {reorder: sometimes}", want: []string{"pacing.reorder: ", "sometimes"}},
		{name: "compression unknown", file: "pacing: {compression: zip}", want: []string{`pacing.compression: "zip" is none of`}},
		{name: "net test", file: "pacing: {net_test: fast}", want: []string{`pacing.net_test: value "fast" is not available`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := tc.file
			if !strings.Contains(file, "control:") {
				file += "\n" + target
			}
			if strings.HasPrefix(file, "{") {
				file = strings.Replace(tc.file, "{", "{control: {kind: static, targets: [{token: t, hypervisor: h, insecure_port: 1}]}, ", 1)
			}
			_, err := loadText(t, file, []string{tc.environ}, tc.flags...)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestErrorsHideSecrets(t *testing.T) {
	const secret = "31337424242"
	for _, file := range []string{
		"control: {targets: [{token: " + secret + "}]}",
		"control: {targets: [{token: [" + secret + "]}]}",
		"control: {targets: [{token: '" + secret + "', ticket: {x: " + secret + "}}]}",
		"control: {targets: [{token: '" + secret + "', hypervisor: h}]}",
	} {
		_, err := loadText(t, file, nil)
		if err == nil {
			t.Errorf("%s: accepted", file)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error shows the secret: %v", file, err)
		}
	}
}

func TestActions(t *testing.T) {
	_, action, err := Load([]string{"--help"}, nil)
	if action != PrintUsage || err != nil {
		t.Errorf("--help: action %d, err %v", action, err)
	}
	cfg, action, err := Load([]string{"--contract-hash"}, nil)
	if action != PrintContractHash || err != nil || cfg.Control.Hash() != NewestContractHash {
		t.Errorf("--contract-hash without targets: action %d, err %v, hash %s", action, err, cfg.Control.Hash())
	}
	other := strings.Repeat("0a", 32)
	cfg, _, err = Load([]string{"--contract-hash"}, []string{"SPICEPACER_CONTROL__CONTRACT_HASH=" + other})
	if err != nil || cfg.Control.Hash() != other {
		t.Errorf("hash %s, err %v; want the configured one", cfg.Control.Hash(), err)
	}
	if _, _, err = Load([]string{"--contract-hash"}, []string{"SPICEPACER_CONTROL__CONTRACT_HASH=x"}); err == nil {
		t.Error("a malformed hash was accepted")
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "4096": 4096, "64KiB": 65536, "4 MiB": 4 << 20, "1GiB": 1 << 30, "1.5MB": 1500000, "2kB": 2000, "1GB": 1e9, "7B": 7,
	} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "0.5", "1.0000001KiB", "3GiB", "NaN", "Inf", "1 TiB", "1e400"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q accepted as %d", text, got)
		}
	}
}

// TestWithoutFile: the contract's defaults, pacing on.
func TestWithoutFile(t *testing.T) {
	got, action, err := load(nil, nil, filepath.Join(t.TempDir(), "none.yaml"))
	if err != nil || action != Run {
		t.Fatalf("action %d, err %v", action, err)
	}
	if diff := cmp.Diff(Default(), got, compareAddresses); diff != "" {
		t.Error(diff)
	}
	if got.Control.Kind != ControlKerbside || got.Pacing.Mode != "adaptive" {
		t.Errorf("control.kind %q, pacing.mode %q", got.Control.Kind, got.Pacing.Mode)
	}
}

func TestDefaultFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proxy.yaml")
	if err := os.WriteFile(path, []byte("pacing: {mode: withhold}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, err := load(nil, nil, path); err != nil || got.Pacing.Mode != "withhold" {
		t.Errorf("mode %q, %v; want the default file to be read", got.Pacing.Mode, err)
	}
	if got, _, err := load([]string{"--config", "../deploy/kerbside.example.yaml"}, nil, path); err != nil || got.Pacing.Mode != "adaptive" {
		t.Errorf("mode %q, %v; want the named file alone", got.Pacing.Mode, err)
	}
	if err := os.WriteFile(path, []byte("pacing: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := load(nil, nil, path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("err %v, want the broken default file", err)
	}
	if _, _, err := load(nil, nil, t.TempDir()); err == nil {
		t.Error("a default file that is a directory was accepted")
	}
}

func TestKerbsideExample(t *testing.T) {
	cfg, action, err := Load([]string{"--config", "../deploy/kerbside.example.yaml"}, nil)
	if err != nil || action != Run {
		t.Fatalf("action %d, err %v", action, err)
	}
	if diff := cmp.Diff(Default(), cfg, compareAddresses); diff != "" {
		t.Errorf("the example does not show the defaults:\n%s", diff)
	}
}

func TestAddressesAreFatal(t *testing.T) {
	for flag, fatal := range map[string]bool{"--vdi-address": true, "--metrics-address": true, "--secure-port": false} {
		_, _, err := load([]string{flag, "localhost"}, nil, "/no/such/file")
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Fatal() != fatal {
			t.Errorf("%s localhost: %v; want fatal %v", flag, err, fatal)
		}
	}
}

// TestDocumentation keeps docs/configuration.md complete and current.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	all := knownKeys()
	for _, key := range all {
		isSection := slices.ContainsFunc(all, func(k string) bool {
			return strings.HasPrefix(k, key+".")
		})
		if !isSection {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if !strings.Contains(string(text), "| `"+key+"` |") {
			t.Errorf("key %s has no row", key)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.\\[\\]]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(keys, row[1]) {
			t.Errorf("row for %s, which is no key", row[1])
		}
	}
	for name := range flagKeys {
		if !strings.Contains(string(text), "`--"+name+"`") {
			t.Errorf("flag --%s is not described", name)
		}
	}
}

func TestTargetForAuthorizer(t *testing.T) {
	got := Target{Name: "n", Hypervisor: "h", InsecurePort: 1, SecurePort: 65535, Ticket: "t", CACert: "c", HostSubject: "s"}.Authz()
	want := authz.Target{Name: "n", Hypervisor: "h", InsecurePort: 1, SecurePort: 65535, Ticket: "t", CACert: "c", HostSubject: "s"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
