// Command kerbside-proxy stands between SPICE clients and hypervisors and paces
// their display channels; see docs/configuration.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"spicepacer/config"
	"spicepacer/session"
	"spicepacer/session/authz"
	"spicepacer/session/observe"
)

// Exit codes; they are part of the Kerbside contract.
const (
	exitOK     = 0
	exitFailed = 1 // a port or a certificate cannot be used
	exitUsage  = 2 // wrong command line or configuration
)

func main() { os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) }

func run(args, environ []string, stdout, stderr io.Writer) int {
	cfg, action, err := config.Load(args, environ)
	switch {
	case err != nil:
		return fail(stderr, err, exitUsage)
	case action == config.PrintUsage:
		fmt.Fprint(stdout, config.Usage())
		return exitOK
	case action == config.PrintContractHash:
		fmt.Fprintln(stdout, cfg.Control.Hash())
		return exitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A second signal during the drain kills the process as usual.
	context.AfterFunc(ctx, stop)
	if err := serve(ctx, cfg, stdout); err != nil {
		return fail(stderr, err, exitFailed)
	}
	return exitOK
}

// fail reports err on one line.
func fail(stderr io.Writer, err error, code int) int {
	fmt.Fprintln(stderr, "kerbside-proxy:", strings.Join(strings.Fields(err.Error()), " "))
	return code
}

// serve runs the proxy and its metrics page until ctx ends.
func serve(ctx context.Context, cfg config.Config, stdout io.Writer) error {
	log := newLogger(cfg.Log, stdout)
	defer log.Sync()
	log.Info("kerbside-proxy starting", zap.String("mode", cfg.Pacing.Mode), zap.String("control", cfg.Control.Kind))
	settings, err := sessionConfig(cfg)
	if err != nil {
		return err
	}
	authorizer, err := authz.NewStatic(staticEntries(cfg.Control.Targets))
	if err != nil {
		return err
	}
	metrics := observe.New()
	deps := session.Deps{Authorizer: authorizer, Observer: metrics, Log: log}
	if cfg.Pacing.TraceDir != "" {
		if deps.Tracer, err = observe.NewTraces(cfg.Pacing.TraceDir, log); err != nil {
			return err
		}
	}
	server, err := session.New(settings, deps)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Serve(ctx) })
	if cfg.Metrics.Port != 0 {
		g.Go(func() error { return metrics.Serve(ctx, metricsAddress(cfg.Metrics), log) })
	}
	return g.Wait()
}
