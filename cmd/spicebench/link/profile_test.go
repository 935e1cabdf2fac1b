package link

import (
	"slices"
	"testing"
	"time"
)

func TestParseProfile(t *testing.T) {
	for s, want := range map[string]Profile{
		"80:10":        {RTT: 80 * time.Millisecond, RateMbit: 10, BufferBDP: 1},
		"0.5:1000":     {RTT: 500 * time.Microsecond, RateMbit: 1000, BufferBDP: 1},
		"150:2:1.5%":   {RTT: 150 * time.Millisecond, RateMbit: 2, Loss: 0.015, BufferBDP: 1},
		"20:0":         {RTT: 20 * time.Millisecond, BufferBDP: 1},
		"20:50.25:100": {RTT: 20 * time.Millisecond, RateMbit: 50.25, Loss: 1, BufferBDP: 1},
	} {
		got, err := ParseProfile(s)
		if err != nil || got != want {
			t.Errorf("ParseProfile(%q) = %+v, %v; want %+v", s, got, err, want)
		}
		if again, err := ParseProfile(got.String()); err != nil || again != got {
			t.Errorf("ParseProfile(%q) of %q = %+v, %v", got.String(), s, again, err)
		}
	}
}

func TestParseProfileRefuses(t *testing.T) {
	for _, s := range []string{"", "80", "80:", ":10", "80:10:1:1", "-1:10", "80:NaN", "80:10:101%", "80:1e9", "80ms:10"} {
		if p, err := ParseProfile(s); err == nil {
			t.Errorf("ParseProfile(%q) = %+v, want an error", s, p)
		}
	}
}

func TestNetemArgs(t *testing.T) {
	// The limits of Kerbside's rig for the same links are 110 and 135.
	for s, want := range map[string][]string{
		"80:10":   {"netem", "delay", "40000us", "rate", "10000000bit", "limit", "110"},
		"20:50:1": {"netem", "delay", "10000us", "rate", "50000000bit", "loss", "1%", "limit", "135"},
		"30:0":    {"netem", "delay", "15000us", "limit", "100000"},
	} {
		p, err := ParseProfile(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := netemArgs(p); !slices.Equal(got, want) {
			t.Errorf("netem arguments of %s are %q, want %q", s, got, want)
		}
	}
}
