package load

import "testing"

func TestParseRSS(t *testing.T) {
	got, err := parseRSS([]byte("Name:\tproxy\nVmHWM:\t  400 kB\nVmRSS:\t  321 kB\nThreads:\t7\n"))
	if got != 321<<10 || err != nil {
		t.Errorf("parseRSS gives %d, %v", got, err)
	}
	for _, bad := range []string{"", "VmHWM:\t 1 kB\n", "VmRSS:\t one kB\n"} {
		if got, err := parseRSS([]byte(bad)); err == nil {
			t.Errorf("parseRSS(%q) gives %d, want an error", bad, got)
		}
	}
}

func TestMetricSum(t *testing.T) {
	const page = "# HELP a x\n# TYPE a gauge\na{k=\"x y\"} 3\na{k=\"b\"} 4.5\naa 100\nb 1e3\n"
	for name, want := range map[string]float64{"a": 7.5, "aa": 100, "b": 1000, "c": 0} {
		if got := metricSum([]byte(page), name); got != want {
			t.Errorf("%s adds up to %v, want %v", name, got, want)
		}
	}
}
