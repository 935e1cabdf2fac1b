package ab

import (
	"testing"
	"time"
)

func TestIntervalsBelongToProfiles(t *testing.T) {
	o, err := parseFlags([]string{"--interval", "80:10=2600ms,150:2=12s"})
	if err != nil {
		t.Fatal(err)
	}
	loads, err := parseLoads([]string{"80:10/heavy", "150:2/heavy", "20:50/heavy"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{2600 * time.Millisecond, 12 * time.Second, 0} {
		if got := o.intervals[loads[i].profile.String()]; got != want {
			t.Errorf("interval of %v is %v, want %v", loads[i].profile, got, want)
		}
	}
}

func TestParseFlagsRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--interval", "80:10=soon"},
		{"--interval", "80:10=-1s"},
		{"--interval", "fast=1s"},
		{"--presses", "0"},
		{"stray"},
	} {
		if _, err := parseFlags(args); err == nil {
			t.Errorf("%q is accepted, want an error", args)
		}
	}
}
