package integration

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/keydraw"
)

// soakVariable is how long the soak takes, as Go writes durations.
const soakVariable = "SPICEPACER_SOAK"

// A long session on a thin link: heavy activity, the resolution changing and a key
// pressed every quarter of a minute. Nothing freezes, nothing is disconnected, and in
// the end the picture is right.
func TestSoak(t *testing.T) {
	needLong(t)
	length := soakTime(t)
	s := newLab(t, "80:10", viewerPrograms...).startSession(15 * time.Second)
	watch := watchPulse(t, s.guest)
	began := time.Now()
	for time.Since(began) < length && !t.Failed() {
		s.wantHeld()
		s.wantLines(keydraw.ModeLine, s.lines(keydraw.ModeLine)+1)
		s.wantAnswer("soak")
		s.wantUndisturbed()
	}
	s.wantLines(keydraw.FPSLine, s.lines(keydraw.FPSLine)+1)
	s.wantAnswer("final")
	watch.end(10 * time.Second)
	s.wantUndisturbed()
	t.Logf("soak: %v, %d mode changes, QEMU's longest answer %v, guest fps %s, proxy %s",
		time.Since(began).Round(time.Second), s.lines(keydraw.ModeLine), watch.longest.Round(time.Millisecond), s.frameRates(), s.proxyFigures())
}

// soakTime is the length asked for. The test's own deadline must leave time for it.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	length := 10 * time.Minute
	if v := os.Getenv(soakVariable); v != "" {
		var err error
		if length, err = time.ParseDuration(v); err != nil {
			t.Fatalf("%s: %v", soakVariable, err)
		}
	}
	if end, ok := t.Deadline(); ok && time.Until(end) < length+2*patience {
		t.Fatalf("a soak of %v needs go test -timeout %v", length, length+5*time.Minute)
	}
	return length
}

// frameRates are the lowest and the median of the rates the guest has told.
func (s *session) frameRates() string {
	var rates []float64
	for _, line := range s.guest.console.matching(beginning(keydraw.FPSLine)) {
		r, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(line, keydraw.FPSLine)), 64)
		if err != nil {
			s.t.Fatal(err)
		}
		rates = append(rates, r)
	}
	slices.Sort(rates)
	return fmt.Sprintf("%g lowest, %g median", rates[0], rates[len(rates)/2])
}

// peakMemory is a line of proc(5)'s status file.
var peakMemory = regexp.MustCompile(`(?m)^VmHWM:\s*(.*)$`)

// proxyFigures are what the proxy has done and what that took.
func (s *session) proxyFigures() string {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.proxy.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	figures := []string{"memory " + string(peakMemory.FindSubmatch(status)[1])}
	for _, series := range []string{
		`spicepacer_bytes_total{channel="display",direction="server_to_client"}`,
		`spicepacer_display_sweeps_total{mode="adaptive"}`,
		`spicepacer_display_acks_held_total{mode="adaptive"}`,
		`spicepacer_display_ack_hold_seconds_total{mode="adaptive"}`,
	} {
		value, err := s.proxy.metric(series)
		if err != nil {
			s.t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(series, "spicepacer_"), "{")
		figures = append(figures, fmt.Sprintf("%s %.0f", name, value))
	}
	return strings.Join(figures, ", ")
}
