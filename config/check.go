package config

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"spicepacer/pacer"
	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// complete checks every value and reads the secrets that are kept in files. The
// first mistake is returned, as an *Error.
func (c *Config) complete() error {
	for _, check := range []func() error{
		c.checkListen, c.checkContractHash, c.checkControl, c.completeTargets, c.checkLimits, c.checkFirewall, c.checkService, c.checkPacing, c.checkSockets,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkListen() error {
	l := c.Listen
	switch {
	case l.SecurePort == 0 && l.InsecurePort == 0:
		return bad("listen.secure_port", "both listeners are off")
	case l.SecurePort != 0 && l.SecurePort == l.InsecurePort:
		return bad("listen.insecure_port", "%d is the secure port too", l.InsecurePort)
	case l.SecurePort == 0 && l.InsecureMode == InsecureRedirect:
		return bad("listen.insecure_mode", "redirect needs a secure port")
	case l.SecurePort != 0 && c.TLS.SelfSigned && c.StateDir == "":
		return bad("state_dir", "must be set to keep the self-signed certificate")
	case l.SecurePort != 0 && !c.TLS.SelfSigned && c.TLS.Cert == "":
		return bad("tls.cert", "must be set")
	case l.SecurePort != 0 && !c.TLS.SelfSigned && c.TLS.Key == "":
		return bad("tls.key", "must be set")
	}
	return first(
		port("listen.secure_port", l.SecurePort),
		port("listen.insecure_port", l.InsecurePort),
		oneOf("listen.insecure_mode", l.InsecureMode, InsecureRedirect, InsecureServe),
	)
}

var contractHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (c *Config) checkContractHash() error {
	if !contractHash.MatchString(c.Control.Hash()) {
		return bad("control.contract_hash", "must be 64 lower-case hexadecimal digits")
	}
	return nil
}

func (c *Config) checkControl() error {
	return first(
		oneOf("control.kind", c.Control.Kind, ControlStatic, ControlKerbside),
		duration("control.rpc_timeout", c.Control.RPCTimeout, time.Millisecond, time.Hour),
		c.checkKerbside(),
	)
}

// maxSocketPath is what sockaddr_un holds beside the terminating zero (unix(7)).
const maxSocketPath = 107

func (c *Config) checkKerbside() error {
	if c.Control.Kind != ControlKerbside {
		return nil
	}
	switch {
	case c.Control.Socket == "":
		return bad("control.socket", "must be set")
	case len(c.Control.Socket) > maxSocketPath:
		return bad("control.socket", "is longer than the %d bytes a socket's path may have", maxSocketPath)
	case c.Control.NodeName == "":
		return bad("control.node_name", "must be set")
	case len(c.Control.Targets) > 0:
		return bad("control.targets", "are for control.kind static; kind kerbside asks the daemon")
	}
	return nil
}

func (c *Config) checkLimits() error {
	return first(
		within("limits.connections", c.Limits.Connections, 1, 1_000_000),
		within("limits.handshakes_per_address", c.Limits.HandshakesPerAddr, 1, 1_000_000),
		within("limits.channels_per_token", c.Limits.ChannelsPerToken, 0, 1_000_000),
		within("limits.token_failures_per_minute", c.Limits.TokenFailures, 1, 1_000_000),
		c.checkIdle(),
	)
}

// checkFirewall checks what messages are allowed. A limit below the smallest
// messages would end every channel.
func (c *Config) checkFirewall() error {
	f := c.Firewall
	for i, name := range f.PermittedChannels {
		if _, known := channelType(name); !known {
			return bad(fmt.Sprintf("firewall.permitted_channels[%d]", i), "%q is no channel type, such as %s, %s or %s", name,
				spiceproto.ChannelMain, spiceproto.ChannelDisplay, spiceproto.ChannelUSBRedir)
		}
	}
	const least = 128
	return first(
		oneOf("firewall.mode", f.Mode, FirewallAuto, FirewallEnforce, FirewallWarn, FirewallOff),
		oneOf("firewall.findings", f.Findings, FirewallObserve, FirewallEnforce, FirewallOff),
		within("firewall.max_input", int(f.MaxInput), least, math.MaxInt32),
		within("firewall.max_message", int(f.MaxMessage), least, math.MaxInt32),
		within("firewall.max_picture", int(f.MaxPicture), least, math.MaxInt32),
		within("firewall.messages_per_second", f.MessagesPerSecond, 0, math.MaxInt32),
	)
}

// Permitted returns the types of PermittedChannels.
func (f Firewall) Permitted() []spiceproto.ChannelType {
	var types []spiceproto.ChannelType
	for _, name := range f.PermittedChannels {
		if t, known := channelType(name); known {
			types = append(types, t)
		}
	}
	return types
}

func channelType(name string) (spiceproto.ChannelType, bool) {
	for t := spiceproto.ChannelMain; t.Valid(); t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// checkIdle allows 0, for no limit.
func (c *Config) checkIdle() error {
	if c.Limits.IdleTimeout == 0 {
		return nil
	}
	return duration("limits.idle_timeout", c.Limits.IdleTimeout, time.Second, 30*24*time.Hour)
}

// checkService checks the sections that are not about SPICE.
func (c *Config) checkService() error {
	return first(
		port("metrics.port", c.Metrics.Port),
		oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error"),
		oneOf("log.format", c.Log.Format, FormatConsole, FormatJSON),
	)
}

func (c *Config) checkPacing() error {
	p := c.Pacing
	if _, err := pacer.ParseMode(p.Mode); err != nil {
		return bad("pacing.mode", "%w", err)
	}
	return first(
		duration("pacing.queue_target", p.QueueTarget, time.Millisecond, time.Second),
		within("pacing.queue_bytes", int(p.QueueBytes), 64<<10, 1<<30),
		oneOf("pacing.compression", p.Compression, "keep", "auto", "lz", "quic", "lz4"),
		oneOf("pacing.net_test", p.NetTest, "pass", "fast", "measured"),
		available("pacing.net_test", p.NetTest, "pass"),
		duration("pacing.stall_timeout", p.StallTimeout, time.Second, time.Hour),
		within("pacing.passthrough_percent", p.PassthroughPercent, 0, 100),
	)
}

// checkSockets checks the socket options of both legs.
func (c *Config) checkSockets() error {
	if s := c.Pacing.Backend.MaxSegment; s > 0 {
		// TCP_MIN_MSS and MAX_TCP_WINDOW of Linux; others are refused at connect.
		return within("pacing.backend.max_segment", int(s), 88, 32767)
	}
	return nil
}

// Secrets and certificates may be kept in files.
const filePrefix = "file:"

// completeTargets checks the static list and reads what it keeps in files.
func (c *Config) completeTargets() error {
	if c.Control.Kind == ControlStatic && len(c.Control.Targets) == 0 {
		return bad("control.targets", "needs at least one target")
	}
	tokens := make(map[authz.Secret]int)
	for i := range c.Control.Targets {
		t := &c.Control.Targets[i]
		key := fmt.Sprintf("control.targets[%d].", i)
		if err := t.complete(key); err != nil {
			return err
		}
		if other, taken := tokens[t.Token]; taken {
			return bad(key+"token", "is the token of control.targets[%d] too", other)
		}
		tokens[t.Token] = i
	}
	return nil
}

func (t *Target) complete(key string) error {
	if err := first(
		readSecret(key+"token", &t.Token),
		readSecret(key+"ticket", &t.Ticket),
		readText(key+"ca_cert", &t.CACert),
	); err != nil {
		return err
	}
	if t.Name == "" {
		t.Name = t.Hypervisor
	}
	path, unix := t.Authz().UnixPath()
	switch {
	case t.Token == "":
		return bad(key+"token", "must not be empty")
	case t.Hypervisor == "" || unix && path == "":
		return bad(key+"hypervisor", "must be a host, an address or unix:/path")
	case !unix && t.InsecurePort == 0 && t.SecurePort == 0:
		return bad(key+"insecure_port", "neither this nor secure_port is set")
	}
	if _, err := t.Authz().Roots(); err != nil {
		return bad(key+"ca_cert", "%w", err)
	}
	if _, err := authz.ParseSubject(t.HostSubject); err != nil {
		return bad(key+"host_subject", "%w", err)
	}
	return first(
		port(key+"insecure_port", t.InsecurePort),
		port(key+"secure_port", t.SecurePort),
	)
}

// Authz returns the target as the authorizer knows it.
func (t Target) Authz() authz.Target {
	return authz.Target{
		Name:         t.Name,
		Hypervisor:   t.Hypervisor,
		InsecurePort: uint16(t.InsecurePort),
		SecurePort:   uint16(t.SecurePort),
		Ticket:       t.Ticket,
		CACert:       t.CACert,
		HostSubject:  t.HostSubject,
	}
}

// readSecret replaces file:/path by the file's text, without the newline that
// editors put at its end.
func readSecret(key string, s *authz.Secret) error {
	text := string(*s)
	if err := readText(key, &text); err != nil {
		return err
	}
	if text != string(*s) {
		text = strings.TrimRight(text, "\r\n")
	}
	if len(text) > spiceproto.MaxPassword {
		return bad(key, "is longer than SPICE allows (%d bytes)", spiceproto.MaxPassword)
	}
	*s = authz.Secret(text)
	return nil
}

func readText(key string, s *string) error {
	path, ok := strings.CutPrefix(*s, filePrefix)
	if !ok {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return bad(key, "%w", err)
	}
	*s = string(text)
	return nil
}

// first returns the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func port(key string, value int) error { return within(key, value, 0, 65535) }

func within(key string, value, low, high int) error {
	if value < low || value > high {
		return bad(key, "%d is outside %d..%d", value, low, high)
	}
	return nil
}

func duration(key string, value, low, high time.Duration) error {
	if value < low || value > high {
		return bad(key, "%v is outside %v..%v", value, low, high)
	}
	return nil
}

func oneOf(key, value string, known ...string) error {
	if !slices.Contains(known, value) {
		return bad(key, "%q is none of %s", value, strings.Join(known, ", "))
	}
	return nil
}

// available refuses values of the contract that this version does not act on:
// ignoring them would mislead.
func available(key, value, only string) error {
	if value != only {
		return bad(key, "value %q is not available in this version", value)
	}
	return nil
}
