// Package ab compares settings of the proxy: for every link, activity and arm it
// boots a guest, starts a proxy, has a client measure key presses through an
// emulated link, and samples the sockets meanwhile. The arms take turns, so that
// slow changes of the machine meet all alike; what counts are ratios between
// them.
package ab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

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

// Main is the subcommand "spicebench ab".
func Main(args []string) error {
	o, err := parseFlags(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.report != "" {
		results, err := readResults(o.report)
		if err != nil {
			return err
		}
		return report(o.report, results)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, o)
}

func parseFlags(args []string) (o options, err error) {
	f := pflag.NewFlagSet("spicebench ab", pflag.ContinueOnError)
	f.SortFlags = false
	profiles := f.StringSlice("profiles", []string{"80:10"}, "links, `RTT_MS:RATE_MBIT[:LOSS%],...`")
	activities := f.StringSlice("activities", []string{"heavy"}, "what the guest shows: "+strings.Join(guest.Activities, ", "))
	cells := f.StringSlice("cells", nil, "`PROFILE/ACTIVITY,...` instead of every activity on every profile")
	arms := f.StringSlice("arms", []string{baseline, "adaptive"}, "ways to run the proxy: passthrough, passthrough2, withhold, adaptive, or defined by --proxy-arm")
	definitions := f.StringArray("proxy-arm", nil, "`NAME=YAML`: an arm, as what its proxy's configuration differs in; may be repeated")
	f.IntVar(&o.presses, "presses", 20, "key presses a cell")
	f.IntVar(&o.repeats, "repeats", 2, "how often everything is measured")
	f.DurationVar(&o.warmup, "warmup", 5*time.Second, "time between connecting and the first press")
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

// run measures all cells and reports. Cells that fail do not stop it, but make it
// an error.
func run(ctx context.Context, o options) error {
	work, err := os.MkdirTemp("", "spicebench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b, err := prepare(ctx, o, work)
	if err != nil {
		return err
	}
	results, err := b.measureAll(ctx)
	if err := report(o.out, results); err != nil {
		return err
	}
	if o.demo {
		fmt.Print("\n", demoSummary(results))
	}
	return err
}

// prepare makes what all cells share, in the directory work.
func prepare(ctx context.Context, o options, work string) (*bench, error) {
	b := &bench{options: o, initrd: filepath.Join(work, "initrd.gz")}
	var err error
	if b.out, err = filepath.Abs(o.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return nil, err
	}
	// A path, since the proxy starts without a shell's search.
	if b.proxy, err = exec.LookPath(o.proxy); err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if b.proxy, err = filepath.Abs(b.proxy); err != nil {
		return nil, err
	}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.host, err = describeHost(ctx); err != nil {
		return nil, err
	}
	if b.certificate, err = makeCertificate(work, link.ServerAddr); err != nil {
		return nil, fmt.Errorf("make the proxy's certificate: %w", err)
	}
	return b, guest.Build(ctx, b.initrd, guest.Options{})
}

func describeHost(ctx context.Context) (Host, error) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return Host{}, fmt.Errorf("version of the kernel: %w", err)
	}
	out, err := exec.CommandContext(ctx, "qemu-system-x86_64", "--version").Output()
	if err != nil {
		return Host{}, fmt.Errorf("version of QEMU: %w", err)
	}
	version, _, _ := strings.Cut(string(out), "\n")
	return Host{Kernel: unix.ByteSliceToString(name.Release[:]), QEMU: version, CPUs: runtime.NumCPU()}, nil
}

// measureAll measures cell after cell until all are done or ctx ends, writes each
// result at once, and returns them.
func (b *bench) measureAll(ctx context.Context) ([]Result, error) {
	file, err := createResults(b.out)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewEncoder(file)
	var results []Result
	cells := plan(b.loads, b.arms, b.repeats)
	failed := 0
	for i, c := range cells {
		fmt.Fprintf(os.Stderr, "cell %d of %d: %v%s\n", i+1, len(cells), c, eta(results, len(cells)-i))
		r := b.run(ctx, c)
		if ctx.Err() != nil {
			return results, errors.New("interrupted")
		}
		if err := lines.Encode(r); err != nil {
			return results, err
		}
		results = append(results, r)
		if r.Error != "" {
			failed++
		}
		fmt.Fprintln(os.Stderr, "  "+r.String())
	}
	if failed > 0 {
		return results, fmt.Errorf("%d of %d cells failed", failed, len(cells))
	}
	return results, nil
}

// eta estimates the rest from what the cells so far took.
func eta(results []Result, left int) string {
	if len(results) == 0 {
		return ""
	}
	took := results[len(results)-1].Ended.Sub(results[0].Started)
	rest := took / time.Duration(len(results)) * time.Duration(left)
	return fmt.Sprintf(" (%v left)", rest.Round(time.Second))
}

// report prints the table and writes it to report.md in the directory.
func report(dir string, results []Result) (err error) {
	file, err := os.Create(filepath.Join(dir, "report.md"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := writeMarkdown(file, results); err != nil {
		return err
	}
	return writeText(os.Stdout, results)
}

// demoSummary says in words what the demo has shown.
func demoSummary(results []Result) string {
	all := summarise(results)
	for _, s := range all {
		base, ok := find(all, s, baseline)
		if s.arm == baseline || !ok || s.repeats == 0 || base.repeats == 0 {
			continue
		}
		return fmt.Sprintf(
			"On a link of %s ms:Mbit/s with a busy screen a key press shows after %.0f ms\n"+
				"(95 of 100 within %.0f ms); through a plain proxy it takes %.0f ms (%.0f ms).\n"+
				"That is %.1f times as fast, at %.2f Mbit/s instead of %.2f.\n",
			s.profile, s.p50, s.p95, base.p50, base.p95, base.p50/s.p50, s.mbit, base.mbit)
	}
	return ""
}
