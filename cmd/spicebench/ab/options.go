package ab

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/link"
)

// options are the choices of a run.
type options struct {
	loads   []load
	arms    []arm
	repeats int
	presses int
	warmup  time.Duration
	// intervals are the least times between presses, by profile.
	intervals map[string]time.Duration

	out   string
	proxy string
	tls   bool

	congestionControl string
	netem             bool
	accel             string

	demo bool
	// report is a directory whose results are shown; nothing is measured then.
	report string
}

// parseFlags reads the command line.
func parseFlags(args []string) (o options, err error) {
	f := pflag.NewFlagSet("spicebench ab", pflag.ContinueOnError)
	f.SortFlags = false
	profiles := f.StringSlice("profiles", []string{"80:10"}, "links, `RTT_MS:RATE_MBIT[:LOSS%],...`")
	activities := f.StringSlice("activities", []string{"heavy"}, "what the guest shows: "+strings.Join(guest.Activities, ", "))
	cells := f.StringSlice("cells", nil, "`PROFILE/ACTIVITY,...` instead of every activity on every profile")
	arms := f.StringSlice("arms", []string{baseline, "adaptive"}, "ways to run the proxy: passthrough, passthrough2, withhold, adaptive, passthrough with a client that asks for a compression ("+
		strings.Join(client.Compressions(), ", ")+"), or defined by --proxy-arm")
	definitions := f.StringArray("proxy-arm", nil, "`NAME=YAML`: an arm, as what its proxy's configuration differs in; may be repeated")
	f.IntVar(&o.presses, "presses", 20, "key presses a cell")
	f.IntVar(&o.repeats, "repeats", 2, "how often everything is measured")
	f.DurationVar(&o.warmup, "warmup", 5*time.Second, "time between connecting and the first press")
	intervals := f.StringToString("interval", nil, "`RTT_MS:RATE_MBIT=TIME,...`: least time from a press to the pause before the next, for equally many presses in all arms")
	f.StringVar(&o.out, "out", "", "directory for the results (default: spicebench- and the time)")
	f.StringVar(&o.proxy, "proxy", "kerbside-proxy", "the proxy's program")
	f.BoolVar(&o.tls, "tls", true, "TLS between client and proxy")
	f.StringVar(&o.congestionControl, "cc", link.DefaultCongestionControl, "TCP congestion control at both ends")
	f.BoolVar(&o.netem, "netem", false, "shape with the kernel's netem instead of in user space")
	f.StringVar(&o.accel, "accel", "tcg", "QEMU accelerator")
	f.BoolVar(&o.demo, "demo", false, "a short comparison with a summary; replaces the matrix, presses and repeats")
	f.StringVar(&o.report, "report", "", "print the report of this directory again; measure nothing")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.demo {
		*profiles, *activities, *cells = []string{"80:10"}, []string{"heavy"}, nil
		*arms, *definitions = []string{baseline, "adaptive"}, nil
		o.presses, o.repeats = 12, 1
	}
	if o.presses < 1 || o.repeats < 1 {
		return o, errors.New("presses and repeats begin with 1")
	}
	if o.out == "" {
		o.out = "spicebench-" + time.Now().Format("20060102-150405")
	}
	if o.intervals, err = parseIntervals(*intervals); err != nil {
		return o, err
	}
	if o.arms, err = parseArms(*arms, *definitions); err != nil {
		return o, err
	}
	if len(*cells) > 0 {
		o.loads, err = parseLoads(*cells)
	} else {
		o.loads, err = product(*profiles, *activities)
	}
	return o, err
}

// parseIntervals reads the interval of each profile.
func parseIntervals(list map[string]string) (map[string]time.Duration, error) {
	intervals := make(map[string]time.Duration, len(list))
	for name, value := range list {
		profile, err := link.ParseProfile(name)
		if err != nil {
			return nil, err
		}
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("interval of %s: %q is no time", name, value)
		}
		intervals[profile.String()] = d
	}
	return intervals, nil
}
