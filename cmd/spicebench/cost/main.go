// Package cost measures what carrying SPICE costs a program in processor time: it
// has kerbside-proxy, and HAProxy as a plain TLS terminator, carry the same bytes
// of one channel over loopback, from a hypervisor that only sends to a viewer that
// only receives. What counts is the ratio between the two.
package cost

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"spicepacer/cmd/spicebench/process"
	"spicepacer/cmd/spicebench/series"
)

// Main is the subcommand "spicebench cost".
func Main(ctx context.Context, args []string) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
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
	lines, closeLines, err := resultLines(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLines()) }()
	results, err := series.Measure(ctx, plan(b.loads, b.arms, b.repeats), b.run, lines, os.Stderr)
	if err == nil {
		err = sameTLS(results)
	}
	return errors.Join(err, writeReport(os.Stdout, results))
}

// resultLines opens where results go: nowhere without a path.
func resultLines(path string) (w io.Writer, closer func() error, err error) {
	if path == "" {
		return io.Discard, func() error { return nil }, nil
	}
	f, err := series.Create(path)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
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

// sameTLS makes sure that the arms had the same work to do.
func sameTLS(results []Result) error {
	for _, r := range results[1:] {
		if r.TLS != results[0].TLS {
			return fmt.Errorf("%s used %s, %s %s: the arms cannot be compared", results[0].Arm, results[0].TLS, r.Arm, r.TLS)
		}
	}
	return nil
}
