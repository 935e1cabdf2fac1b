// Package config reads the proxy's settings: defaults, then a YAML file, then
// environment variables, then flags, each overriding the one before.
//
//	cfg, action, err := config.Load(os.Args[1:], os.Environ())
//
// Every mistake is an *Error that names the key and where its value came from.
// docs/configuration.md describes the keys.
package config

import (
	"net/netip"
	"time"

	"spicepacer/session/authz"
)

// Config holds every setting; the koanf tags are the names in the file.
type Config struct {
	Listen Listen `koanf:"listen"`
	TLS    TLS    `koanf:"tls"`
	// StateDir is where the proxy keeps what it makes itself.
	StateDir string   `koanf:"state_dir"`
	Control  Control  `koanf:"control"`
	Limits   Limits   `koanf:"limits"`
	Firewall Firewall `koanf:"firewall"`
	Metrics  Metrics  `koanf:"metrics"`
	Log      Log      `koanf:"log"`
	Pacing   Pacing   `koanf:"pacing"`
}

// Listen says where clients connect. A port of 0 is off.
type Listen struct {
	Address      netip.Addr `koanf:"address"`
	SecurePort   int        `koanf:"secure_port"`
	InsecurePort int        `koanf:"insecure_port"`
	InsecureMode string     `koanf:"insecure_mode"`
}

// Values of Listen.InsecureMode.
const (
	InsecureRedirect = "redirect"
	InsecureServe    = "serve"
)

// TLS is the certificate shown to clients: files, or one of our own making.
type TLS struct {
	Cert       string `koanf:"cert"`
	Key        string `koanf:"key"`
	SelfSigned bool   `koanf:"self_signed"`
}

// Control says who decides where a client may connect.
type Control struct {
	Kind         string        `koanf:"kind"`
	Socket       string        `koanf:"socket"`
	NodeName     string        `koanf:"node_name"`
	RPCTimeout   time.Duration `koanf:"rpc_timeout"`
	ContractHash string        `koanf:"contract_hash"`
	Targets      []Target      `koanf:"targets"`
}

// Values of Control.Kind.
const (
	ControlStatic   = "static"
	ControlKerbside = "kerbside"
)

// NewestContractHash is the SHA-256 of the newest kerbside.proto known, which
// the Kerbside daemon compares before it starts the proxy.
const NewestContractHash = "f06c4ef819009d68c0d0e91ff3ea3fa1b53f3d4cfe6a16efa4510f951e988291"

// Hash is the contract this proxy claims to speak: ContractHash, or the newest.
func (c Control) Hash() string {
	if c.ContractHash == "" {
		return NewestContractHash
	}
	return c.ContractHash
}

// Target is one hypervisor of the static list, and the token that opens it.
type Target struct {
	Token        authz.Secret `koanf:"token"`
	Name         string       `koanf:"name"`
	Hypervisor   string       `koanf:"hypervisor"`
	InsecurePort int          `koanf:"insecure_port"`
	SecurePort   int          `koanf:"secure_port"`
	Ticket       authz.Secret `koanf:"ticket"`
	CACert       string       `koanf:"ca_cert"`
	HostSubject  string       `koanf:"host_subject"`
}

// Limits bound what clients can make the proxy hold.
type Limits struct {
	Connections       int            `koanf:"connections"`
	HandshakesPerAddr int            `koanf:"handshakes_per_address"`
	ChannelsPerToken  int            `koanf:"channels_per_token"`
	TokenFailures     int            `koanf:"token_failures_per_minute"`
	IdleTimeout       time.Duration  `koanf:"idle_timeout"`
	ProxyProtocolFrom []netip.Prefix `koanf:"proxy_protocol_from"`
}

