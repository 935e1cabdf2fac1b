package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"spicepacer/session/authz/kerbside/kerbsidepb"
	"spicepacer/spiceproto"
)

// Main is the subcommand "spicebench control": it serves until it is
// interrupted.
func Main(ctx context.Context, args []string) error {
	f, err := parseFlags(args, os.Stdout)
	if err != nil {
		return err
	}
	return run(ctx, f, os.Stdin)
}

// run serves until ctx ends, carrying out the script and then the commands.
func run(ctx context.Context, f flags, commands io.Reader) error {
	d, err := Start(f.options)
	if err != nil {
		return err
	}
	defer d.Stop()
	if f.script != "" {
		script, err := os.Open(f.script)
		if err != nil {
			return err
		}
		defer script.Close()
		if err := d.play(ctx, f.script, script); err != nil {
			return err
		}
	}
	wrong := make(chan error, 1)
	go func() {
		if err := d.play(ctx, "standard input", commands); err != nil {
			wrong <- err
		}
	}()
	select {
	case err := <-wrong:
		return err
	case <-ctx.Done():
		return nil
	}
}

type flags struct {
	options Options
	script  string
}

// parseFlags understands the flags of Kerbside's own stand-in, where both have
// the same.
func parseFlags(args []string, stdout io.Writer) (flags, error) {
	t := &kerbsidepb.Target{}
	f := flags{options: Options{Target: t, Record: stdout}}
	var caCert, ticket, mode, record string
	var permitted []string
	set := pflag.NewFlagSet("spicebench control", pflag.ContinueOnError)
	set.Usage = func() { fmt.Fprint(os.Stderr, "Flags:\n", set.FlagUsages(), "\n", scriptHelp) }
	set.StringVar(&f.options.Socket, "socket", "", "unix socket to serve on")
	set.StringVar(&t.Hypervisor, "hypervisor", "mock-hypervisor", "name of the target, or unix:/path")
	set.StringVar(&t.HypervisorIp, "hypervisor-ip", "127.0.0.1", "address of the target")
	set.Uint32Var(&t.InsecurePort, "insecure-port", 0, "plaintext port of the target; 0: none")
	set.Uint32Var(&t.SecurePort, "secure-port", 0, "TLS port of the target; 0: none")
	set.StringVar(&ticket, "ticket", "", "SPICE password of the target, or file:/path")
	set.StringVar(&caCert, "ca-cert", "", "PEM file of authorities for the TLS port")
	set.StringVar(&t.HostSubject, "host-subject", "", "certificate subject to pin")
	set.StringVar(&t.Source, "source", "spicebench", "source that audit events name")
	set.StringVar(&t.Uuid, "uuid", "00000000-0000-4000-8000-000000000000", "console that audit events name")
	set.StringVar(&t.SessionId, "session-id", "spicebench-session", "session that every token belongs to")
	set.StringVar(&mode, "firewall-mode", "", "enforce or warn; empty: send no policy")
	set.StringSliceVar(&permitted, "permitted-channels", nil, "channel types that may be opened; none: all")
	set.StringArrayVar(&f.options.DenyTokens, "deny-token", nil, "token to refuse; may be repeated")
	set.BoolVar(&f.options.DenyAll, "deny-all", false, "refuse every token")
	set.DurationVar(&f.options.Heartbeat, "heartbeat", defaultHeartbeat, "interval of heartbeats")
	set.DurationVar(&f.options.TerminateAfter, "terminate-after", 0, "terminate the session this long after the first authorization; 0: never")
	set.StringVar(&record, "record", "", "file to append the calls to, as JSON lines (default: standard output)")
	set.StringVar(&f.script, "script", "", "file of commands")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if set.NArg() > 0 {
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if f.options.Socket == "" {
		return f, errors.New("--socket is needed")
	}
	if f.options.Heartbeat < time.Millisecond {
		return f, fmt.Errorf("--heartbeat %v is below 1ms", f.options.Heartbeat)
	}
	var err error
	if f.options.Policy, err = policy(mode, permitted); err != nil {
		return f, err
	}
	return f, errors.Join(
		readFile("--ca-cert", caCert, &t.CaCert),
		secret(ticket, &t.Ticket),
		open(record, &f.options.Record),
	)
}

func policy(mode string, permitted []string) (*kerbsidepb.FirewallPolicy, error) {
	p := &kerbsidepb.FirewallPolicy{}
	switch mode {
	case "":
		if len(permitted) == 0 {
			return nil, nil
		}
	case "enforce":
	case "warn":
		p.Mode = kerbsidepb.FirewallPolicy_WARN_ONLY
	default:
		return nil, fmt.Errorf("--firewall-mode %q is neither enforce nor warn", mode)
	}
	numbers := make(map[string]uint32)
	for t := spiceproto.ChannelMain; t.Valid(); t++ {
		numbers[t.String()] = uint32(t)
	}
	for _, name := range permitted {
		number, ok := numbers[name]
		if !ok {
			return nil, fmt.Errorf("--permitted-channels: unknown channel type %q", name)
		}
		p.PermittedChannels = append(p.PermittedChannels, number)
	}
	return p, nil
}

func readFile(flag, path string, to *string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	*to = string(text)
	return nil
}

func secret(text string, to *string) error {
	path, ok := strings.CutPrefix(text, "file:")
	if !ok {
		*to = text
		return nil
	}
	err := readFile("--ticket", path, to)
	*to = strings.TrimRight(*to, "\r\n")
	return err
}

func open(path string, to *io.Writer) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	*to = f
	return nil
}
