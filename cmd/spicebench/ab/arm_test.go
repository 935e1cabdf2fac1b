package ab

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseArms(t *testing.T) {
	arms, err := parseArms(
		[]string{"passthrough", "valve", "auto-lz"},
		[]string{"extra=pacing: {mode: withhold}", "valve={pacing: {mode: adaptive, raw_valve: true}}"})
	if err != nil {
		t.Fatal(err)
	}
	want := []arm{
		{name: "passthrough", overrides: settings{"pacing": settings{"mode": "passthrough"}}},
		{name: "valve", overrides: settings{"pacing": settings{"mode": "adaptive", "raw_valve": true}}},
		{name: "auto-lz", overrides: settings{"pacing": settings{"mode": "passthrough"}}, compression: "auto-lz"},
		{name: "extra", overrides: settings{"pacing": settings{"mode": "withhold"}}},
	}
	if diff := cmp.Diff(want, arms, cmp.AllowUnexported(arm{})); diff != "" {
		t.Errorf("arms differ from what was asked for (-want +got):\n%s", diff)
	}
}

func TestParseArmsRefuses(t *testing.T) {
	for _, c := range []struct{ name, definition string }{
		{name: "none-such"},
		{definition: "no-yaml"},
		{definition: "a/b=pacing: {}"},
		{definition: "list=[1, 2]"},
		{definition: "open={pacing: "},
	} {
		var names, definitions []string
		if c.name != "" {
			names = []string{c.name}
		}
		if c.definition != "" {
			definitions = []string{c.definition}
		}
		if arms, err := parseArms(names, definitions); err == nil {
			t.Errorf("arms %q %q are read as %v, want an error", names, definitions, arms)
		}
	}
	if _, err := parseArms([]string{"adaptive", "adaptive"}, nil); err == nil {
		t.Error("the same arm twice is no error")
	}
}

func TestMergedGoesDownToTheKey(t *testing.T) {
	base := settings{"listen": settings{"port": 1, "mode": "a"}, "log": settings{"level": "info"}}
	got := merged(base, settings{"listen": settings{"mode": "b"}, "pacing": settings{"mode": "c"}})
	want := settings{
		"listen": settings{"port": 1, "mode": "b"}, "log": settings{"level": "info"}, "pacing": settings{"mode": "c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged settings differ (-want +got):\n%s", diff)
	}
	if base["listen"].(settings)["mode"] != "a" {
		t.Error("merging has changed its argument")
	}
}
