package observe

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"
)

// TestWholeNumbersStayWhole: what a counter holds is read back as an integer.
func TestWholeNumbersStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Uint64Range(0, maxInteger).Draw(t, "value")
		r := prometheus.NewRegistry()
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c", Help: "1e+06 of them."})
		c.Add(float64(want))
		r.MustRegister(c)
		text, err := page(r)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		name, value, _ := strings.Cut(lines[len(lines)-1], " ")
		got, err := strconv.ParseUint(value, 10, 64)
		if name != "c" || err != nil || got != want {
			t.Fatalf("%d is shown as %q", want, lines)
		}
		if lines[0] != "# HELP c 1e+06 of them." {
			t.Fatalf("help line %q", lines[0])
		}
	})
}

func TestOtherNumbersAreLeftAlone(t *testing.T) {
	for _, value := range []string{"0.08", "1.25e-07", "+Inf", "NaN", "1e+300", "text"} {
		line := fmt.Sprintf("name{label=\"a b\"} %s\n", value)
		if got := string(plainNumber([]byte(line))); got != line {
			t.Errorf("%q becomes %q", line, got)
		}
	}
	if got := string(plainNumber([]byte("name{label=\"a b\"} -1.5e+06\n"))); got != "name{label=\"a b\"} -1500000\n" {
		t.Errorf("a negative number becomes %q", got)
	}
}
