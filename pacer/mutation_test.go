package pacer_test

import (
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
		"^TestProof|^TestStreams|^TestOrderStreams|^TestOrderWhere|^TestGrid|^TestSort|^TestOrderKeeps|^TestOrderSurfaces|^TestOrderReplaces|^TestFairness|^TestEntry",
		"^TestOrderShowsTheSameInManyRuns$",
		"^TestFair|^TestOrderIs|^TestOrderSends|^TestOrderUrgent|^TestOrderInherited",
	},
	"../spiceproto": {"^TestEffect|^TestParseStreamHead", "^FuzzEffect|^TestParse"},
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
	for dir := range killers {
		binary := buildMutants(t, dir, all)
		for i, m := range all {
			if filepath.Dir(m.file) != dir {
				continue
			}
			t.Run(fmt.Sprintf("%d/%s", i+1, filepath.Base(m.file)), func(t *testing.T) {
				by, _ := killer(t, binary, dir, i+1)
				if by == "" {
					t.Fatalf("no test finds that in %s\n%s\nbecame\n%s", m.file, m.old, m.new)
				}
				t.Logf("found by %s", by)
				killed++
			})
		}
		if by, out := killer(t, binary, dir, 0); by != "" {
			t.Errorf("%s fails without a mutant, so that all of this shows nothing:\n%s", by, out)
		}
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

// killer returns which of the tests in dir fail with the mutant of that number,
// "" if none, and their output. Those that take too long have not failed: that may
// be the machine's doing.
func killer(t *testing.T, binary, dir string, number int) (tests, output string) {
	t.Helper()
	for _, tests := range killers[dir] {
		cmd := exec.Command(binary, "-test.run", tests, "-test.failfast", "-test.timeout", "15m",
			"-test.skip", "Ledger|Mutants", "-rapid.nofailfile", "-rapid.shrinktime", "1ms")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), longVariable+"=", fmt.Sprintf("%s=%d", mutantVariable, number))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err != nil && !errors.As(err, &exit):
			t.Fatalf("run the tests of %s: %v\n%s", binary, err, out)
		case strings.Contains(string(out), "panic: test timed out"):
			t.Fatalf("the tests %s do not end with mutant %d", tests, number)
		case err != nil:
			return tests, string(out)
		}
	}
	return "", ""
}
