package ab

import (
	"os"
	"testing"
	"time"
)

func TestParseCPUTime(t *testing.T) {
	const stat = "4711 (a) b (c) S 1 4711 4711 0 -1 4194560 903 0 0 0 250 50 7 8 20 0 6 0 12345 0 0"
	if got, err := parseCPUTime([]byte(stat)); err != nil || got != 3*time.Second {
		t.Errorf("CPU time of %q is %v, %v; want 3s", stat, got, err)
	}
	for _, bad := range []string{"", "4711 (a) S 1", "1 (a) S 1 2 3 4 5 6 7 8 9 0 x 1"} {
		if got, err := parseCPUTime([]byte(bad)); err == nil {
			t.Errorf("CPU time of %q is %v, want an error", bad, got)
		}
	}
}

func TestCPUTimeGrowsWithWork(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if after, err := cpuTime(os.Getpid()); err != nil || after > before {
			return
		}
	}
	t.Error("a minute's work has used no CPU time")
}

func TestWithinTakesTheWindow(t *testing.T) {
	start := time.Unix(0, 0)
	var samples []sample
	for i := range 10 {
		samples = append(samples, sample{at: start.Add(time.Duration(i) * time.Second)})
	}
	got := within(samples, start.Add(2500*time.Millisecond), start.Add(5*time.Second))
	if len(got) != 3 || !got[0].at.Equal(start.Add(3*time.Second)) {
		t.Errorf("window holds %v, want seconds 3 to 5", got)
	}
	if len(samples) != 10 || samples[9].at.IsZero() {
		t.Error("taking the window has changed the samples")
	}
}

func TestPercentile(t *testing.T) {
	values := []float64{40, 10, 30, 20}
	for p, want := range map[float64]float64{0: 10, 50: 25, 95: 38.5, 100: 40} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %v of %v is %v, want %v", p, values, got, want)
		}
	}
	if percentile(nil, 50) != 0 || mean(nil) != 0 {
		t.Error("percentile or mean of nothing is not 0")
	}
}
