package ab

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// key says which results are pooled.
type key struct{ profile, activity, arm string }

// group is all repeats of one arm under one load.
type group struct {
	key
	good   []Result
	failed int
}

// pool groups results, in the order of their first appearance.
func pool(results []Result) []*group {
	var groups []*group
	for _, r := range results {
		k := key{r.Profile, r.Activity, r.Arm}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.key == k })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{key: k})
		}
		if r.Error != "" {
			groups[i].failed++
		} else {
			groups[i].good = append(groups[i].good, r)
		}
	}
	return groups
}

// summary is what the table says about a group. Latencies and queues are pooled
// over the repeats; ages, whose single values no longer exist, throughputs and
// CPU times are means of the repeats.
type summary struct {
	key
	repeats, failed   int
	presses, timeouts int
	p50, p95, max     float64 // ms
	mbit              float64
	ageP95            float64 // ms
	regions           int
	least, most       float64 // updates of a region, a minute
	windows           []uint32
	queues            [3]float64 // medians in KiB: client leg, proxy's backend, QEMU
	qemuCPU, proxyCPU float64    // percent of one processor
	backend           float64    // Mbit/s from QEMU
}

func (g *group) summarise() summary {
	s := summary{key: g.key, repeats: len(g.good), failed: g.failed}
	var latencies, mbit, ages, qemu, proxy, backend []float64
	var queues [3][]float64
	for i, r := range g.good {
		for _, l := range r.Client.Latencies {
			latencies = append(latencies, milliseconds(l))
		}
		s.timeouts += r.Client.Timeouts
		mbit = append(mbit, r.Client.Mbit())
		ages = append(ages, milliseconds(r.Client.Age.P95))
		s.regions = r.Client.Age.Regions
		least, most := r.updatesPerMinute()
		if i == 0 || least < s.least {
			s.least = least
		}
		s.most = max(s.most, most)
		if !slices.Contains(s.windows, r.Client.Window) {
			s.windows = append(s.windows, r.Client.Window)
		}
		for j, q := range []Queue{r.Queues.ClientSend, r.Queues.ProxyReceive, r.Queues.ServerSend} {
			queues[j] = append(queues[j], q.Samples...)
		}
		qemu = append(qemu, 100*r.CPU.QEMU/r.CPU.Span)
		proxy = append(proxy, 100*r.CPU.Proxy/r.CPU.Span)
		backend = append(backend, r.Backend)
	}
	s.presses = len(latencies)
	s.p50, s.p95, s.max = percentile(latencies, 50), percentile(latencies, 95), percentile(latencies, 100)
	s.mbit, s.ageP95, s.qemuCPU, s.proxyCPU = mean(mbit), mean(ages), mean(qemu), mean(proxy)
	s.backend = mean(backend)
	for j, q := range queues {
		s.queues[j] = percentile(q, 50) / 1024
	}
	return s
}

// updatesPerMinute is how often the least and the most updated region came. Arms that
// answer sooner are measured for less time.
func (r Result) updatesPerMinute() (least, most float64) {
	minutes := r.Client.Elapsed.Minutes()
	if minutes == 0 {
		return 0, 0
	}
	return float64(r.Client.Age.LeastUpdates) / minutes, float64(r.Client.Age.MostUpdates) / minutes
}

func summarise(results []Result) []summary {
	var all []summary
	for _, g := range pool(results) {
		all = append(all, g.summarise())
	}
	return all
}

// find returns the summary of one arm under the load of another.
func find(all []summary, like summary, arm string) (summary, bool) {
	want := key{like.profile, like.activity, arm}
	i := slices.IndexFunc(all, func(s summary) bool { return s.key == want })
	if i < 0 {
		return summary{}, false
	}
	return all[i], true
}

// column is one column of the table.
type column struct {
	title string
	cell  func(s, base summary) string
}

var columns = []column{
	{"ms:Mbit/s", func(s, _ summary) string { return s.profile }},
	{"activity", func(s, _ summary) string { return s.activity }},
	{"arm", func(s, _ summary) string { return s.arm }},
	{"presses", func(s, _ summary) string { return s.counts() }},
	{"p50 ms", func(s, _ summary) string { return s.number(s.p50, 0) }},
	{"p95 ms", func(s, _ summary) string { return s.number(s.p95, 0) }},
	{"max ms", func(s, _ summary) string { return s.number(s.max, 0) }},
	{"Mbit/s", func(s, _ summary) string { return s.number(s.mbit, 2) }},
	{"of QEMU", func(s, _ summary) string { return s.number(s.backend, 2) }},
	{"age p95 ms", func(s, _ summary) string { return s.ofRegions(fmt.Sprintf("%.0f", s.ageP95)) }},
	{"updates/min", func(s, _ summary) string { return s.ofRegions(fmt.Sprintf("%.0f..%.0f", s.least, s.most)) }},
	{"W", func(s, _ summary) string { return s.window() }},
	{"backlog KiB", func(s, _ summary) string { return s.backlog() }},
	{"CPU %", func(s, _ summary) string { return s.cpu() }},
	{"× p50", func(s, base summary) string { return ratio(s.p50, base.p50) }},
	{"× age", func(s, base summary) string { return ratio(s.ageP95, base.ageP95) }},
	{"× Mbit/s", func(s, base summary) string { return ratio(s.mbit, base.mbit) }},
}

