package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// tolerance is how far the self-test lets the link be from its profile.
const tolerance = 0.03

// Main is the subcommand "spicebench link": it makes a link and tests it, runs a
// command at its client end, or keeps it up until it is interrupted.
func Main(ctx context.Context, args []string) error {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	return run(ctx, f)
}

type flags struct {
	profile  Profile
	options  Options
	selftest bool
	command  []string
}

func parseFlags(args []string) (f flags, err error) {
	set := pflag.NewFlagSet("spicebench link", pflag.ContinueOnError)
	profile := set.String("profile", "80:10", "`RTT_MS:RATE_MBIT[:LOSS%]`, alike in both directions")
	buffer := set.Float64("buffer-bdp", 1, "queue depth in bandwidth-delay products")
	set.BoolVar(&f.selftest, "selftest", false, "measure rate and round trip; fail if they are off by over 3 %")
	set.StringVar(&f.options.CongestionControl, "cc", DefaultCongestionControl, "TCP congestion control in both namespaces")
	set.BoolVar(&f.options.Netem, "netem", false, "shape with the kernel's netem instead of in user space")
	set.Uint64Var(&f.options.Seed, "seed", 1, "seed of the random loss")
	set.Usage = func() {
		fmt.Fprintf(os.Stderr, "Usage: spicebench link [flags] [-- COMMAND...]\n\n"+
			"COMMAND runs in the client's namespace. Without it the link stays up until\n"+
			"interrupted.\n\n%s", set.FlagUsages())
	}
	if err := set.Parse(args); err != nil {
		return f, err
	}
	f.command = set.Args()
	f.profile, err = ParseProfile(*profile)
	f.profile.BufferBDP = *buffer
	return f, err
}

func run(ctx context.Context, f flags) (err error) {
	l, err := New(ctx, f.profile, f.options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	switch {
	case f.selftest:
		return l.selftest(ctx, f.profile)
	case len(f.command) > 0:
		return l.runCommand(ctx, f.command)
	}
	fmt.Printf("link %v, TCP congestion control %s\nserver %s in namespace %s\nclient %s in namespace %s\n",
		f.profile, f.options.CongestionControl, l.server.addr, l.server.name, l.client.addr, l.client.name)
	<-ctx.Done()
	return nil
}

func (l *Link) selftest(ctx context.Context, p Profile) error {
	runRealtime() // or the ends of the flow could be slower than the link
	c, err := l.Verify(ctx, p, 5*time.Second, 10*time.Second)
	if err != nil {
		return err
	}
	fmt.Printf("link %v: %v\n", p, c)
	if !c.Within(tolerance) {
		return fmt.Errorf("link %v is not within %g %% of its profile", p, tolerance*100)
	}
	return nil
}

// runCommand runs a command at the client's end; the environment tells it where
// the ends are.
func (l *Link) runCommand(ctx context.Context, command []string) error {
	cmd := l.client.Command(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"SPICEBENCH_SERVER_ADDR="+l.server.addr.String(), "SPICEBENCH_SERVER_NETNS="+l.server.name,
		"SPICEBENCH_CLIENT_ADDR="+l.client.addr.String(), "SPICEBENCH_CLIENT_NETNS="+l.client.name)
	return cmd.Run()
}
