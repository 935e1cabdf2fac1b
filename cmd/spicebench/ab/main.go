// Package ab compares settings of the proxy: for every link, activity and arm it
// boots a guest, starts a proxy, has a client measure key presses through an
// emulated link, and samples the sockets meanwhile. The arms take turns, so that
// slow changes of the machine meet all alike; what counts are ratios between
// them.
package ab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/link"
	"spicepacer/cmd/spicebench/process"
	"spicepacer/cmd/spicebench/series"
	"spicepacer/session"
)

// Main is the subcommand "spicebench ab".
func Main(ctx context.Context, args []string) error {
	o, err := parseFlags(args)
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
	return run(ctx, o)
}

// run measures all cells and reports. Cells that fail do not stop it, but make it
// an error.
func run(ctx context.Context, o options) (err error) {
	work, err := os.MkdirTemp("", "spicebench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b, err := prepare(ctx, o, work)
	if err != nil {
		return err
	}
	file, err := series.Create(filepath.Join(b.out, resultsFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	results, err := series.Measure(ctx, plan(b.loads, b.arms, b.repeats), b.run, file, os.Stderr)
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
	if b.proxy, err = process.LookPath(o.proxy); err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if b.out, err = filepath.Abs(o.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return nil, err
	}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.host, err = describeHost(ctx); err != nil {
		return nil, err
	}
	if b.certificate, err = session.SelfSigned(work, link.ServerAddr); err != nil {
		return nil, fmt.Errorf("make the proxy's certificate: %w", err)
	}
	return b, guest.Build(ctx, b.initrd, guest.Options{})
}

func describeHost(ctx context.Context) (Host, error) {
	machine, err := process.ThisHost()
	if err != nil {
		return Host{}, err
	}
	out, err := exec.CommandContext(ctx, "qemu-system-x86_64", "--version").Output()
	if err != nil {
		return Host{}, fmt.Errorf("version of QEMU: %w", err)
	}
	version, _, _ := strings.Cut(string(out), "\n")
	return Host{Host: machine, QEMU: version}, nil
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
