package cost

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"spicepacer/cmd/spicebench/process"
)

// bench is what the cells of a run have in common.
type bench struct {
	options
	host           process.Host
	dir            string // of the certificate and the configurations
	trust          *tls.Config
	proxy, haproxy program
}

// run measures a cell and says what came of it. Only what was measured without an
// error is worth anything.
func (b *bench) run(ctx context.Context, c cell) Result {
	r := Result{
		Load: c.load.name, Arm: c.arm, Repeat: c.repeat,
		Started: time.Now(), Program: b.program(c.arm).version, Command: os.Args, Host: b.host,
	}
	if err := b.measure(ctx, c, &r); err != nil {
		r.Error = err.Error()
	}
	r.Ended = time.Now()
	return r
}

// cellLimit is far more than a cell needs.
func (b *bench) cellLimit(l load) time.Duration {
	const slowest = 20 * megabyte
	rate := float64(slowest)
	for _, r := range [...]float64{l.rate, l.receive} {
		if r > 0 {
			rate = min(rate, r/2)
		}
	}
	return time.Minute + time.Duration(float64(b.bytes)/rate*float64(time.Second))
}

// measure starts hypervisor, program and viewer, carries the load, and takes
// everything down again.
func (b *bench) measure(ctx context.Context, c cell, r *Result) error {
	limit := b.cellLimit(c.load)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the cell takes longer than %v", limit))
	defer cancel()
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("hypervisor: %w", err)
	}
	defer listener.Close()
	port, err := process.FreePort()
	if err != nil {
		return fmt.Errorf("port for the program: %w", err)
	}
	at := place{port: port, hypervisor: listener.Addr().(*net.TCPAddr).Port, dir: b.dir}
	p, err := b.start(ctx, at, c.arm)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.arm, err)
	}
	defer p.End()
	return p.Watch(ctx, func(ctx context.Context) error {
		return b.carry(ctx, at, c.load, listener, p.PID(), r)
	})
}

// program returns what carries an arm.
func (b *bench) program(arm string) program {
	if arm == armHAProxy {
		return b.haproxy
	}
	return b.proxy
}

func (b *bench) start(ctx context.Context, at place, arm string) (*process.Process, error) {
	if arm == armHAProxy {
		return at.startHAProxy(ctx, b.haproxy.path)
	}
	return at.startProxy(ctx, b.proxy.path, arm)
}

// carry links viewer and hypervisor through the program, and counts what the load
// costs it.
func (b *bench) carry(ctx context.Context, at place, l load, listener *net.TCPListener, pid int, r *Result) error {
	h, v, err := link(ctx, listener, net.JoinHostPort("127.0.0.1", strconv.Itoa(at.port)), b.trust, l)
	if err != nil {
		return err
	}
	s := v.conn.ConnectionState()
	r.TLS = tls.VersionName(s.Version) + " " + tls.CipherSuiteName(s.CipherSuite)
	before, err := settledCPU(ctx, pid)
	if err != nil {
		return fmt.Errorf("processor time: %w", err)
	}
	began := time.Now()
	got, sent, err := transfer(ctx, h, v, b.bytes)
	if err != nil {
		return err
	}
	if got != sent && r.Arm != armAdaptive { // which leaves out what newer messages cover
		return fmt.Errorf("the viewer received %d bytes in %d messages of %d in %d",
			got.bytes, got.messages, sent.bytes, sent.messages)
	}
	r.Elapsed = time.Since(began).Seconds()
	after, err := process.UsedCPU(pid)
	if err != nil {
		return fmt.Errorf("processor time: %w", err)
	}
	used := after.Sub(before)
	r.Bytes, r.Messages = got.bytes, got.messages
	r.User, r.System, r.Before = used.User.Seconds(), used.System.Seconds(), before.Total().Seconds()
	return nil
}

// link connects a viewer to addr, from where a program connects to the hypervisor
// behind the listener.
func link(ctx context.Context, listener *net.TCPListener, addr string, trust *tls.Config, l load) (h *hypervisor, v *viewer, err error) {
	g, linking := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		h, err = acceptHypervisor(linking, listener, l)
		return err
	})
	g.Go(func() (err error) {
		v, err = dialViewer(linking, addr, trust, l)
		return err
	})
	err = g.Wait()
	return h, v, err
}

// transfer carries at least n bytes from hypervisor to viewer, and closes both.
func transfer(ctx context.Context, h *hypervisor, v *viewer, n uint64) (got, sent tally, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		sent, err = h.stream(ctx, n)
		return err
	})
	g.Go(func() (err error) {
		got, err = v.receive(ctx)
		return err
	})
	err = g.Wait()
	return got, sent, err
}
