package observe

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func fetch(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics: %d %s", w.Code, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != "text/plain; version=0.0.4" {
		t.Errorf("content type %q", got)
	}
	return w.Body.String()
}

// ours returns a page's lines without those about the Go runtime, which are never
// the same.
func ours(page string) string {
	var lines strings.Builder
	for line := range strings.Lines(page) {
		about := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		if !strings.HasPrefix(about, "go_") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// golden compares what is ours on a page with the file that shows it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = ours(got)
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}

func channel(kind spiceproto.ChannelType, mode pacer.Mode) session.ChannelInfo {
	return session.ChannelInfo{Type: kind, Mode: mode, Stats: new(session.Stats)}
}

// display is a channel with every figure a multiple of n.
func display(mode pacer.Mode, n int64) session.ChannelInfo {
	c := channel(spiceproto.ChannelDisplay, mode)
	s := c.Stats
	s.BytesToClient.Store(uint64(n * 1000))
	s.BytesToServer.Store(uint64(n * 10))
	s.QueueBytes.Store(n * 100)
	s.BudgetBytes.Store(n * 50_000)
	s.RateBytes.Store(n * 1_250_000)
	s.MinRTT.Store(n * int64(80*time.Millisecond))
	for range n {
		s.AddHold(20 * time.Millisecond)
	}
	s.Sweeps.Store(uint64(n * 3))
	s.Replaced.Store(uint64(n * 7))
	s.ReplacedBytes.Store(uint64(n * 7000))
	s.Overtook.Store(uint64(n * 5))
	return c
}

func TestEmptyPage(t *testing.T) { golden(t, "empty.prom", fetch(t, New())) }

func TestPage(t *testing.T) {
	m := New()
	for range 3 {
		m.ConnectionStarted()
		m.ChannelAuthorized()
	}
	m.ConnectionEnded()
	m.Connection(0, session.TLSFailed)
	m.Connection(spiceproto.ChannelMain, session.Denied)
	m.Connection(spiceproto.ChannelMain, session.Relayed)
	for range 3 {
		m.Connection(spiceproto.ChannelDisplay, session.Relayed)
	}
	m.Connection(spiceproto.ChannelUSBRedir, session.BackendFailed)
	main := channel(spiceproto.ChannelMain, pacer.Passthrough)
	main.Stats.BytesToClient.Store(12_345_678)
	main.Stats.BytesToServer.Store(200)
	fresh := channel(spiceproto.ChannelDisplay, pacer.Adaptive) // no estimate yet
	for _, c := range []session.ChannelInfo{
		main, fresh, display(pacer.Adaptive, 1), display(pacer.Adaptive, 3), channel(spiceproto.ChannelDisplay, pacer.Passthrough),
	} {
		m.ChannelStarted(c)
	}
	golden(t, "page.prom", fetch(t, m))
}

func TestRuntimeOnThePage(t *testing.T) {
	page := fetch(t, New())
	for _, name := range []string{"go_goroutines", "go_memstats_heap_inuse_bytes"} {
		if !regexp.MustCompile(`(?m)^` + name + ` [1-9][0-9]*$`).MatchString(page) {
			t.Errorf("the page does not show %s", name)
		}
	}
}

// TestFirewallOnThePage has one channel that is kept to the rules, and one that
// ended but was only warned of.
func TestFirewallOnThePage(t *testing.T) {
	m := New()
	for mode, kind := range map[firewall.Mode]spiceproto.ChannelType{
		firewall.Enforce: spiceproto.ChannelInputs, firewall.WarnOnly: spiceproto.ChannelCursor,
	} {
		cfg := firewall.DefaultConfig()
		cfg.Mode = mode
		guard := firewall.New(cfg, spiceproto.MachineConfig{Channel: kind}, zap.NewNop())
		c := channel(kind, pacer.Passthrough)
		c.Stats.Firewall = guard.Tally()
		m.ChannelStarted(c)
		tooLarge := spiceproto.Header{Type: 300, Size: 4097}
		for range 2 {
			guard.Header(spiceproto.ClientToServer, tooLarge)
			guard.Head(spiceproto.ClientToServer, tooLarge, make([]byte, spiceproto.HeadSize))
		}
		if mode == firewall.WarnOnly {
			m.ChannelEnded(c)
		}
	}
	var lines []string
	for line := range strings.Lines(fetch(t, m)) {
		if strings.Contains(line, "firewall") || strings.Contains(line, "findings") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{
		`# HELP kerbside_proxy_firewall_verdicts_total Messages that the firewall objected to, by rule and by what became of them: enforced (the channel ended) or observed (let through).`,
		`# TYPE kerbside_proxy_firewall_verdicts_total counter`,
		`kerbside_proxy_firewall_verdicts_total{action="observed",channel="cursor",direction="client_to_server",rule="disallowed_type"} 2`,
		`kerbside_proxy_firewall_verdicts_total{action="observed",channel="cursor",direction="client_to_server",rule="size_cap"} 2`,
		`kerbside_proxy_firewall_verdicts_total{action="enforced",channel="inputs",direction="client_to_server",rule="size_cap"} 2`,
		`# HELP spicepacer_protocol_findings_total Messages that the protocol does not admit where they stood, by the rule they break.`,
		`# TYPE spicepacer_protocol_findings_total counter`,
		`spicepacer_protocol_findings_total{channel="cursor",direction="client_to_server",rule="unknown-opcode"} 2`,
		`spicepacer_protocol_findings_total{channel="inputs",direction="client_to_server",rule="unknown-opcode"} 2`,
	}
	slices.Sort(lines)
	slices.Sort(want)
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// TestTruncatedMessagesOnThePage has one that ended and one that is about to.
func TestTruncatedMessagesOnThePage(t *testing.T) {
	m := New()
	for _, kind := range []spiceproto.ChannelType{spiceproto.ChannelMain, spiceproto.ChannelInputs} {
		c := channel(kind, pacer.Passthrough)
		m.ChannelStarted(c)
		c.Stats.Truncated[spiceproto.ClientToServer].Add(1)
		if kind == spiceproto.ChannelMain {
			m.ChannelEnded(c)
		}
	}
	var lines []string
	for line := range strings.Lines(fetch(t, m)) {
		if strings.HasPrefix(line, "spicepacer_truncated") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{
		`spicepacer_truncated_messages_total{channel="inputs",direction="client_to_server"} 1`,
		`spicepacer_truncated_messages_total{channel="main",direction="client_to_server"} 1`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// TestTotalsNeverFall ends channels between scrapes.
func TestTotalsNeverFall(t *testing.T) {
	m := New()
	a, b := display(pacer.Withhold, 1), display(pacer.Withhold, 2)
	m.ChannelStarted(a)
	m.ChannelStarted(b)
	before := totalsOf(fetch(t, m))
	m.ChannelEnded(a)
	if diff := cmp.Diff(before, totalsOf(fetch(t, m))); diff != "" {
		t.Errorf("one channel's end changes totals:\n%s", diff)
	}
	m.ChannelEnded(b)
	after := fetch(t, m)
	if diff := cmp.Diff(before, totalsOf(after)); diff != "" {
		t.Errorf("the last channel's end changes totals:\n%s", diff)
	}
	for _, line := range []string{
		`spicepacer_display_channels{mode="withhold"} 0`,
		`spicepacer_display_queue_bytes{mode="withhold"} 0`,
		`spicepacer_display_sweeps_total{mode="withhold"} 9`,
		`spicepacer_display_acks_held_total{mode="withhold"} 3`,
		`spicepacer_connections_active{channel="display"} 0`,
		`spicepacer_bytes_total{channel="display",direction="server_to_client"} 3000`,
	} {
		if !strings.Contains(after, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(after, "spicepacer_display_min_rtt_seconds{") {
		t.Error("a mean over no channels is shown")
	}
}

// totalsOf returns the lines of counters.
func totalsOf(page string) []string {
	var lines []string
	for line := range strings.Lines(page) {
		if name, _, _ := strings.Cut(line, "{"); strings.HasSuffix(name, "_total") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestOtherPathsAreNotFound(t *testing.T) {
	for method, path := range map[string]string{http.MethodGet: "/", http.MethodPost: "/metrics"} {
		w := httptest.NewRecorder()
		New().Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != http.StatusNotFound || w.Body.Len() > 0 {
			t.Errorf("%s %s: %d %q", method, path, w.Code, w.Body)
		}
	}
}