// legend explains the columns that do not explain themselves.
const legend = `age: time since a cell of the activity, 32 by 32 pixels, was last updated; updates
a minute: of the least and the most updated cell. W: spice-server's ACK window. backlog: medians of
the proxy's client socket (unacknowledged), the proxy's socket to QEMU (unread)
and QEMU's socket (unacknowledged). of QEMU: Mbit/s that QEMU sent. CPU: QEMU / proxy, of one processor. ×: ratio
to passthrough; passthrough2 is passthrough again and shows what is chance.
B/pixel: bytes of the display's messages for each pixel they painted; images: the
pixels of each type, in percent, and their B/pixel.
`

const none = "-"

func (s summary) number(v float64, decimals int) string {
	if s.repeats == 0 {
		return none
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// counts is the number of presses, and what went wrong in parentheses.
func (s summary) counts() string {
	var wrong []string
	if s.timeouts > 0 {
		wrong = append(wrong, fmt.Sprintf("%d late", s.timeouts))
	}
	if s.failed > 0 {
		wrong = append(wrong, fmt.Sprintf("%d failed", s.failed))
	}
	if len(wrong) == 0 {
		return fmt.Sprint(s.presses)
	}
	return fmt.Sprintf("%d (%s)", s.presses, strings.Join(wrong, ", "))
}

func (s summary) ofRegions(text string) string {
	if s.regions == 0 {
		return none
	}
	return text
}

func (s summary) window() string {
	if s.repeats == 0 {
		return none
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.windows), " ", "/"), "[]")
}

func (s summary) backlog() string {
	if s.repeats == 0 {
		return none
	}
	return fmt.Sprintf("%.0f / %.0f / %.0f", s.queues[0], s.queues[1], s.queues[2])
}

func (s summary) cpu() string {
	if s.repeats == 0 {
		return none
	}
	return fmt.Sprintf("%.0f / %.1f", s.qemuCPU, s.proxyCPU)
}

func ratio(v, base float64) string {
	if v == 0 || base == 0 {
		return none
	}
	return fmt.Sprintf("%.2f", v/base)
}

// table is the titles and a row for each summary.
func table(all []summary) [][]string {
	rows := [][]string{nil}
	for _, c := range columns {
		rows[0] = append(rows[0], c.title)
	}
	for _, s := range all {
		base, _ := find(all, s, baseline)
		var row []string
		for _, c := range columns {
			row = append(row, c.cell(s, base))
		}
		rows = append(rows, row)
	}
	return rows
}

// writeText writes the report for a terminal.
func writeText(w io.Writer, results []Result) error {
	if err := alignText(w, table(summarise(results))); err != nil {
		return err
	}
	if rows := imageTable(pool(results)); len(rows) > 0 {
		fmt.Fprintln(w)
		if err := alignText(w, rows); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s%s", legend, failures(results))
	return err
}

func alignText(w io.Writer, rows [][]string) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	return columns.Flush()
}

// writeMarkdown writes the report as a page.
func writeMarkdown(w io.Writer, results []Result) error {
	var page strings.Builder
	fmt.Fprintf(&page, "# Measurement\n\n%s\n", conditions(results))
	markdownTable(&page, table(summarise(results)))
	page.WriteByte('\n')
	if rows := imageTable(pool(results)); len(rows) > 0 {
		markdownTable(&page, rows)
		page.WriteByte('\n')
	}
	fmt.Fprintf(&page, "%s%s", legend, failures(results))
	_, err := io.WriteString(w, page.String())
	return err
}

func markdownTable(page *strings.Builder, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(page, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(page, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
}

// conditions says under what circumstances the results came about.
func conditions(results []Result) string {
	if len(results) == 0 {
		return "No results.\n"
	}
	first, last := results[0], results[len(results)-1]
	legs := "plaintext"
	if first.TLS {
		legs = "TLS"
	}
	const layout = "2006-01-02 15:04 MST"
	return fmt.Sprintf("From %s to %s. Linux %s, %d processors, %s. Client leg: %s.\n\n    %s\n",
		first.Started.UTC().Format(layout), last.Ended.UTC().Format(layout),
		first.Host.Kernel, first.Host.CPUs, first.Host.QEMU, legs, strings.Join(first.Command, " "))
}

// failures lists the cells that failed.
func failures(results []Result) string {
	var list strings.Builder
	for _, r := range results {
		if r.Error != "" {
			fmt.Fprintf(&list, "\nFailed: %s %s %s, repeat %d: %s\n", r.Profile, r.Activity, r.Arm, r.Repeat, r.Error)
		}
	}
	return list.String()
}

// demoSummary says in words what the demo has shown.
func demoSummary(results []Result) string {
	all := summarise(results)
	for _, s := range all {
		base, ok := find(all, s, baseline)
		if s.arm == baseline || !ok || s.repeats == 0 || base.repeats == 0 {
			continue
		}
		rtt, rate, _ := strings.Cut(s.profile, ":")
		return fmt.Sprintf(
			"With a round trip of %s ms, %s Mbit/s and a busy screen, a key press shows after\n"+
				"%.0f ms (95 of 100 within %.0f ms). Through a plain proxy it takes %.0f ms (%.0f ms):\n"+
				"%.1f times as long. The picture's rate is %.2f Mbit/s instead of %.2f.\n",
			rtt, rate, s.p50, s.p95, base.p50, base.p95, base.p50/s.p50, s.mbit, base.mbit)
	}
	return ""
}
