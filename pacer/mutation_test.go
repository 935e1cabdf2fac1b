package pacer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a condition of a proof that is missing or wrong. Some test must fail
// with it.
type mutant struct {
	file     string // beside this one, or relative to it
	old, new string // old occurs once in the file
}

// killers are the tests that may find a mutant in a package, cheap and likely ones
// first: each line is run only if those before found nothing.
var killers = map[string][]string{
	".": {
		"^TestProof|^TestOrderStreams|^TestStreams",
		"^TestOrderShowsTheSameInManyRuns$",
		"^TestOrder|^TestFair|^TestGrid|^TestEntry|^TestSort|^TestKeep",
		".",
	},
	"../spiceproto": {"Effect|StreamHead", "."},
}

const longVariable = "SPICEPACER_LONG" // 1: run the long tests

// The list must not rot unseen between the long runs.
func TestMutantsFit(t *testing.T) {
	sources := make(map[string]string)
	for i, m := range mutants() {
		if sources[m.file] == "" {
			sources[m.file] = m.source(t)
		}
		if n := strings.Count(sources[m.file], m.old); n != 1 {
			t.Errorf("number %d: %q occurs %d times in %s, want once", i, m.old, n, m.file)
		}
		if m.old == m.new {
			t.Errorf("number %d: %q is no change of %s", i, m.old, m.file)
		}
		if killers[filepath.Dir(m.file)] == nil {
			t.Errorf("number %d: no test may find what is wrong in %s", i, m.file)
		}
	}
}

func TestMutants(t *testing.T) {
	if os.Getenv(longVariable) == "" {
		t.Skipf("%s is not set", longVariable)
	}
	all, killed := mutants(), 0
	for i, m := range all {
		t.Run(fmt.Sprintf("%d/%s", i, filepath.Base(m.file)), func(t *testing.T) {
			binary := m.build(t)
			for _, tests := range killers[filepath.Dir(m.file)] {
				if m.fails(t, binary, tests) {
					killed++
					return
				}
			}
			t.Errorf("no test finds that in %s\n%s\nbecame\n%s", m.file, m.old, m.new)
		})
	}
	t.Logf("%d mutants, %d killed", len(all), killed)
}

func (m mutant) source(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// build compiles the tests of the mutant's package.
func (m mutant) build(t *testing.T) (binary string) {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {here: changed}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(m.source(t), m.old, m.new, 1)
	for name, content := range map[string][]byte{changed: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(dir, "mutant.test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags", "-s -w", "-overlay", overlay, "-o", binary, ".")
	cmd.Dir = filepath.Dir(m.file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mutant does not compile: %v\n%s", err, out)
	}
	return binary
}

// fails runs the tests of that name. One that takes too long has not failed: that
// may be the machine's doing.
func (m mutant) fails(t *testing.T, binary, tests string) bool {
	t.Helper()
	cmd := exec.Command(binary, "-test.run", tests, "-test.failfast", "-test.timeout", "15m",
		"-test.skip", "Ledger|Mutants", "-rapid.nofailfile", "-rapid.shrinktime", "1ms")
	cmd.Dir, cmd.Env = filepath.Dir(m.file), append(os.Environ(), longVariable+"=")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run the tests of %s: %v\n%s", binary, err, out)
	}
	if strings.Contains(string(out), "panic: test timed out") {
		t.Fatalf("the tests %s do not end with %q in place of %q in %s", tests, m.new, m.old, m.file)
	}
	return err != nil
}
