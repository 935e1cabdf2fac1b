package ab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/link"
	"spicepacer/cmd/spicebench/process"
	"spicepacer/session"
)

// Where things listen in the server's namespace, which is a cell's own.
const (
	securePort   = 5900
	insecurePort = 5901
	qemuPort     = 5910
	metricsPort  = 13003
)

// Secrets between the bench's own parts.
const (
	token  = "spicebench-token"
	ticket = "spicebench-ticket"
)

// bench is what the cells of a run have in common.
type bench struct {
	options
	host        Host
	self        string // this program
	initrd      string
	certificate session.CertificateFiles
}

// run measures a cell and says what came of it. Only what was measured without an
// error is worth anything.
func (b *bench) run(ctx context.Context, c cell) Result {
	r := Result{
		Profile: c.profile.String(), Activity: c.activity, Arm: c.arm.name, Repeat: c.repeat,
		Compression: c.arm.compression,
		Started:     time.Now(), TLS: b.tls, Command: os.Args, Host: b.host,
	}
	if err := b.measure(ctx, c, &r); err != nil {
		r.Error = err.Error()
	}
	r.Ended = time.Now()
	return r
}

// measure builds link, guest and proxy, lets the client measure through them,
// and takes everything down again.
func (b *bench) measure(ctx context.Context, c cell, r *Result) (err error) {
	dir := filepath.Join(b.out, "cells", c.directory())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.cellLimit(), errors.New("the cell takes too long"))
	defer cancel()

	l, err := link.New(ctx, c.profile, link.Options{CongestionControl: b.congestionControl, Netem: b.netem, Seed: uint64(c.repeat)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()

	guestLog, err := os.Create(filepath.Join(dir, "guest.log"))
	if err != nil {
		return err
	}
	defer guestLog.Close()
	machine, err := b.startGuest(ctx, l.Server(), c.activity, guestLog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Stop()) }()

	r.ProxyConfig = merged(b.proxySettings(l.Server().Addr(), dir), c.arm.overrides)
	proxy, err := b.startProxy(ctx, l.Server(), r.ProxyConfig, dir)
	if err != nil {
		return err
	}
	defer proxy.End()

	samples, err := b.watch(ctx, l, machine, proxy, dir, r)
	if err != nil {
		return err
	}
	return r.observe(samples)
}

// cellLimit is far more than a cell needs in which every press takes as long as
// the client allows.
func (b *bench) cellLimit() time.Duration {
	return 5*time.Minute + time.Duration(b.presses)*time.Minute
}

func (b *bench) startGuest(ctx context.Context, n *link.Namespace, activity string, log io.Writer) (*guest.Machine, error) {
	options, err := guest.Activity(activity)
	if err != nil {
		return nil, err
	}
	options.Initrd, options.Accel = b.initrd, b.accel
	return guest.Start(ctx, options, guest.QEMU{
		SpiceAddr: "127.0.0.1", SpicePort: qemuPort, Ticket: ticket,
		Log: log, Command: lowPriority(command(n)),
	})
}

// proxySettings is the proxy's configuration before an arm's overrides.
func (b *bench) proxySettings(addr netip.Addr, dir string) settings {
	listen := settings{"address": addr.String(), "secure_port": securePort, "insecure_port": 0}
	if !b.tls {
		listen = settings{"address": addr.String(), "secure_port": 0, "insecure_port": insecurePort, "insecure_mode": "serve"}
	}
	return settings{
		"listen":    listen,
		"tls":       settings{"cert": b.certificate.Cert, "key": b.certificate.Key},
		"state_dir": dir,
		"control": settings{"kind": "static", "targets": []any{settings{
			"token": token, "name": "spicebench", "hypervisor": "127.0.0.1", "insecure_port": qemuPort, "ticket": ticket,
		}}},
		"metrics": settings{"address": "127.0.0.1", "port": metricsPort},
	}
}

// startProxy starts the proxy and waits until clients can connect.
func (b *bench) startProxy(ctx context.Context, n *link.Namespace, config settings, dir string) (*process.Process, error) {
	text, err := yaml.Marshal(config)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "proxy.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	proxy, err := process.StartLogged(command(n)(ctx, b.proxy, "--config", file), filepath.Join(dir, "proxy.log"))
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	if err := b.awaitListener(ctx, n, proxy); err != nil {
		proxy.End()
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	return proxy, nil
}

// clientAddr is where the client finds the proxy.
func (b *bench) clientAddr(server netip.Addr) string {
	port := securePort
	if !b.tls {
		port = insecurePort
	}
	return net.JoinHostPort(server.String(), strconv.Itoa(port))
}

// awaitListener tries to connect until somebody listens: a process has no event
// for that which others could wait for.
func (b *bench) awaitListener(ctx context.Context, n *link.Namespace, proxy *process.Process) error {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		var conn net.Conn
		err := n.Do(func() (err error) {
			conn, err = new(net.Dialer).DialContext(ctx, "tcp4", b.clientAddr(n.Addr()))
			return err
		})
		if err == nil {
			return conn.Close()
		}
		select {
		case <-retry.C:
		case <-proxy.Exited():
			return proxy.Failure()
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// watch runs the client to its end and returns the samples taken meanwhile.
func (b *bench) watch(ctx context.Context, l *link.Link, machine *guest.Machine, proxy *process.Process, dir string, r *Result) ([]sample, error) {
	args := append([]string{"client"}, b.clientArgs(r, l.Server().Addr(), machine.StartLine())...)
	cmd := command(l.Client())(ctx, b.self, args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	viewer, err := process.StartLogged(cmd, filepath.Join(dir, "client.log"))
	if err != nil {
		return nil, fmt.Errorf("start client: %w", err)
	}
	defer viewer.End()
	recording := sampler{l.Server(), machine.PID(), proxy.PID()}.start(ctx)
	defer recording.stop()

	select {
	case <-viewer.Exited():
		r.WindowEnded = time.Now()
	case <-machine.Exited():
		return nil, errors.New("QEMU ended while the client measured")
	case <-proxy.Exited():
		return nil, fmt.Errorf("proxy: %w", proxy.Failure())
	case <-recording.done:
	}
	samples, err := recording.stop()
	if err := errors.Join(context.Cause(ctx), err); err != nil {
		return nil, err
	}
	if viewer.Err() != nil {
		return nil, fmt.Errorf("client: %w", viewer.Failure())
	}
	return samples, r.readClient(out.Bytes())
}

// clientArgs has the guest say what is where on its screen: its START line has
// words box=L,T,R,B and area=L,T,R,B.
func (b *bench) clientArgs(r *Result, server netip.Addr, startLine string) []string {
	args := []string{
		"--json", "--addr", b.clientAddr(server), "--password", token,
		"--presses", strconv.Itoa(b.presses), "--warmup", b.warmup.String(),
		"--interval", b.intervals[r.Profile].String(),
	}
	if r.Compression != "" {
		args = append(args, "--compression", r.Compression)
	}
	if b.tls {
		args = append(args, "--tls", "--ca", b.certificate.Cert)
	}
	for word := range strings.FieldsSeq(startLine) {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "box":
			args = append(args, "--key-box", value)
		case "area":
			args = append(args, "--area", value)
		}
	}
	return args
}

// readClient takes over what the client printed just before it ended.
func (r *Result) readClient(out []byte) error {
	if err := json.Unmarshal(out, &r.Client); err != nil {
		return fmt.Errorf("result of the client: %w", err)
	}
	r.WindowStarted = r.WindowEnded.Add(-r.Client.Elapsed)
	r.LatencyMax = milliseconds(client.Percentile(r.Client.Latencies, 100))
	return nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
