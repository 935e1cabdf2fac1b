// Package load measures what many connections cost the proxy: it holds sessions of
// five channels that do nothing, and lets connections come and go beside them, most
// of which fail somewhere on their way. Clients and hypervisors are its own, and
// all of it stays on loopback.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"spicepacer/cmd/spicebench/process"
)

// Main is the subcommand "spicebench load".
func Main(ctx context.Context, args []string) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	return run(ctx, o)
}

// run measures and reports. A proxy that leaves something behind is an error.
func run(ctx context.Context, o options) (err error) {
	if o.proxy, err = process.LookPath(o.proxy); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	dir, err := os.MkdirTemp("", "spicebench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := o.measure(ctx, dir)
	if err == nil {
		err = r.wrong()
		writeReport(os.Stdout, r)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return errors.Join(err, r.save(o.out))
}

// save adds the result to a file, if there is one.
func (r Result) save(path string) (err error) {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return json.NewEncoder(f).Encode(r)
}
