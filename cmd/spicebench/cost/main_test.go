package cost

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spicepacer/internal/testenv"
)

// The whole way with both programs, with few bytes.
func TestRun(t *testing.T) {
	o, err := parseFlags([]string{"--size", "0.004", "--repeats", "1", "--display-rate", "0"})
	if err != nil {
		t.Fatal(err)
	}
	testenv.NeedsPrograms(t, o.haproxy)
	dir := t.TempDir()
	o.proxy, o.out = filepath.Join(dir, "kerbside-proxy"), filepath.Join(dir, "out.jsonl")
	if out, err := exec.Command("go", "build", "-o", o.proxy, "spicepacer/cmd/kerbside-proxy").CombinedOutput(); err != nil {
		t.Fatalf("build the proxy: %v\n%s", err, out)
	}
	if err := run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(o.out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cells []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		least := uint64(4 * megabyte)
		if r.Load == "saturated" && r.Arm == armAdaptive {
			least = megabyte // some of it is left out
		}
		if r.Bytes < least || r.Messages == 0 || r.Elapsed <= 0 || r.Before <= 0 {
			t.Errorf("implausible result %s", lines.Bytes())
		}
		cells = append(cells, r.Load+" "+r.Arm)
	}
	const want = "bulk haproxy, bulk passthrough, " +
		"display haproxy, display passthrough, display adaptive, display fifo, " +
		"saturated haproxy, saturated passthrough, saturated adaptive, saturated fifo"
	if got := strings.Join(cells, ", "); got != want {
		t.Errorf("measured %s, want %s", got, want)
	}
}

func TestParseFlags(t *testing.T) {
	o, err := parseFlags(strings.Fields("--loads display,saturated --arms adaptive,haproxy --display-rate 8 --link-rate 4 --size 0.5 --repeats 2 --out x"))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.loads) != 2 || o.loads[0].rate != 8*megabyte || o.loads[1].receive != 4*megabyte || len(o.arms) != 2 || o.bytes != gigabyte/2 || o.repeats != 2 || o.out != "x" {
		t.Errorf("flags are read as %+v", o)
	}
	for _, bad := range []string{"extra", "--repeats 0", "--size 0", "--size x", "--display-rate -1", "--link-rate 0", "--loads x", "--arms x", "--arms haproxy,haproxy", "--none-such"} {
		if _, err := parseFlags(strings.Fields(bad)); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

func TestPlanTakesTurns(t *testing.T) {
	var got []string
	for _, c := range plan([]load{bulk(), display(0)}, arms, 2) {
		got = append(got, c.String())
	}
	want := []string{
		"bulk haproxy, repeat 1", "bulk passthrough, repeat 1",
		"display haproxy, repeat 1", "display passthrough, repeat 1", "display adaptive, repeat 1", "display fifo, repeat 1",
		"bulk passthrough, repeat 2", "bulk haproxy, repeat 2",
		"display passthrough, repeat 2", "display adaptive, repeat 2", "display fifo, repeat 2", "display haproxy, repeat 2",
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("plan is %q, want %q", got, want)
	}
}
