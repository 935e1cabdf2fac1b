package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/ab"
	"spicepacer/internal/testenv"
)

// programs builds the bench and the proxy, and skips the test where the bench
// cannot run.
func programs(t *testing.T) (bench, proxy string) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a guest")
	}
	testenv.NeedsRoot(t)
	testenv.NeedsPrograms(t, "qemu-system-x86_64", "ip", "ss", "nsenter")
	dir := t.TempDir()
	build := func(name, source string) string {
		path := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-o", path, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", source, err, out)
		}
		return path
	}
	return build("spicebench", "."), build("kerbside-proxy", "../kerbside-proxy")
}

// leftovers lists what a dead process of the bench has left behind.
func leftovers(t *testing.T, pid int, program string) (found []string) {
	t.Helper()
	namespaces, err := filepath.Glob(fmt.Sprintf("/run/netns/sp-%d-*", pid))
	if err != nil {
		t.Fatal(err)
	}
	// Every child has a file of the program's directory on its command line, or
	// is the wire, which is the program itself.
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(program)
	for _, link := range links {
		exe, _ := os.Readlink(link)
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if strings.HasPrefix(exe, dir) || strings.Contains(string(args), dir) {
			found = append(found, fmt.Sprintf("%s %q", exe, args))
		}
	}
	return append(found, namespaces...)
}

// command prepares `spicebench ab` with one arm on an idle guest. All that it makes
// lies in the program's directory, and it does not outlive the test.
func command(t *testing.T, bench, proxy string, args ...string) *exec.Cmd {
	t.Helper()
	dir := filepath.Dir(bench)
	all := []string{"ab", "--cells", "20:50/idle", "--arms", "passthrough", "--repeats", "1",
		"--proxy", proxy, "--out", filepath.Join(dir, "results")}
	cmd := exec.CommandContext(t.Context(), bench, append(all, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	return cmd
}

func TestABMeasuresThroughTheProxy(t *testing.T) {
	bench, proxy := programs(t)
	cmd := command(t, bench, proxy, "--presses", "2", "--warmup", "500ms")
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(filepath.Join(filepath.Dir(bench), "results", "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var r ab.Result
	if err := json.Unmarshal(lines, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Client.Latencies) != 2 || r.Client.Latencies[0] < 20*time.Millisecond || r.Client.Window == 0 || r.CongestionControl.Client != "cubic" {
		t.Errorf("implausible result %s", lines)
	}
	if left := leftovers(t, cmd.Process.Pid, bench); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestABLeavesNothingWhenStopped(t *testing.T) {
	bench, proxy := programs(t)
	cmd := command(t, bench, proxy, "--presses", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the client to run", func() bool {
		left := strings.Join(leftovers(t, cmd.Process.Pid, bench), " ")
		return strings.Contains(left, "qemu") && strings.Contains(left, "client")
	})
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err == nil {
		t.Error("an interrupted run ends without an error")
	}
	if left := leftovers(t, cmd.Process.Pid, bench); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// waitFor polls for a state of other processes, which give no event.
func waitFor(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !reached(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 3 minutes for %s", what)
		}
	}
}
