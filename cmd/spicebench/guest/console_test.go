package guest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"spicepacer/cmd/spicebench/keydraw"
)

func TestConsoleGivesLinesOnce(t *testing.T) {
	var log strings.Builder
	c := newConsole()
	c.follow(strings.NewReader("booting\r\nX 1\r\nother\r\nX 2\r\nX 3"), &log)
	c.end()
	for _, want := range []string{"X 1", "X 2", "X 3"} {
		if got, err := c.wait(t.Context(), "X"); err != nil || got != want {
			t.Errorf("wait = %q, %v, want %q", got, err, want)
		}
	}
	if _, err := c.wait(t.Context(), "X"); err == nil {
		t.Error("waiting goes on after the end")
	}
	if !strings.HasPrefix(log.String(), "booting\r\nX 1") {
		t.Errorf("log is %q", log.String())
	}
}

func TestConsoleWaitsForTheLine(t *testing.T) {
	out, in := io.Pipe()
	c := newConsole()
	go c.follow(out, io.Discard)
	go io.WriteString(in, "booting\nSTART\n")
	if got, err := c.wait(t.Context(), "START"); err != nil || got != "START" {
		t.Errorf("wait = %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.wait(ctx, "START"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	in.Close()
}

func TestConsoleKnowsALostCause(t *testing.T) {
	for _, line := range []string{keydraw.ErrorLine + " no card", "[ 1.0] Kernel panic - not syncing: no init"} {
		out, in := io.Pipe()
		c := newConsole()
		go c.follow(out, io.Discard)
		go io.WriteString(in, line+"\n")
		if _, err := c.wait(t.Context(), keydraw.StartLine); err == nil || err.Error() != line {
			t.Errorf("got %v, want %q", err, line)
		}
		in.Close()
	}
}

func TestConsoleTailIsShort(t *testing.T) {
	c := newConsole()
	c.follow(strings.NewReader(strings.Repeat("noise\n", 100)+"last words"), io.Discard)
	if tail := c.tail(); strings.Count(tail, "\n") > 20 || !strings.HasSuffix(tail, "last words") {
		t.Errorf("tail is %q", tail)
	}
}
