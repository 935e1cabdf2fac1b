package config

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// Action is what the command line asks for.
type Action uint8

const (
	// Run runs the proxy.
	Run Action = iota
	// PrintContractHash prints Control.Hash on one line.
	PrintContractHash
	// PrintUsage prints Usage.
	PrintUsage
)

// flagKeys are the flags of the Kerbside contract that stand for a key.
var flagKeys = map[string]string{
	"vdi-address":                "listen.address",
	"secure-port":                "listen.secure_port",
	"insecure-port":              "listen.insecure_port",
	"cert":                       "tls.cert",
	"cert-key":                   "tls.key",
	"node-name":                  "control.node_name",
	"prometheus-port":            "metrics.port",
	"metrics-address":            "metrics.address",
	"api-socket":                 "control.socket",
	"client-notsent-lowat-bytes": "pacing.client.notsent_lowat",
	"backend-rcvbuf-bytes":       "pacing.backend.receive_buffer",
	"verbose":                    "log.level",
}

// newFlags declares the command line. The defaults shown are the contract's; a
// flag that is not given leaves its key alone.
func newFlags() *pflag.FlagSet {
	d := Default()
	f := pflag.NewFlagSet("kerbside-proxy", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {} // the caller prints it
	f.String("config", DefaultFile, "YAML file of settings; the default may be absent")
	f.String("vdi-address", d.Listen.Address.String(), "address both SPICE listeners bind to")
	f.Uint16("secure-port", uint16(d.Listen.SecurePort), "port for SPICE over TLS, 0: off")
	f.Uint16("insecure-port", uint16(d.Listen.InsecurePort), "port for SPICE in plaintext, 0: off")
	f.String("cert", d.TLS.Cert, "PEM certificate chain shown to clients")
	f.String("cert-key", d.TLS.Key, "PEM key of that certificate")
	f.String("cacert", "/etc/pki/CA/ca-cert.pem", "accepted for Kerbside's sake, without effect")
	f.String("host-subject", "C=US,O=Shaken Fist,CN=Kerbside Proxy", "accepted for Kerbside's sake, without effect")
	f.String("node-name", d.Control.NodeName, "name of this node in the control plane")
	f.Uint16("prometheus-port", uint16(d.Metrics.Port), "port of the metrics page, 0: off")
	f.String("metrics-address", d.Metrics.Address.String(), "address of the metrics page")
	f.String("api-socket", d.Control.Socket, "unix socket of the Kerbside daemon")
	f.Uint32("client-notsent-lowat-bytes", 0, "TCP_NOTSENT_LOWAT of client sockets, 0: leave alone")
	f.Uint32("backend-rcvbuf-bytes", 0, "SO_RCVBUF of hypervisor sockets, 0: leave alone")
	f.Bool("verbose", false, "log at level debug")
	f.Bool("contract-hash", false, "print the hash of the Kerbside contract and exit")
	return f
}

// parse reads the command line. A flag given twice is a mistake: which of its
// values is meant, nobody can tell.
func parse(f *pflag.FlagSet, args []string) error {
	seen := make(map[string]bool)
	return f.ParseAll(args, func(flag *pflag.Flag, value string) error {
		if seen[flag.Name] {
			return fmt.Errorf("flag --%s is given more than once", flag.Name)
		}
		seen[flag.Name] = true
		return f.Set(flag.Name, value)
	})
}

// Usage describes the flags.
func Usage() string {
	return "Usage: kerbside-proxy [--config FILE] [flags]\n\n" + newFlags().FlagUsages()
}

// flagValue gives the key a flag stands for, empty for none, and its value.
func flagValue(f *pflag.Flag) (string, any) {
	value := f.Value.String()
	switch f.Name {
	case "verbose":
		if value != "true" {
			return "", nil
		}
		value = "debug"
	case "backend-rcvbuf-bytes":
		// Kerbside's "leave alone" is not our "auto".
		if strings.Trim(value, "0") == "" {
			value = "off"
		}
	}
	return flagKeys[f.Name], value
}

// flagOf is the inverse of flagKeys.
func flagOf(key string) string {
	for name, k := range flagKeys {
		if k == key {
			return "--" + name
		}
	}
	return ""
}
