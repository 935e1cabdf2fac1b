package process

import (
	"context"
	"errors"
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
