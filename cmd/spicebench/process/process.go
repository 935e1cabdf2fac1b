// Package process starts the programs a measurement is about, and tells what they
// use.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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

// patience is how long a program has to end when it is asked to.
const patience = 5 * time.Second

// Process is a started program.
type Process struct {
	cmd    *exec.Cmd
	output func() []byte // its messages, once it has been reaped
	exited chan struct{} // closed then
	err    error         // valid from then on
}

// Contain has a program not outlive this process, however that ends, and not be
// reached by a Ctrl-C on the terminal before its time.
func Contain(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// Start starts a program, contained, that is asked to end when ctx does.
func Start(ctx context.Context, path string, args ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	Contain(cmd)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	return start(cmd, output.Bytes)
}

// StartLogged starts a program whose messages go to a file: what it writes to its
// standard error and, unless cmd has another place for it, to its standard output.
func StartLogged(cmd *exec.Cmd, log string) (*Process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the child has its own
	if cmd.Stdout == nil {
		cmd.Stdout = file
	}
	cmd.Stderr = file
	return start(cmd, func() []byte {
		text, err := os.ReadFile(log)
		if err != nil {
			return []byte(err.Error())
		}
		return text
	})
}

func start(cmd *exec.Cmd, output func() []byte) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, output: output, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// PID is the program's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// End stops the program, by force if it does not heed, and waits for its end.
func (p *Process) End() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	insist := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer insist.Stop()
	<-p.exited
}

// Exited returns a channel that is closed when the program has ended and has been
// reaped.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err tells how the program ended, nil for a good end. It is valid once Exited is
// closed.
func (p *Process) Err() error { return p.err }

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
			cancel(p.Failure())
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

// Failure tells why the program ended by itself: what it said last, from a panic on.
// It is valid once Exited is closed.
func (p *Process) Failure() error {
	text := strings.TrimSpace(string(p.output()))
	said := text[strings.LastIndex(text, "\n")+1:]
	if i := strings.Index(text, "panic: "); i >= 0 {
		said = text[i:]
	}
	return fmt.Errorf("%s ended too early: %w", filepath.Base(p.cmd.Path), errors.Join(p.err, errors.New(said)))
}
