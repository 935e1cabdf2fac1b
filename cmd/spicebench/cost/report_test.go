package cost

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spicepacer/cmd/spicebench/process"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// result makes a cell's result: 2 GB in 4 s with the given CPU times.
func result(load, arm string, repeat int, user, system float64) Result {
	program := "kerbside-proxy, go1.26"
	if arm == armHAProxy {
		program = "HAProxy version 2.6"
	}
	return Result{
		Load: load, Arm: arm, Repeat: repeat, Bytes: 2 * gigabyte, Messages: 40000, Elapsed: 4,
		User: user, System: system, TLS: "TLS 1.3 TLS_AES_128_GCM_SHA256", Program: program,
		Command: []string{"spicebench", "cost"}, Host: process.Host{Kernel: "6.1", CPUs: 2},
	}
}

func TestReport(t *testing.T) {
	failed := result("display", armAdaptive, 2, 0, 0)
	failed.Error, failed.Bytes, failed.Elapsed = "the cell takes too long", 0, 0
	results := []Result{
		result("bulk", armPassthrough, 1, 0.8, 0.6),
		result("bulk", armHAProxy, 1, 1.2, 0.8),
		result("display", armHAProxy, 1, 2, 1),
		result("display", armAdaptive, 1, 3, 3),
		failed,
		result("bulk", armPassthrough, 2, 0.8, 0.8),
		result("bulk", armHAProxy, 2, 1.0, 0.6),
		result("bulk", armPassthrough, 3, 2.0, 2.0),
		result("other", armPassthrough, 1, 1, 1),
	}
	var out bytes.Buffer
	if err := writeReport(&out, results); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "report.txt")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("report differs from %s (-want +got):\n%s", golden, diff)
	}
}

func TestSameTLS(t *testing.T) {
	results := []Result{result("bulk", armHAProxy, 1, 1, 1), result("bulk", armPassthrough, 1, 1, 1)}
	if err := sameTLS(results); err != nil {
		t.Error(err)
	}
	results[1].TLS = "TLS 1.3 TLS_CHACHA20_POLY1305_SHA256"
	if sameTLS(results) == nil {
		t.Error("arms with different ciphers are compared")
	}
}

func TestResultsAreNotMixed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	_, done, err := resultLines(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	if _, _, err := resultLines(path); err == nil {
		t.Error("two runs may share a file")
	}
}
