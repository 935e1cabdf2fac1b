// Package cost measures what carrying SPICE costs a program in processor time: it
// has kerbside-proxy, and HAProxy as a plain TLS terminator, carry the same bytes
// of one channel over loopback, from a hypervisor that only sends to a viewer that
// only receives. What counts is the ratio between the two.
package cost

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"spicepacer/cmd/spicebench/process"
)

// Main is the subcommand "spicebench cost".
func Main(args []string) error {
	o, err := parseFlags(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, o)
}

// run measures all cells and reports. Cells that fail do not stop it, but make it
// an error.
func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "spicebench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := prepare(ctx, o, dir)
	if err != nil {
		return err
	}
	file, err := createResults(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	results, err := b.measureAll(ctx, file)
	return errors.Join(err, writeReport(os.Stdout, results))
}

// prepare finds the programs and makes what all cells share, in the directory.
func prepare(ctx context.Context, o options, dir string) (*bench, error) {
	b := &bench{options: o, dir: dir}
	var err error
	if slices.Contains(o.arms, armHAProxy) {
		if b.haproxy, err = findHAProxy(ctx, o.haproxy); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(o.arms, func(a string) bool { return a != armHAProxy }) {
		if b.proxy, err = findProxy(o.proxy); err != nil {
			return nil, err
		}
	}
	if err := makeCertificate(dir); err != nil {
		return nil, fmt.Errorf("make the certificate: %w", err)
	}
	if b.trust, err = trustIn(filepath.Join(dir, certFile)); err != nil {
		return nil, err
	}
	b.host, err = process.ThisHost()
	return b, err
}

// trustIn returns the viewer's settings. Both programs support TLS 1.3; below, the
// choice of a cipher is the server's.
func trustIn(cert string) (*tls.Config, error) {
	pem, err := os.ReadFile(cert)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", cert)
	}
	return &tls.Config{RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS13}, nil
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
	return results, sameTLS(results)
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

// sameTLS makes sure that the arms had the same work to do.
func sameTLS(results []Result) error {
	for _, r := range results[1:] {
		if r.TLS != results[0].TLS {
			return fmt.Errorf("%s used %s, %s %s: the arms cannot be compared", results[0].Arm, results[0].TLS, r.Arm, r.TLS)
		}
	}
	return nil
}
