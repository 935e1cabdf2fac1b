package cost

import (
	"os"
	"testing"
	"time"
)

// A process that works does not count as settled before it stops.
func TestSettledCPU(t *testing.T) {
	done := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(done)
		for time.Since(began) < 2*quiet {
		}
	}()
	if _, err := settledCPU(t.Context(), os.Getpid()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	default:
		t.Error("settled while the process worked")
	}
	if _, err := settledCPU(t.Context(), -1); err == nil {
		t.Error("no such process is no error")
	}
}
