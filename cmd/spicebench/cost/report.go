package cost

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// key says which results belong together.
type key struct{ load, arm string }

// summary is what the table says about the repeats of one arm under one load.
type summary struct {
	key
	failed            int
	cpu, user, system []float64 // seconds for each GB
	rate              []float64 // MB/s
}

// summarise groups results by load, and within a load by the order of the arms.
func summarise(results []Result) []summary {
	var all []summary
	for _, r := range results {
		k := key{r.Load, r.Arm}
		i := slices.IndexFunc(all, func(s summary) bool { return s.key == k })
		if i < 0 {
			i = len(all)
			all = append(all, summary{key: k})
		}
		all[i].add(r)
	}
	slices.SortStableFunc(all, func(a, b summary) int {
		return cmp.Or(cmp.Compare(a.load, b.load), cmp.Compare(slices.Index(arms, a.arm), slices.Index(arms, b.arm)))
	})
	return all
}

func (s *summary) add(r Result) {
	if r.Error != "" {
		s.failed++
		return
	}
	s.cpu = append(s.cpu, r.perGB(r.User+r.System))
	s.user = append(s.user, r.perGB(r.User))
	s.system = append(s.system, r.perGB(r.System))
	s.rate = append(s.rate, r.rate())
}

// column is one column of the table. base is HAProxy under the same load.
type column struct {
	title string
	cell  func(s, base summary) string
}

var columns = []column{
	{"load", func(s, _ summary) string { return s.load }},
	{"arm", func(s, _ summary) string { return s.arm }},
	{"repeats", func(s, _ summary) string { return s.repeats() }},
	{"CPU s/GB", func(s, _ summary) string { return number(s.cpu, 2) }},
	{"least..most", func(s, _ summary) string { return spread(s.cpu) }},
	{"user", func(s, _ summary) string { return number(s.user, 2) }},
	{"system", func(s, _ summary) string { return number(s.system, 2) }},
	{"MB/s", func(s, _ summary) string { return number(s.rate, 0) }},
	{"× haproxy", func(s, base summary) string { return ratio(s.cpu, base.cpu) }},
}

const legend = `CPU: seconds of processor time of the program under test, starting and linking not
included, for each 10^9 bytes carried; medians of the repeats. × haproxy: ratio of
these. MB/s is also a matter of what hypervisor and viewer leave to the program.
`

const none = "-"

// repeats is their number, and what went wrong in parentheses.
func (s summary) repeats() string {
	if s.failed == 0 {
		return fmt.Sprint(len(s.cpu))
	}
	return fmt.Sprintf("%d (%d failed)", len(s.cpu), s.failed)
}

func number(values []float64, decimals int) string {
	if len(values) == 0 {
		return none
	}
	return fmt.Sprintf("%.*f", decimals, median(values))
}

func spread(values []float64) string {
	if len(values) == 0 {
		return none
	}
	return fmt.Sprintf("%.2f..%.2f", slices.Min(values), slices.Max(values))
}

func ratio(values, base []float64) string {
	if len(values) == 0 || len(base) == 0 || median(base) == 0 {
		return none
	}
	return fmt.Sprintf("%.2f", median(values)/median(base))
}

// median returns the middle of at least one value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// writeReport writes the table, how it came about, and what failed.
func writeReport(w io.Writer, results []Result) error {
	if len(results) == 0 {
		return nil
	}
	all := summarise(results)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range columns {
		fmt.Fprint(table, separator(i), c.title)
	}
	fmt.Fprintln(table)
	for _, s := range all {
		base := baseline(all, s.load)
		for i, c := range columns {
			fmt.Fprint(table, separator(i), c.cell(s, base))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s%s", legend, conditions(results), failures(results))
	return err
}

func separator(column int) string {
	if column == 0 {
		return ""
	}
	return "\t"
}

// baseline returns HAProxy's summary under a load.
func baseline(all []summary, load string) summary {
	i := slices.IndexFunc(all, func(s summary) bool { return s.key == key{load, armHAProxy} })
	if i < 0 {
		return summary{}
	}
	return all[i]
}

// conditions says under what circumstances the results came about.
func conditions(results []Result) string {
	var programs []string
	for _, r := range results {
		if !slices.Contains(programs, r.Program) {
			programs = append(programs, r.Program)
		}
	}
	r := results[0]
	return fmt.Sprintf("%s; %s; Linux %s, %d processors.\n    %s\n",
		r.TLS, strings.Join(programs, "; "), r.Host.Kernel, r.Host.CPUs, strings.Join(r.Command, " "))
}

// failures lists the cells that failed.
func failures(results []Result) string {
	var list strings.Builder
	for _, r := range results {
		if r.Error != "" {
			fmt.Fprintf(&list, "\nFailed: %s %s, repeat %d: %s\n", r.Load, r.Arm, r.Repeat, r.Error)
		}
	}
	return list.String()
}
