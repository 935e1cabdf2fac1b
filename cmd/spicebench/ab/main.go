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
	"io"
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
	file, err := createResults(b.out)
	if err != nil {
		return err
	}
	defer file.Close()
	results, err := b.measureAll(ctx, file)
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
// result to file at once, and returns them.
func (b *bench) measureAll(ctx context.Context, file io.Writer) ([]Result, error) {
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
