package ab

import (
	"slices"
	"testing"
)

func TestPlanTakesTurns(t *testing.T) {
	loads, err := product([]string{"80:10", "20:50"}, []string{"idle"})
	if err != nil {
		t.Fatal(err)
	}
	arms, err := parseArms([]string{"passthrough", "withhold", "adaptive"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range plan(loads, arms, 2) {
		got = append(got, c.String())
	}
	want := []string{
		"80:10 idle passthrough, repeat 1", "80:10 idle withhold, repeat 1", "80:10 idle adaptive, repeat 1",
		"20:50 idle passthrough, repeat 1", "20:50 idle withhold, repeat 1", "20:50 idle adaptive, repeat 1",
		"80:10 idle withhold, repeat 2", "80:10 idle adaptive, repeat 2", "80:10 idle passthrough, repeat 2",
		"20:50 idle withhold, repeat 2", "20:50 idle adaptive, repeat 2", "20:50 idle passthrough, repeat 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("plan is\n%q\nwant\n%q", got, want)
	}
}

func TestCellsHaveDirectoriesOfTheirOwn(t *testing.T) {
	loads, err := parseLoads([]string{"80:10/heavy", "80:10:1%/heavy", "80:10/busy"})
	if err != nil {
		t.Fatal(err)
	}
	arms, err := parseArms([]string{"passthrough", "passthrough2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]cell{}
	for _, c := range plan(loads, arms, 2) {
		if other, ok := seen[c.directory()]; ok {
			t.Errorf("%v and %v share the directory %s", c, other, c.directory())
		}
		seen[c.directory()] = c
	}
}

func TestParseLoadsRefuses(t *testing.T) {
	for _, s := range []string{"80:10", "80/heavy", "80:10/none-such", ""} {
		if loads, err := parseLoads([]string{s}); err == nil {
			t.Errorf("cell %q is read as %v, want an error", s, loads)
		}
	}
}
