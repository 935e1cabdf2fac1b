package load

import (
	"fmt"
	"io"
	"strings"
)

// writeReport writes tables in Markdown, as docs/measurements.md has them.
func writeReport(w io.Writer, r Result) {
	fmt.Fprintf(w, "%d sessions of %d channels, pacing %s, %s; %s; Linux %s, %d processors.\n    %s\n\n",
		r.Sessions, len(kinds), r.Mode, r.legs(), r.Program, r.Host.Kernel, r.Host.CPUs, strings.Join(r.Command, " "))
	if r.Sessions > 0 {
		writeKinds(w, r)
		writeIdle(w, r)
	}
	writeChurn(w, r)
}

func (r Result) legs() string {
	if r.HypervisorTLS {
		return "TLS on both legs"
	}
	return "TLS towards clients"
}

func writeKinds(w io.Writer, r Result) {
	fmt.Fprint(w, "| channel | goroutines each | kB each at first | channels opened a second |\n|---|--:|--:|--:|\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(w, "| %s | %.2f | %.1f | %.0f |\n", k.Channel, k.Goroutines, k.RSS/1e3, float64(r.Sessions)/k.Opening)
	}
}

func writeIdle(w io.Writer, r Result) {
	n := float64(r.Idle.After.Channels)
	fmt.Fprintf(w, "\n| idle for %.0f s | |\n|---|--:|\n", r.Idle.Seconds)
	fmt.Fprintf(w, "| channels | %.0f |\n", n)
	fmt.Fprintf(w, "| RSS a channel, kB | %.1f |\n", r.perChannel()/1e3)
	fmt.Fprintf(w, "| RSS, MB (start, idle) | %.1f, %.1f |\n", float64(r.Start.RSS)/1e6, float64(r.Idle.After.RSS)/1e6)
	fmt.Fprintf(w, "| goroutines a channel | %.2f |\n", float64(r.Idle.After.Goroutines-r.Start.Goroutines)/n)
	fmt.Fprintf(w, "| CPU, ms a second | %.2f |\n", 1e3*r.Idle.CPU/r.Idle.Seconds)
	fmt.Fprintf(w, "| channels lost | %d |\n", r.Idle.Lost)
}

func writeChurn(w io.Writer, r Result) {
	c := r.Churn
	fmt.Fprintf(w, "\n%d connections at %.1f a second (%.0f asked), %.1f ms CPU each, up after %.0f ms (p99 %.0f ms).\n\n",
		c.Connects, c.Reached, c.Rate, 1e3*c.CPU, 1e3*c.UpP50, 1e3*c.UpP99)
	fmt.Fprintf(w, "Descriptors and goroutines were back %.1f s after the last of them, memory after %.1f s.\n\n", c.Released, c.Recovery)
	fmt.Fprint(w, "| failure | connections | otherwise |\n|---|--:|--:|\n")
	for _, s := range c.Stages {
		fmt.Fprintf(w, "| %s | %d | %d |\n", s.Name, s.Connects, s.Unexpected)
	}
	fmt.Fprint(w, "\n| | channels | descriptors | goroutines | RSS MB |\n|---|--:|--:|--:|--:|\n")
	for _, row := range []struct {
		name string
		s    Sample
	}{
		{"start", r.Start}, {"before the churn", c.Before},
		{"after it", c.After}, {"without sessions", r.End},
	} {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %.1f |\n", row.name, row.s.Channels, row.s.FDs, row.s.Goroutines, float64(row.s.RSS)/1e6)
	}
}
