// Command kerbside-proxy stands between SPICE clients and hypervisors and paces
// their display channels; see docs/configuration.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"spicepacer/config"
	"spicepacer/session"
	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside"
	"spicepacer/session/observe"
)

// Exit codes; they are part of the Kerbside contract.
const (
	exitOK     = 0
	exitFailed = 1 // a port or a certificate cannot be used
	exitUsage  = 2 // wrong command line or configuration
)

// gcPercent is how much garbage the heap may hold, in percent of what lives. What
// lives are mostly the buffers of idle channels, and relaying makes next to no
// garbage: half of Go's default costs nothing, and saves tens of kilobytes for
// each channel.
const gcPercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

func run(args, environ []string, stdout, stderr io.Writer) int {
	// A log that nobody reads any more must not end everybody's session.
	signal.Ignore(syscall.SIGPIPE)
	cfg, action, err := config.Load(args, environ)
	switch {
	case err != nil:
		return fail(stderr, err, exitCode(err))
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
	returned := make(chan struct{})
	defer close(returned)
	go exitWhenOverdue(ctx, returned)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	if err := serve(ctx, cfg, stdout, hangup); err != nil {
		return fail(stderr, err, exitFailed)
	}
	return exitOK
}

// exitWhenOverdue ends the process if it was told to stop and does not: a log or a
// certificate on a file system that hangs may hold it for ever.
func exitWhenOverdue(ctx context.Context, returned <-chan struct{}) {
	const grace = 2 * time.Second
	select {
	case <-returned:
		return
	case <-ctx.Done():
	}
	select {
	case <-returned:
	case <-time.After(session.DefaultConfig().Timeouts.Drain + grace):
		os.Exit(exitFailed)
	}
}

// exitCode tells a mistake from an address that cannot be used.
func exitCode(err error) int {
	if e, ok := errors.AsType[*config.Error](err); ok && e.Fatal() {
		return exitFailed
	}
	return exitUsage
}

// fail reports err on one line.
func fail(stderr io.Writer, err error, code int) int {
	fmt.Fprintln(stderr, "kerbside-proxy:", strings.Join(strings.Fields(err.Error()), " "))
	return code
}

// serve runs the proxy and its metrics page until ctx ends. What hangup receives
// has it read its certificate again.
func serve(ctx context.Context, cfg config.Config, stdout io.Writer, hangup <-chan os.Signal) error {
	log := newLogger(cfg.Log, stdout)
	defer log.Sync()
	log.Info("kerbside-proxy starting", startFields(cfg)...)
	if cfg.Control.Kind == config.ControlStatic {
		authorizer, err := authz.NewStatic(staticEntries(cfg.Control.Targets))
		if err != nil {
			return err
		}
		return runServer(ctx, cfg, session.Deps{Authorizer: authorizer, Log: log}, nil, hangup)
	}
	daemon, err := kerbside.New(kerbsideConfig(cfg.Control), log)
	if err != nil {
		return err
	}
	defer daemon.Close()
	if err := daemon.ClearNodeChannels(ctx); err != nil {
		log.Warn("ClearNodeChannels at startup failed; continuing", zap.Error(err))
	}
	return runServer(ctx, cfg, session.Deps{Authorizer: daemon, Registrar: daemon, Log: log}, daemon, hangup)
}

// runServer relays, follows the daemon if there is one, and shows the metrics
// page until ctx ends.
func runServer(ctx context.Context, cfg config.Config, deps session.Deps, daemon *kerbside.Client, hangup <-chan os.Signal) error {
	if err := makeCertificate(cfg); err != nil {
		return err
	}
	files := certificateFiles(cfg)
	settings, err := sessionConfig(cfg, files)
	if err != nil {
		return err
	}
	metrics := observe.New()
	deps.Observer = metrics
	if cfg.Pacing.TraceDir != "" {
		if deps.Tracer, err = observe.NewTraces(cfg.Pacing.TraceDir, deps.Log); err != nil {
			return err
		}
	}
	server, err := session.New(settings, deps)
	if err != nil {
		return err
	}
	metrics.Health(server.Ready)
	g, ctx := errgroup.WithContext(ctx)
	// The page outlives the listeners, to tell of the drain.
	page, closePage := context.WithCancel(context.WithoutCancel(ctx))
	defer closePage()
	if daemon != nil {
		g.Go(func() error { daemon.Control(ctx, server); return nil })
	}
	if cfg.Listen.SecurePort != 0 {
		g.Go(func() error { server.FollowCertificate(ctx, files, hangup); return nil })
	}
	g.Go(func() error { defer closePage(); return server.Serve(ctx) })
	if cfg.Metrics.Port != 0 {
		g.Go(func() error { return metrics.Serve(page, metricsAddress(cfg.Metrics), deps.Log) })
	}
	return g.Wait()
}
