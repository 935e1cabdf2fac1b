package session

import (
	"testing"
	"time"
)

func TestLimitLogIsThinnedOut(t *testing.T) {
	var l limitLog
	start := time.Unix(1000, 0)
	for _, step := range []struct {
		at      time.Duration
		skipped int
		ok      bool
	}{
		{0, 0, true}, {0, 0, false}, {limitLogPause - 1, 0, false}, {limitLogPause, 2, true},
		{limitLogPause + 1, 0, false}, {time.Hour, 1, true}, {2 * time.Hour, 0, true},
	} {
		if skipped, ok := l.allow(start.Add(step.at)); skipped != step.skipped || ok != step.ok {
			t.Errorf("after %v: %d skipped, %v; want %d, %v", step.at, skipped, ok, step.skipped, step.ok)
		}
	}
}
