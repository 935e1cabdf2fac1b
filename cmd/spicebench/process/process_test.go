package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestProgramThatEndsTellsWhy(t *testing.T) {
	for script, want := range map[string]string{
		"echo one; echo no port >&2; exit 3":               "exit status 3\nno port",
		"echo one; echo panic: gone >&2; echo at x.go; ex": "panic: gone\nat x.go",
	} {
		p, err := Start(t.Context(), "/bin/sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Watch(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("connection lost")
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q ended with %q, want %q", script, err, want)
		}
		p.End()
	}
}

func TestEndStopsAProgram(t *testing.T) {
	p, err := Start(t.Context(), "/bin/sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	p.End()
	if p.cmd.ProcessState == nil {
		t.Error("the program was not reaped")
	}
}

// A program with a log of its own tells from there why it ended.
func TestLoggedProgramThatEndsTellsWhy(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	p, err := StartLogged(exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo one; echo no port >&2; exit 3"), log)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if p.Err() == nil || !strings.Contains(p.Failure().Error(), "exit status 3\nno port") {
		t.Errorf("ended with %v: %v", p.Err(), p.Failure())
	}
	if text, err := os.ReadFile(log); err != nil || string(text) != "one\nno port\n" {
		t.Errorf("log %q, error %v", text, err)
	}
	if _, err := StartLogged(exec.Command("/bin/true"), filepath.Join(log, "none")); err == nil {
		t.Error("a program was started without its log")
	}
}
