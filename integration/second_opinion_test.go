package integration

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Every message of real sessions, and every field that tshark decodes of it, is the
// same to tshark and to us, but for the disagreements of docs/second-opinion.md. The
// captures are small ones of the long test's sessions.
func TestSecondOpinion(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil && testing.Short() {
		t.Skip(err)
	}
	need(t, "tshark")
	sum := newTally()
	eachCapture(t, func(t *testing.T, file string) {
		one := compareWithTshark(t, file, storedPort)
		if one.messages == 0 {
			t.Error("no messages")
		}
		sum.add(one)
	})
	sum.report(t)
	documented(t, sum)
}

// The same with sessions that are captured now, of at least 50,000 messages.
func TestSecondOpinionOfLiveSessions(t *testing.T) {
	needLong(t)
	sum := newTally()
	for _, c := range scenarios {
		t.Run(c.name, func(t *testing.T) {
			one := compareWithTshark(t, c.capture(t), qemuPort)
			t.Logf("%d messages, %d values", one.messages, one.values)
			sum.add(one)
		})
	}
	sum.report(t)
	const least = 50_000
	if sum.messages < least && !t.Failed() {
		t.Errorf("%d messages, want at least %d", sum.messages, least)
	}
	documented(t, sum)
}

// report logs what was compared.
func (a tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d messages of the same channel, direction, order, type and size; %d values of fields compared; "+
		"%d messages of which no fields were", a.messages, a.values, a.unknown)
	for _, kind := range slices.Sorted(maps.Keys(a.kinds)) {
		t.Logf("%7d %s", a.kinds[kind], kind)
	}
	for _, name := range slices.Sorted(maps.Keys(a.disagrees)) {
		t.Logf("%7d messages: %s", a.disagrees[name], name)
	}
}

// documented checks that every disagreement found is told of.
func documented(t *testing.T, a tally) {
	t.Helper()
	text, err := os.ReadFile("../docs/second-opinion.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range a.disagrees {
		if !strings.Contains(string(text), "\n### "+name+"\n") {
			t.Errorf("docs/second-opinion.md does not tell of %s", name)
		}
	}
}
