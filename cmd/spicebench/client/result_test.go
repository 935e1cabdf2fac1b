package client

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResultJSON(t *testing.T) {
	want := Result{
		Latencies: []time.Duration{ms(100.5), ms(120)},
		Timeouts:  1,
		Elapsed:   10 * time.Second,
		Bytes:     12_500_000, Messages: 7,
		Images: map[string]Tally{"lz-rgb": {Count: 3, Bytes: 99, Pixels: 1024}},
		Age:    Age{P50: ms(20), P95: ms(191.25), Max: ms(3000), Regions: 20, LeastUpdates: 56, MostUpdates: 94},
		Window: 40, ACKs: 12, Seed: 1<<64 - 1,
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"latencies_ms":[100.5,120],"latency_p50_ms":110.25,"latency_p95_ms":119.025,` +
		`"elapsed_ms":10000,"mbit_per_s":10,"timeouts":1,"bytes":12500000,"messages":7,` +
		`"images":{"lz-rgb":{"count":3,"bytes":99,"pixels":1024}},` +
		`"age":{"p50_ms":20,"p95_ms":191.25,"max_ms":3000,"regions":20,"least_updates":56,"most_updates":94},` +
		`"window":40,"acks":12,"seed":18446744073709551615}`
	if string(b) != text {
		t.Errorf("JSON\n%s, want\n%s", b, text)
	}
	var got Result
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

func TestResultJSONWithoutPresses(t *testing.T) {
	b, err := json.Marshal(Result{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"latencies_ms":[]`) {
		t.Errorf("%s has no empty list of latencies", b)
	}
}

func TestPercentile(t *testing.T) {
	tests := []struct {
		durations []time.Duration
		p         float64
		want      time.Duration
	}{
		{nil, 50, 0},
		{[]time.Duration{7}, 95, 7},
		{[]time.Duration{30, 10}, 50, 20}, // unsorted
		{[]time.Duration{10, 20, 30, 40}, 50, 25},
		{[]time.Duration{0, 100}, 95, 95},
		{[]time.Duration{10, 20, 30}, 0, 10},
		{[]time.Duration{10, 20, 30}, 100, 30},
	}
	for _, tt := range tests {
		if got := Percentile(tt.durations, tt.p); got != tt.want {
			t.Errorf("Percentile(%v, %v) = %d, want %d", tt.durations, tt.p, got, tt.want)
		}
	}
}

func TestBytesPerPixel(t *testing.T) {
	if got := (Tally{Bytes: 3, Pixels: 2}).BytesPerPixel(); got != 1.5 {
		t.Errorf("three bytes for two pixels are %v each", got)
	}
	if got := (Tally{Bytes: 3}).BytesPerPixel(); got != 0 {
		t.Errorf("bytes for no pixel are %v each", got)
	}
}