// Firewall says what messages are allowed. Sizes are those of message bodies, a
// rate is for one direction of a channel, and 0 is no limit.
type Firewall struct {
	Mode              string   `koanf:"mode"`
	Findings          string   `koanf:"findings"`
	PermittedChannels []string `koanf:"permitted_channels"`
	MaxInput          Size     `koanf:"max_input"`
	MaxMessage        Size     `koanf:"max_message"`
	MaxPicture        Size     `koanf:"max_picture"`
	MessagesPerSecond int      `koanf:"messages_per_second"`
	BytesPerSecond    Size     `koanf:"bytes_per_second"`
}

// Values of Firewall.Mode and Firewall.Findings. FirewallAuto is a mode only,
// FirewallWarn too, and FirewallObserve is for findings.
const (
	FirewallAuto    = "auto"
	FirewallEnforce = "enforce"
	FirewallWarn    = "warn"
	FirewallOff     = "off"
	FirewallObserve = "observe"
)

// Metrics is the address of the Prometheus page. A port of 0 is off.
type Metrics struct {
	Address netip.Addr `koanf:"address"`
	Port    int        `koanf:"port"`
}

// Log says what is logged and how.
type Log struct {
	Level  string `koanf:"level"`
	Format string `koanf:"format"`
}

// Values of Log.Format.
const (
	FormatConsole = "console"
	FormatJSON    = "json"
)

// Pacing says how display channels are treated.
type Pacing struct {
	Mode               string        `koanf:"mode"`
	QueueTarget        time.Duration `koanf:"queue_target"`
	QueueBytes         Size          `koanf:"queue_bytes"`
	Reorder            bool          `koanf:"reorder"`
	Compression        string        `koanf:"compression"`
	NetTest            string        `koanf:"net_test"`
	StallTimeout       time.Duration `koanf:"stall_timeout"`
	TraceDir           string        `koanf:"trace_dir"`
	PassthroughPercent int           `koanf:"passthrough_percent"`
	RawValve           bool          `koanf:"raw_valve"`
	Client             Client        `koanf:"client"`
	Backend            Backend       `koanf:"backend"`
}

// Client are socket options of paced client legs; zero leaves the kernel's.
type Client struct {
	CongestionControl string `koanf:"congestion_control"`
	NotSentLowat      Size   `koanf:"notsent_lowat"`
}

// Backend are socket options of hypervisor legs in adaptive mode.
type Backend struct {
	ReceiveBuffer Buffer `koanf:"receive_buffer"`
	MaxSegment    Buffer `koanf:"max_segment"`
}

// Default returns the settings of an empty file.
func Default() Config {
	return Config{
		Listen: Listen{Address: netip.IPv4Unspecified(), SecurePort: 5900, InsecurePort: 5901, InsecureMode: InsecureRedirect},
		TLS: TLS{
			Cert: "/etc/pki/CA/certs/proxy.pem",
			Key:  "/etc/pki/CA/certs/proxy-key.pem",
		},
		StateDir: "/var/lib/spicepacer",
		Control: Control{
			Kind:       ControlKerbside,
			Socket:     "/run/kerbside/api.sock",
			NodeName:   "kerbside",
			RPCTimeout: 10 * time.Second,
		},
		Limits: Limits{Connections: 1000, HandshakesPerAddr: 32, ChannelsPerToken: 64, TokenFailures: 60, IdleTimeout: 15 * time.Minute},
		Firewall: Firewall{
			Mode: FirewallAuto, Findings: FirewallObserve,
			MaxInput: 4 << 10, MaxMessage: 16 << 20, MaxPicture: 128 << 20,
		},
		Metrics: Metrics{Address: netip.MustParseAddr("127.0.0.1"), Port: 13003},
		Log:     Log{Level: "info", Format: FormatConsole},
		Pacing: Pacing{
			Mode:         "adaptive",
			QueueTarget:  10 * time.Millisecond,
			QueueBytes:   4 << 20,
			Reorder:      true,
			Compression:  "auto",
			NetTest:      "pass",
			StallTimeout: 30 * time.Second,
		},
	}
}
