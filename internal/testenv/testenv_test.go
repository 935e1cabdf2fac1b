package testenv

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test whose end is noted.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.ended = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.ended = "skipped: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// endOf returns how a test that runs f ends, "" for a test that goes on.
func endOf(t *testing.T, f func(testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.ended
}

func TestNeedsPrograms(t *testing.T) {
	const name = "no-program-of-this-name"
	lacking := func(t testing.TB) { NeedsPrograms(t, "sh", name) }
	for ci, want := range map[string]string{
		"":     `skipped: missing: exec: "` + name + `": executable file not found in $PATH`,
		"true": `failed: missing in CI: exec: "` + name + `": executable file not found in $PATH`,
	} {
		t.Setenv("CI", ci)
		if got := endOf(t, lacking); got != want {
			t.Errorf("with CI=%q: %q, want %q", ci, got, want)
		}
		if got := endOf(t, func(t testing.TB) { NeedsPrograms(t, "sh", "true") }); got != "" {
			t.Errorf("with CI=%q a test that lacks nothing %s", ci, got)
		}
	}
}
