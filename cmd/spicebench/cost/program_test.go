package cost

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestMissingProgramNamesThePackage(t *testing.T) {
	if _, err := findHAProxy(t.Context(), "/no/such/haproxy"); err == nil || !strings.Contains(err.Error(), "Debian package haproxy") {
		t.Errorf("without HAProxy: %v, want the package that has it", err)
	}
	if _, err := findProxy("/no/such/proxy"); err == nil || !strings.Contains(err.Error(), "/no/such/proxy") {
		t.Errorf("without the proxy: %v, want its path", err)
	}
}

func TestProgramThatEndsTellsWhy(t *testing.T) {
	for script, want := range map[string]string{
		"echo one; echo no port >&2; exit 3":               "exit status 3\nno port",
		"echo one; echo panic: gone >&2; echo at x.go; ex": "panic: gone\nat x.go",
	} {
		p, err := start(t.Context(), "/bin/sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		err = p.watch(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("connection lost")
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q ended with %q, want %q", script, err, want)
		}
		p.end()
	}
}

func TestEndStopsAProgram(t *testing.T) {
	p, err := start(t.Context(), "/bin/sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	p.end()
	if p.cmd.ProcessState == nil {
		t.Error("the program was not reaped")
	}
}
