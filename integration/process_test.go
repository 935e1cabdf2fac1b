package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/link"
	programs "spicepacer/cmd/spicebench/process"
)

// transcript keeps the lines that a program prints, and lets tests wait for one.
type transcript struct {
	mu      sync.Mutex
	lines   []string
	partial []byte
	ended   bool
	changed chan struct{} // closed and replaced with every change
	file    io.WriteCloser
}

// newTranscript also writes what it gets to a file.
func newTranscript(t *testing.T, path string) *transcript {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return &transcript{changed: make(chan struct{}), file: f}
}

// Write takes the next piece of the program's output.
func (r *transcript) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial = append(r.partial, p...)
	for line := range bytes.Lines(r.partial) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		r.lines = append(r.lines, strings.TrimRight(string(line), "\r\n"))
		r.partial = r.partial[len(line):]
	}
	r.announce()
	return r.file.Write(p)
}

// end says that no more will come.
func (r *transcript) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.announce()
	r.file.Close()
}

func (r *transcript) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// matching returns the lines that match, of those so far.
func (r *transcript) matching(match func(string) bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool { return !match(line) })
}

// wait returns once n lines match.
func (r *transcript) wait(ctx context.Context, n int, match func(string) bool) ([]string, error) {
	for {
		r.mu.Lock()
		changed, ended := r.changed, r.ended
		r.mu.Unlock()
		if found := r.matching(match); len(found) >= n {
			return found, nil
		}
		if ended {
			return nil, errors.New("the output has ended")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tail is the end of the output, to explain a failure with.
func (r *transcript) tail() string {
	const few = 20
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines[max(0, len(r.lines)-few):], "\n")
}

// beginning matches lines by their first characters.
func beginning(prefix string) func(string) bool {
	return func(line string) bool { return strings.HasPrefix(line, prefix) }
}

// process is a program that a test has started.
type process struct {
	name   string
	cmd    *exec.Cmd
	output *transcript
	exited chan struct{} // closed when it has been reaped
	err    error         // valid once exited is closed
}

// command prepares a program inside a namespace, in a process group of its own,
// that does not outlive this process.
func command(n *link.Namespace) func(ctx context.Context, name string, args ...string) *exec.Cmd {
	return func(ctx context.Context, name string, args ...string) *exec.Cmd {
		cmd := n.Command(ctx, name, args...)
		programs.Contain(cmd)
		return cmd
	}
}

// start starts a program, which the end of the test stops.
func (l *lab) start(name string, cmd *exec.Cmd) *process {
	l.t.Helper()
	p := &process{name: name, cmd: cmd, output: newTranscript(l.t, l.file(name+".log")), exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.WaitDelay = time.Second // for grandchildren that keep the output open
	if err := cmd.Start(); err != nil {
		l.t.Fatalf("start %s: %v", name, err)
	}
	go p.reap()
	l.t.Cleanup(func() {
		p.stop()
		if l.t.Failed() {
			l.t.Logf("%s: %v\n%s", name, p.err, p.output.tail())
		}
	})
	return p
}

func (p *process) reap() {
	p.err = p.cmd.Wait()
	p.output.end()
	close(p.exited)
}

// stop ends the program and what it has started, by force if it does not heed.
func (p *process) stop() {
	const notice = 15 * time.Second // more than the proxy takes to drain
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGCONT)
	insist := time.AfterFunc(notice, func() { p.signal(syscall.SIGKILL) })
	defer insist.Stop()
	<-p.exited
}

// signal goes to the program's process group.
func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.exited: // the number may be another's by now
	default:
		syscall.Kill(-p.cmd.Process.Pid, s)
	}
}

// alive is an error once the program has ended.
func (p *process) alive() error {
	select {
	case <-p.exited:
		return fmt.Errorf("%s has ended: %v", p.name, p.err)
	default:
		return nil
	}
}
