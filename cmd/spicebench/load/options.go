package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"spicepacer/pacer"
)

// options are the choices of a run.
type options struct {
	sessions      int
	idle          time.Duration
	rate          float64 // connections a second
	warmUp, churn time.Duration
	recovery      time.Duration
	tolerance     float64 // how much more memory may be resident afterwards, as a share
	mode          string
	hypervisorTLS bool

	out   string // file; empty: none
	proxy string
}

// parseFlags reads the command line.
func parseFlags(args []string) (o options, err error) {
	f := pflag.NewFlagSet("spicebench load", pflag.ContinueOnError)
	f.SortFlags = false
	f.IntVar(&o.sessions, "sessions", 1000, "sessions of five channels that stay")
	f.DurationVar(&o.idle, "idle", 30*time.Second, "how long they are watched doing nothing")
	f.Float64Var(&o.rate, "rate", 160, "connections a second beside them")
	f.DurationVar(&o.churn, "churn", time.Minute, "how long these go on")
	f.DurationVar(&o.warmUp, "warm-up", 5*time.Second, "how long they go on before that counts")
	f.DurationVar(&o.recovery, "recovery", 150*time.Second, "how long the proxy may take to give back what they took")
	f.Float64Var(&o.tolerance, "tolerance", 0.1, "how much more memory may be resident then, as a share of what was")
	f.StringVar(&o.mode, "mode", pacer.Adaptive.String(), "the proxy's pacing.mode")
	f.BoolVar(&o.hypervisorTLS, "hypervisor-tls", true, "reach the hypervisor over TLS, too")
	f.StringVar(&o.out, "out", "", "`FILE` for the result, to which a line of JSON is added")
	f.StringVar(&o.proxy, "proxy", "kerbside-proxy", "the proxy's program")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, o.check()
}

// The most that ports and descriptors of one machine are good for.
const (
	maxSessions = 5000
	maxRate     = 2000
	longest     = time.Hour
)

func (o options) check() error {
	switch {
	case o.sessions < 0 || o.sessions > maxSessions:
		return fmt.Errorf("%d sessions are not 0 to %d", o.sessions, maxSessions)
	case o.rate <= 0 || o.rate > maxRate:
		return fmt.Errorf("a rate of %v is not above 0 and at most %d", o.rate, maxRate)
	}
	if o.tolerance < 0 {
		return fmt.Errorf("a tolerance of %v is negative", o.tolerance)
	}
	for _, d := range []time.Duration{o.idle, o.churn, o.warmUp, o.recovery} {
		if d < 0 || d > longest {
			return fmt.Errorf("%v is not 0 to %v", d, longest)
		}
	}
	_, err := pacer.ParseMode(o.mode)
	return errors.Join(err, o.checkDescriptors())
}

// checkDescriptors compares what a process may have open with what the larger of
// the two needs: this one and the proxy each hold both ends of half the sockets.
func (o options) checkDescriptors() error {
	const others = 100
	needed := uint64(2*(o.sessions*len(kinds)+maxPending) + others)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("limit of descriptors: %w", err)
	}
	if limit.Max < needed {
		return fmt.Errorf("a process may open %d files here, and this takes %d: raise the limit (ulimit -Hn) or have fewer sessions", limit.Max, needed)
	}
	return nil
}
