package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDeadLogReader goes on when nobody reads the log any more: writing to it then
// gives EPIPE, and without care SIGPIPE, which ends the process.
func TestDeadLogReader(t *testing.T) {
	s := newSettings(t)
	r := start(t, "--config", s.write(t))
	r.waitReady()
	if err := r.out.Close(); err != nil {
		t.Fatal(err)
	}
	r.wantService(s)
}

// TestNoLogAtAll starts without a standard output.
func TestNoLogAtAll(t *testing.T) {
	s := newSettings(t)
	direct := command(t, "--config", s.write(t))
	r := startCommand(t, commandOf(t, direct.Env, "sh", append([]string{"-c", `exec "$0" "$@" >&-`}, direct.Args...)...))
	s.waitServing(t)
	r.wantService(s)
}

// wantService expects a proxy, whose log leads nowhere, to carry connections and to
// stop in good order.
func (r *running) wantService(s settings) {
	r.t.Helper()
	for range 2 {
		knock(r.t, s) // each one is logged
	}
	wantMetric(r.t, s, `spicepacer_connections_total{channel="main",result="backend_failed"} 2`)
	wantAnswer(r.t, s, "/healthz/ready", http.StatusOK)
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		r.t.Errorf("after the signal: %v, want exit code 0", err)
	}
}

// TestStopIsBounded has a log that takes nothing more, so that the stop cannot
// even be logged: the process ends all the same, with the code of a failure, some
// seconds behind the drain's 10 s.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	pipe := newFullPipe(t)
	cmd := command(t, "--config", s.write(t))
	cmd.Stdout = pipe.writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	s.waitServing(t)
	pipe.fill(t)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("after the signal: %v, want exit code %d", err, exitFailed)
	}
}

// fullPipe is a named pipe that nobody reads. Its two writers are opened apart,
// so that one may wait and the other need not.
type fullPipe struct {
	writer *os.File // waits
	filler int
}

func newFullPipe(t *testing.T) fullPipe {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(flags int) int {
		t.Helper()
		fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Close(fd) })
		return fd
	}
	open(syscall.O_RDONLY | syscall.O_NONBLOCK) // so that the writers can be opened
	filler := open(syscall.O_WRONLY | syscall.O_NONBLOCK)
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	return fullPipe{writer, filler}
}

// fill writes until not one more byte is taken.
func (p fullPipe) fill(t *testing.T) {
	t.Helper()
	for _, block := range []string{strings.Repeat("x", 4096), "x"} {
		for {
			_, err := syscall.Write(p.filler, []byte(block))
			if err == syscall.EAGAIN {
				break
			}
			if err != nil && err != syscall.EINTR {
				t.Fatal(err)
			}
		}
	}
}
