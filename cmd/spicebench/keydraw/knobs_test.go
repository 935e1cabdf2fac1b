package keydraw

import (
	"strings"
	"testing"
	"time"
)

func TestParseKnobs(t *testing.T) {
	for _, tc := range []struct {
		cmdline string
		want    Knobs
	}{
		{"console=ttyS0 rdinit=/init", Knobs{Width: 640, Height: 480, Noise: 3, Activity: Plasma}},
		{"kd.activity=three", Knobs{Width: 320, Height: 240, Noise: 3, Activity: Three}},
		{"kd.fps=30 kd.noise=12 quiet kd.w=1120", Knobs{FPS: 30, Width: 1120, Height: 480, Noise: 8, Activity: Plasma}},
		{"kd.delay=8 kd.modeswitch=5\n", Knobs{
			Width: 640, Height: 480, Noise: 3, Activity: Plasma,
			Delay: 8 * time.Second, ModeSwitch: 5 * time.Second,
		}},
	} {
		if got, err := ParseKnobs(tc.cmdline); err != nil || got != tc.want {
			t.Errorf("ParseKnobs(%q) = %+v, %v, want %+v", tc.cmdline, got, err, tc.want)
		}
	}
}

func TestParseKnobsNamesTheBadOne(t *testing.T) {
	for _, word := range []string{"kd.fps=fast", "kd.fps=-1", "kd.w", "kd.colour=1", "kd.activity=dance"} {
		if _, err := ParseKnobs("quiet " + word); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("ParseKnobs with %s: error %v does not name it", word, err)
		}
	}
}

func TestCommandLineRoundTrip(t *testing.T) {
	want := Knobs{
		FPS: 25, Width: 200, Height: 100, Noise: 5, Activity: Scroll,
		Delay: 2 * time.Second, ModeSwitch: 3 * time.Second,
		Seed: 7, Mode: 2, Cursor: 20, Beep: 4 * time.Second, Agent: true,
	}
	if got, err := ParseKnobs(want.CommandLine()); err != nil || got != want {
		t.Errorf("ParseKnobs(%q) = %+v, %v, want %+v", want.CommandLine(), got, err, want)
	}
}
