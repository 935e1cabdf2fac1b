package keydraw

import (
	"testing"
	"time"
)

func TestTickerCatchesUp(t *testing.T) {
	start := time.Unix(100, 0)
	tick := ticker{next: start, period: 10 * time.Millisecond}
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for i, step := range []struct {
		ms   int
		want bool
	}{{-1, false}, {0, true}, {0, false}, {35, true}, {35, true}, {35, true}, {35, false}, {39, false}, {40, true}} {
		if got := tick.due(at(step.ms)); got != step.want {
			t.Errorf("step %d, %d ms: due = %v", i, step.ms, got)
		}
	}
	if got := tick.sooner(time.Hour, at(45)); got != 5*time.Millisecond {
		t.Errorf("next tick in %s, want 5ms", got)
	}
}

func TestTickerWithoutPeriodNeverTicks(t *testing.T) {
	var tick ticker
	if tick.due(time.Now()) || tick.sooner(time.Hour, time.Now()) != time.Hour {
		t.Error("a ticker of period 0 ticks")
	}
}
