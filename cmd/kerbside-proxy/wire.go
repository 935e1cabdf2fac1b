package main

import (
	"net/netip"

	"go.uber.org/zap"

	"spicepacer/config"
	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// sessionConfig translates the settings and loads the certificate from its files.
func sessionConfig(c config.Config, files session.CertificateFiles) (session.Config, error) {
	s := session.DefaultConfig()
	s.Address = c.Listen.Address
	s.SecurePort, s.InsecurePort = c.Listen.SecurePort, c.Listen.InsecurePort
	if c.Listen.InsecureMode == config.InsecureServe {
		s.InsecureMode = session.ServePlain
	}
	s.Connections = c.Limits.Connections
	s.HandshakesPerAddress = c.Limits.HandshakesPerAddr
	s.ChannelsPerToken = c.Limits.ChannelsPerToken
	s.Firewall = firewallConfig(c.Firewall)
	s.TokenFailures = c.Limits.TokenFailures
	s.Timeouts.Idle = c.Limits.IdleTimeout
	s.ProxyProtocolFrom = c.Limits.ProxyProtocolFrom
	var err error
	if s.SecurePort != 0 {
		if s.Certificate, err = files.Load(); err != nil {
			return s, err
		}
	}
	s.Pacing, err = pacingConfig(c.Pacing)
	return s, err
}

// firewallModes and firewallFindings are the values of firewall.mode and
// firewall.findings.
var firewallModes = map[string]firewall.Mode{
	config.FirewallAuto: firewall.Auto, config.FirewallEnforce: firewall.Enforce,
	config.FirewallWarn: firewall.WarnOnly, config.FirewallOff: firewall.Off,
}

var firewallFindings = map[string]firewall.Findings{
	config.FirewallOff: firewall.IgnoreFindings, config.FirewallObserve: firewall.ObserveFindings,
	config.FirewallEnforce: firewall.EnforceFindings,
}

func firewallConfig(f config.Firewall) session.Firewall {
	return session.Firewall{
		Config: firewall.Config{
			Mode:       firewallModes[f.Mode],
			Findings:   firewallFindings[f.Findings],
			MaxInput:   uint32(f.MaxInput),
			MaxPicture: uint32(f.MaxPicture),
			MaxMessage: uint32(f.MaxMessage),
			Rate:       firewall.Rate{Messages: uint64(f.MessagesPerSecond), Bytes: uint64(f.BytesPerSecond)},
		},
		Permitted: f.Permitted(),
	}
}

// certificateFiles are those of the secure port's certificate.
func certificateFiles(c config.Config) session.CertificateFiles {
	if selfSigned(c) {
		return session.SelfSignedFiles(c.StateDir)
	}
	return session.CertificateFiles{Cert: c.TLS.Cert, Key: c.TLS.Key}
}

// selfSigned tells that the secure port's certificate is to be our own.
func selfSigned(c config.Config) bool { return c.TLS.SelfSigned && c.Listen.SecurePort != 0 }

// makeCertificate makes the secure port's certificate if it is to be our own and
// there is none yet.
func makeCertificate(c config.Config) error {
	if !selfSigned(c) {
		return nil
	}
	_, err := session.SelfSigned(c.StateDir, c.Listen.Address)
	return err
}

// compressions are the values of pacing.compression that ask for one; the others
// leave the choice to the client, for ever or while the link is not the limit.
var compressions = map[string]spiceproto.Compression{
	"lz": spiceproto.CompressionLZ, "quic": spiceproto.CompressionQUIC, "lz4": spiceproto.CompressionLZ4,
}

func pacingConfig(p config.Pacing) (session.Pacing, error) {
	mode, err := pacer.ParseMode(p.Mode)
	return session.Pacing{
		Mode:               mode,
		QueueTarget:        p.QueueTarget,
		QueueBytes:         int(p.QueueBytes),
		StallTimeout:       p.StallTimeout,
		RawValve:           p.RawValve,
		Reorder:            p.Reorder,
		Compression:        compressions[p.Compression],
		CompressionAuto:    p.Compression == "auto",
		PassthroughPercent: p.PassthroughPercent,
		Client: session.ClientOptions{
			CongestionControl: p.Client.CongestionControl,
			NotSentLowat:      int(p.Client.NotSentLowat),
		},
		Backend: session.BackendOptions{
			ReceiveBuffer: socketOption(p.Backend.ReceiveBuffer),
			MaxSegment:    socketOption(p.Backend.MaxSegment),
		},
	}, err
}

func socketOption(b config.Buffer) int {
	switch b {
	case config.BufferAuto:
		return session.OptionAuto
	case config.BufferOff:
		return session.OptionOff
	}
	return int(b)
}

func staticEntries(targets []config.Target) []authz.Entry {
	entries := make([]authz.Entry, len(targets))
	for i, t := range targets {
		entries[i] = authz.Entry{Token: t.Token, Target: t.Authz()}
	}
	return entries
}

func kerbsideConfig(c config.Control) kerbside.Config {
	return kerbside.Config{Socket: c.Socket, Node: c.NodeName, Timeout: c.RPCTimeout}
}

// startFields are the settings that the first line of the log shows.
func startFields(c config.Config) []zap.Field {
	files := certificateFiles(c)
	return []zap.Field{
		zap.Stringer("vdi_address", c.Listen.Address),
		zap.Int("secure_port", c.Listen.SecurePort),
		zap.Int("insecure_port", c.Listen.InsecurePort),
		zap.String("cert", files.Cert),
		zap.String("cert_key", files.Key),
		zap.String("control", c.Control.Kind),
		zap.String("node_name", c.Control.NodeName),
		zap.String("api_socket", c.Control.Socket),
		zap.Stringer("metrics_address", c.Metrics.Address),
		zap.Int("prometheus_port", c.Metrics.Port),
		zap.String("firewall", c.Firewall.Mode),
		zap.String("findings", c.Firewall.Findings),
		zap.String("mode", c.Pacing.Mode),
	}
}

func metricsAddress(m config.Metrics) netip.AddrPort {
	return netip.AddrPortFrom(m.Address, uint16(m.Port))
}
