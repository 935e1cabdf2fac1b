package cost

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// options are the choices of a run.
type options struct {
	loads   []load
	arms    []string
	repeats int
	bytes   uint64 // to carry in each cell

	out     string // file; empty: none
	proxy   string
	haproxy string
}

// Units of the command line and of the table.
const (
	megabyte = 1e6
	gigabyte = 1e9
)

// parseFlags reads the command line.
func parseFlags(args []string) (o options, err error) {
	f := pflag.NewFlagSet("spicebench cost", pflag.ContinueOnError)
	f.SortFlags = false
	names := f.StringSlice("loads", []string{"bulk", "display", "saturated"}, "what the hypervisor sends: bulk, display, saturated")
	f.StringSliceVar(&o.arms, "arms", arms, "what carries it: "+strings.Join(arms, ", "))
	rate := f.Float64("display-rate", 50, "`MB/s` of the display load, which is to stay below what any arm can carry; 0: no limit")
	linkRate := f.Float64("link-rate", 25, "`MB/s` the viewer of the saturated load takes, well below what any arm can carry")
	size := f.Float64("size", 2, "`GB` a cell")
	f.IntVar(&o.repeats, "repeats", 3, "how often everything is measured")
	f.StringVar(&o.out, "out", "", "`FILE` for the results, one JSON object a line")
	f.StringVar(&o.proxy, "proxy", "kerbside-proxy", "the proxy's program")
	f.StringVar(&o.haproxy, "haproxy", "/usr/sbin/haproxy", "HAProxy's program")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.repeats < 1:
		return o, errors.New("repeats begin with 1")
	case *size <= 0 || *size > 1000:
		return o, fmt.Errorf("size %v GB is not above 0 and at most 1000", *size)
	case *rate < 0:
		return o, fmt.Errorf("display rate %v MB/s is negative", *rate)
	case *linkRate <= 0:
		return o, fmt.Errorf("link rate %v MB/s is not above 0", *linkRate)
	}
	o.bytes = uint64(*size * gigabyte)
	if err := checkArms(o.arms); err != nil {
		return o, err
	}
	o.loads, err = parseLoads(*names, rates{*rate * megabyte, *linkRate * megabyte})
	return o, err
}
