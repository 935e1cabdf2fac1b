package ab

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spicepacer/cmd/spicebench/client"
	"spicepacer/cmd/spicebench/process"
	"spicepacer/cmd/spicebench/series"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// result makes a cell's result: latencies from first upwards in steps of 10 ms.
func result(arm string, repeat int, first float64, age time.Duration, window uint32, kib float64) Result {
	r := Result{
		Profile: "80:10", Activity: "heavy", Arm: arm, Repeat: repeat, TLS: true,
		Started: time.Date(2030, 1, 2, 3, repeat, 0, 0, time.UTC), Ended: time.Date(2030, 1, 2, 3, repeat, 30, 0, time.UTC),
		Client: client.Result{
			Elapsed: 10 * time.Second, Bytes: 12_000_000 - uint64(repeat)*100_000, Window: window,
			Age: client.Age{P50: age / 2, P95: age, Max: 2 * age, Regions: 20, LeastUpdates: 30 - repeat, MostUpdates: 40 + repeat},
		},
		CPU:     CPU{QEMU: 2, Proxy: 0.05, Span: 10},
		Command: []string{"spicebench", "ab"},
		Host:    Host{Host: process.Host{Kernel: "6.1", CPUs: 2}, QEMU: "QEMU 7"},
	}
	for i := range 5 {
		ms := first + 10*float64(i)
		r.Client.Latencies = append(r.Client.Latencies, time.Duration(ms*float64(time.Millisecond)))
	}
	q := Queue{Samples: []float64{kib * 1024, 2 * kib * 1024, 3 * kib * 1024}}
	r.Queues = Queues{ClientSend: q, ProxyReceive: q, ServerSend: q}
	return r
}

func exampleResults() []Result {
	idle := result("passthrough", 1, 90, 0, 40, 0)
	idle.Activity, idle.Client.Age, idle.Client.Bytes = "idle", client.Age{}, 0
	late := result("adaptive", 2, 140, 3*time.Second, 20, 10)
	late.Client.Timeouts = 1
	images := func(r Result, images map[string]client.Tally) Result {
		r.Client.Images = images
		return r
	}
	return []Result{
		images(result("passthrough", 1, 2000, time.Second, 40, 300), map[string]client.Tally{
			"glz-rgb": {Count: 10, Bytes: 40_000, Pixels: 10_000}, "jpeg": {Count: 30, Bytes: 9000, Pixels: 30_000},
			"DRAW_FILL": {Count: 1, Bytes: 60, Pixels: 100},
		}),
		images(result("adaptive", 1, 130, 2*time.Second, 40, 10), map[string]client.Tally{
			"lz-rgb": {Count: 10, Bytes: 50_000, Pixels: 10_000},
		}),
		late,
		images(result("passthrough", 2, 2100, time.Second, 40, 500), map[string]client.Tally{
			"glz-rgb": {Count: 10, Bytes: 50_000, Pixels: 10_000},
		}),
		{Profile: "80:10", Activity: "heavy", Arm: "adaptive", Repeat: 3, Error: "QEMU ended"},
		{Profile: "80:10", Activity: "heavy", Arm: "withhold", Repeat: 1, Error: "start proxy: exit status 2"},
		idle,
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("report differs from %s (-want +got):\n%s", path, diff)
	}
}

func TestReportText(t *testing.T) {
	var out bytes.Buffer
	if err := writeText(&out, exampleResults()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", out.String())
}

func TestReportMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := writeMarkdown(&out, exampleResults()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", out.String())
}

func TestDemoSummary(t *testing.T) {
	golden(t, "demo.txt", demoSummary(exampleResults()))
	failed := []Result{{Arm: baseline, Error: "x"}, {Arm: "adaptive", Error: "x"}}
	if got := demoSummary(failed); got != "" {
		t.Errorf("summary of failed cells is %q, want none", got)
	}
}

// A result that was written and read again must give the same report.
func TestResultsSurviveTheFile(t *testing.T) {
	dir := t.TempDir()
	file, err := series.Create(filepath.Join(dir, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	want := exampleResults()
	lines := json.NewEncoder(file)
	for _, r := range want {
		if err := lines.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(summarise(want), summarise(got), cmp.AllowUnexported(summary{}, key{})); diff != "" {
		t.Errorf("summaries differ after reading (-want +got):\n%s", diff)
	}
	if _, err := series.Create(filepath.Join(dir, resultsFile)); err == nil {
		t.Error("results of two runs may share a file")
	}
}

func TestObserveFillsInQueuesAndCPU(t *testing.T) {
	sockets := readSockets(t)
	start := time.Unix(100, 0)
	var samples []sample
	for i := range 5 {
		sockets := slices.Clone(sockets)
		for j := range sockets {
			sockets[j].bytesReceived += uint64(i) * 1_250_000
		}
		samples = append(samples, sample{
			at: start.Add(time.Duration(i) * time.Second), sockets: sockets,
			qemu: time.Duration(i) * 500 * time.Millisecond, proxy: time.Duration(i) * 10 * time.Millisecond,
		})
	}
	r := Result{WindowStarted: start.Add(time.Second), WindowEnded: start.Add(3 * time.Second)}
	if err := r.observe(samples); err != nil {
		t.Fatal(err)
	}
	if want := (CPU{QEMU: 1, Proxy: 0.02, Span: 2}); r.CPU != want {
		t.Errorf("CPU is %+v, want %+v", r.CPU, want)
	}
	if r.Backend != 10 {
		t.Errorf("QEMU sent %v Mbit/s, want 10", r.Backend)
	}
	if want := (LegNames{"cubic", "cubic", "cubic"}); r.CongestionControl != want {
		t.Errorf("congestion control is %+v, want %+v", r.CongestionControl, want)
	}
	want := Queues{
		ClientSend:   Queue{108600, 108600, []float64{108600, 108600, 108600}},
		ProxyReceive: Queue{2872, 2872, []float64{2872, 2872, 2872}},
		ServerSend:   Queue{30156, 30156, []float64{30156, 30156, 30156}},
	}
	if diff := cmp.Diff(want, r.Queues); diff != "" {
		t.Errorf("queues differ (-want +got):\n%s", diff)
	}
	if err := (&Result{}).observe(samples); err == nil {
		t.Error("a window without samples is no error")
	}
	for i := range samples {
		samples[i].sockets = nil
	}
	if err := r.observe(samples); err == nil {
		t.Error("samples without connections are no error")
	}
}

func TestParseFlags(t *testing.T) {
	o, err := parseFlags(strings.Fields("--cells 80:10/heavy,20:50:1%/idle --arms passthrough,adaptive --presses 3 --repeats 1 --tls=false --out x"))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.loads) != 2 || o.loads[1].profile.Loss != 0.01 || len(o.arms) != 2 || o.presses != 3 || o.tls || o.out != "x" {
		t.Errorf("flags are read as %+v", o)
	}
	if o, err = parseFlags([]string{"--demo"}); err != nil || len(o.loads) != 1 || o.presses != 12 || o.repeats != 1 || o.out == "" {
		t.Errorf("--demo is %+v, %v", o, err)
	}
	for _, bad := range []string{"--presses 0", "--profiles 80", "--activities x", "--arms x", "extra", "--none-such"} {
		if _, err := parseFlags(strings.Fields(bad)); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}
