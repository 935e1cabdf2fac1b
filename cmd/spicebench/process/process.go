// Package process starts the programs a measurement is about, and tells what they
// use.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// LookPath finds a program in PATH or where a path says. The result is
// absolute, since a program starts without a shell's search.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// FreePort returns a port of 127.0.0.1 on which nobody listens.
func FreePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Process is a started program.
type Process struct {
	cmd    *exec.Cmd
	stop   context.CancelFunc
	output bytes.Buffer  // of both kinds, valid once exited is closed, as is err
	exited chan struct{} // closed when it has been reaped
	err    error
}

// Start starts a program that does not outlive this process, however that ends,
// and that a Ctrl-C on the terminal does not reach before its time.
func Start(ctx context.Context, path string, args ...string) (*Process, error) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithCancel(ctx)
	p := &Process{cmd: exec.CommandContext(ctx, path, args...), stop: cancel, exited: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = patience
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// PID is the program's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// End stops the program, by force if it does not heed, and waits for its end.
func (p *Process) End() {
	p.stop()
	<-p.exited
}

// Watch runs f with a context that ends with the program, whose end then is the
// error.
func (p *Process) Watch(ctx context.Context, f func(context.Context) error) error {
	// A program's connections break a moment before it can be reaped.
	const moment = 100 * time.Millisecond
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.exited:
			cancel(p.failure())
		case <-ctx.Done():
		}
	}()
	err := f(ctx)
	if err == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w (%v)", context.Cause(ctx), err)
	case <-time.After(moment):
		return err
	}
}

// failure tells why the program ended by itself: what it said last, from a panic on.
func (p *Process) failure() error {
	text := strings.TrimSpace(p.output.String())
	said := text[strings.LastIndex(text, "\n")+1:]
	if i := strings.Index(text, "panic: "); i >= 0 {
		said = text[i:]
	}
	return fmt.Errorf("%s ended too early: %w", filepath.Base(p.cmd.Path), errors.Join(p.err, errors.New(said)))
}
