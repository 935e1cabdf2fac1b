package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"spicepacer/spiceproto"
)

// Main runs the client for the command line, without the program's and the
// subcommand's name. Progress goes to standard error and the result to standard
// output, also that of a run which was interrupted or failed while measuring.
func Main(ctx context.Context, args []string) error {
	cfg, asJSON, err := parseFlags(args)
	if err != nil {
		return err
	}
	began := time.Now()
	cfg.Logf = func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%8.3f "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	}
	result, err := Run(ctx, cfg)
	if result.Elapsed > 0 {
		err = errors.Join(err, write(os.Stdout, result, asJSON))
	}
	return err
}

// parseFlags reads the command line into a configuration.
func parseFlags(args []string) (cfg Config, asJSON bool, err error) {
	cfg = DefaultConfig()
	var secure, insecure bool
	var ca string
	f := pflag.NewFlagSet("spicebench client", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&cfg.Addr, "addr", "", "server, host:port")
	f.BoolVar(&secure, "tls", false, "speak TLS at --addr")
	f.StringVar(&cfg.SecureAddr, "secure-addr", "", "host:port to go to, in TLS, if the plain port at --addr asks for it")
	f.StringVar(&ca, "ca", "", "PEM file of the authorities that may have signed the server's certificate; default: the system's")
	f.BoolVar(&insecure, "insecure-skip-verify", false, "accept any certificate")
	f.StringVar(&cfg.Password, "password", "", "ticket")
	f.BoolVar(&cfg.FullHeaders, "full-headers", false, "be a client without MINI_HEADER and AUTH_SELECTION")
	f.Func("compression", "image compression to ask the server for: "+strings.Join(Compressions(), ", ")+" (default: none)", func(s string) (err error) {
		cfg.Compression, err = ParseCompression(s)
		return err
	})
	f.IntVar(&cfg.Presses, "presses", cfg.Presses, "key presses to measure; 0 only watches for --duration")
	f.DurationVar(&cfg.Duration, "duration", 0, "length of the measuring window; 0: until the last press")
	f.DurationVar(&cfg.Warmup, "warmup", cfg.Warmup, "time between connecting and the first press")
	f.DurationVar(&cfg.Timeout, "timeout", cfg.Timeout, "how long a press may go without a draw")
	f.DurationVar(&cfg.PauseMin, "pause-min", cfg.PauseMin, "shortest pause between presses")
	f.DurationVar(&cfg.PauseMax, "pause-max", cfg.PauseMax, "longest pause between presses")
	f.DurationVar(&cfg.Interval, "interval", 0, "least time from a press to the pause before the next")
	f.Uint64Var(&cfg.Seed, "seed", 0, "seed of the pauses; 0 picks one")
	f.Func("area", "rectangle l,t,r,b whose age is measured; may be repeated", func(s string) error {
		r, err := parseRect(s)
		cfg.Activities = append(cfg.Activities, r)
		return err
	})
	f.Func("key-box", "rectangle l,t,r,b repainted on a key press (default "+formatRect(cfg.KeyBox)+")", func(s string) (err error) {
		cfg.KeyBox, err = parseRect(s)
		return err
	})
	f.IntVar(&cfg.Cell, "cell", cfg.Cell, "side of the cells of an area in pixels")
	f.BoolVar(&asJSON, "json", false, "write the result as one JSON object")
	if err := f.Parse(args); err != nil {
		return Config{}, false, fmt.Errorf("client: %w", err)
	}
	if f.NArg() > 0 {
		return Config{}, false, fmt.Errorf("client: unexpected argument %q", f.Arg(0))
	}
	if secure || cfg.SecureAddr != "" {
		cfg.TLS, err = tlsConfig(ca, insecure)
	}
	return cfg, asJSON, err
}

// tlsConfig trusts the authorities in a PEM file, the system's if it is "", or, if
// insecure, anyone.
func tlsConfig(ca string, insecure bool) (*tls.Config, error) {
	cfg := &tls.Config{InsecureSkipVerify: insecure}
	if ca == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("client: read authorities: %w", err)
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("client: no certificate in %s", ca)
	}
	return cfg, nil
}

// parseRect reads left,top,right,bottom.
func parseRect(s string) (spiceproto.Rect, error) {
	fields := strings.Split(s, ",")
	if len(fields) != 4 {
		return spiceproto.Rect{}, fmt.Errorf("%q is not left,top,right,bottom", s)
	}
	var v [4]int32
	for i, field := range fields {
		n, err := strconv.ParseInt(strings.TrimSpace(field), 10, 32)
		if err != nil {
			return spiceproto.Rect{}, fmt.Errorf("%q is not left,top,right,bottom: %w", s, err)
		}
		v[i] = int32(n)
	}
	return spiceproto.Rect{Left: v[0], Top: v[1], Right: v[2], Bottom: v[3]}, nil
}

// write prints a result for a program or for a person.
func write(w io.Writer, r Result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	_, err := fmt.Fprintf(w, `presses  %d, time-outs %d
latency  p50 %.1f ms, p95 %.1f ms, max %.1f ms
age      p50 %.1f ms, p95 %.1f ms, max %.1f ms
regions  %d, updated %d..%d times
display  %d bytes, %d messages in %.1f s: %.2f Mbit/s
window   W %d, %d ACKs
images   %v
painted  %d pixels, %.3f bytes each
`,
		len(r.Latencies), r.Timeouts,
		ms(Percentile(r.Latencies, 50)), ms(Percentile(r.Latencies, 95)), ms(Percentile(r.Latencies, 100)),
		ms(r.Age.P50), ms(r.Age.P95), ms(r.Age.Max),
		r.Age.Regions, r.Age.LeastUpdates, r.Age.MostUpdates,
		r.Bytes, r.Messages, r.Elapsed.Seconds(), r.Mbit(),
		r.Window, r.ACKs, r.Images, r.Painted().Pixels, r.Painted().BytesPerPixel())
	return err
}
