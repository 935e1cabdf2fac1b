package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"spicepacer/cmd/spicebench/process"
)

// measure starts hypervisors and proxy, measures, and takes all down again. What
// the result says of a run that failed is as far as it got.
func (o options) measure(ctx context.Context, dir string) (r Result, err error) {
	r = Result{Started: time.Now(), Mode: o.mode, HypervisorTLS: o.hypervisorTLS, Sessions: o.sessions, Command: os.Args}
	defer func() { r.Ended = time.Now() }()
	if r.Program, err = version(o.proxy); err != nil {
		return r, err
	}
	if r.Host, err = process.ThisHost(); err != nil {
		return r, err
	}
	server, trust, err := certificate(dir)
	if err != nil {
		return r, fmt.Errorf("certificate: %w", err)
	}
	if !o.hypervisorTLS {
		server = nil
	}
	h, err := listenHypervisors(server)
	if err != nil {
		return r, fmt.Errorf("hypervisors: %w", err)
	}
	defer h.close()
	g, ctx := errgroup.WithContext(ctx)
	serving, stop := context.WithCancel(ctx)
	g.Go(func() error { return h.serve(serving) })
	g.Go(func() error {
		defer stop()
		return o.throughProxy(ctx, dir, h, trust, &r)
	})
	err = g.Wait()
	return r, err
}

// throughProxy starts the proxy between viewers and hypervisors.
func (o options) throughProxy(ctx context.Context, dir string, h *hypervisors, trust *tls.Config, r *Result) error {
	spice, err := process.FreePort()
	if err != nil {
		return fmt.Errorf("port for the proxy: %w", err)
	}
	metrics, err := process.FreePort()
	if err != nil {
		return fmt.Errorf("port for the proxy: %w", err)
	}
	proxy, err := o.startProxy(ctx, dir, ports{spice, metrics, h.served.port(), h.failing.port(), h.dead.port})
	if err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	defer proxy.End()
	b := &bench{
		options: o,
		viewers: viewers{net.JoinHostPort("127.0.0.1", strconv.Itoa(spice)), trust},
		gauge:   gauge{proxy.PID(), fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics)},
		result:  r,
	}
	return proxy.Watch(ctx, b.run)
}

// bench measures a proxy that is starting.
type bench struct {
	options
	viewers
	gauge
	result *Result
}

func (b *bench) run(ctx context.Context) (err error) {
	if err := b.awaitStart(ctx); err != nil {
		return err
	}
	if b.result.Start, err = b.settle(ctx); err != nil {
		return err
	}
	c := newCrowd(b.viewers, b.sessions)
	defer c.leave()
	for _, step := range []func(context.Context, *crowd) error{b.gather, b.watchIdle, b.churnBeside} {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	b.result.Idle.Lost = c.lost.Load()
	c.leave()
	b.result.End, err = b.recovered(ctx, b.result.Start, math.Inf(1), b.recovery)
	return err
}

// awaitStart waits until the proxy listens. Nothing it does tells that without
// asking.
func (b *bench) awaitStart(ctx context.Context) error {
	const limit = 20 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the proxy is not there after %v", limit))
	defer cancel()
	for {
		conn, err := b.secure(ctx, 0)
		if err == nil {
			conn.Close()
			if _, err = b.sample(ctx); err == nil {
				return nil
			}
		}
		if !sleepUntil(ctx, time.Now().Add(samplePause)) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// gather opens the sessions, one type of channel after the other, to tell what
// each takes.
func (b *bench) gather(ctx context.Context, c *crowd) error {
	before := b.result.Start
	for _, kind := range kinds {
		began := time.Now()
		if err := c.open(ctx, kind); err != nil {
			return err
		}
		took := time.Since(began)
		now, err := b.settle(ctx)
		if err != nil {
			return err
		}
		n := float64(b.sessions)
		b.result.Kinds = append(b.result.Kinds, Kind{
			Channel: kind.String(), Opening: took.Seconds(),
			Goroutines: float64(now.Goroutines-before.Goroutines) / n, RSS: float64(now.RSS-before.RSS) / n,
		})
		before = now
	}
	return nil
}

// watchIdle measures what the sessions take when nothing happens.
func (b *bench) watchIdle(ctx context.Context, _ *crowd) (err error) {
	idle := &b.result.Idle
	if idle.Before, err = b.settle(ctx); err != nil {
		return err
	}
	began := time.Now()
	used, err := b.usedCPU(func() error {
		if !sleepUntil(ctx, began.Add(b.idle)) {
			return context.Cause(ctx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	idle.Seconds, idle.CPU = time.Since(began).Seconds(), used.Seconds()
	idle.After, err = b.recovered(ctx, idle.Before, math.Inf(1), b.recovery)
	return err
}

// usedCPU returns the processor time that the proxy uses while f runs.
func (b *bench) usedCPU(f func() error) (time.Duration, error) {
	before, err := process.UsedCPU(b.pid)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := process.UsedCPU(b.pid)
	return after.Sub(before).Total(), err
}

// churnBeside has connections come and go beside the sessions.
func (b *bench) churnBeside(ctx context.Context, _ *crowd) (err error) {
	c := &churn{viewers: b.viewers, rate: b.rate, firstClient: b.sessions}
	if _, err := c.run(ctx, b.warmUp); err != nil {
		return err
	}
	r := &b.result.Churn
	if r.Before, err = b.settle(ctx); err != nil {
		return err
	}
	var came churned
	used, err := b.usedCPU(func() (err error) {
		came, err = c.run(ctx, b.churn)
		return err
	})
	if err != nil {
		return err
	}
	r.fill(b.rate, came, used)
	r.Tolerance = b.tolerance
	if _, err = b.recovered(ctx, r.Before, math.Inf(1), b.recovery); err != nil {
		return err
	}
	r.Released = time.Since(came.ended).Seconds()
	if r.After, err = b.recovered(ctx, r.Before, b.tolerance, b.recovery); err != nil {
		return err
	}
	r.Recovery = time.Since(came.ended).Seconds()
	return nil
}

// fill tells what a churn came to.
func (r *Churn) fill(rate float64, c churned, cpu time.Duration) {
	r.Connects, r.Rate = c.connects, rate
	if c.connects == 0 {
		return
	}
	r.Reached = float64(c.connects) / c.elapsed.Seconds()
	r.CPU = cpu.Seconds() / float64(c.connects)
	if n := len(c.took); n > 0 {
		r.UpP50, r.UpP99 = c.took[n/2].Seconds(), c.took[n*99/100].Seconds()
	}
	for _, s := range stages {
		r.Stages = append(r.Stages, Stage{s.String(), c.planned[s], c.odd[s]})
	}
	for _, err := range c.errs {
		r.Unexpected = append(r.Unexpected, err.Error())
	}
}
