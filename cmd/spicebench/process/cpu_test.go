package process

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const stat = "42 (a (strange) name) S 1 42 42 0 -1 4194560 900 0 0 0 150 25 7 8 20 0 9 0 100 1 2 3\n"
	got, err := parseStat([]byte(stat))
	if want := (CPU{1500 * time.Millisecond, 250 * time.Millisecond}); got != want || err != nil {
		t.Errorf("parseStat gives %v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"", "42 (x) S 1 2 3", "1 (x) S 1 1 1 1 1 1 1 1 1 1 one 2 3", "1 (x) S 1 1 1 1 1 1 1 1 1 1 1 two 3"} {
		if got, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("parseStat(%q) gives %v, want an error", bad, got)
		}
	}
}
