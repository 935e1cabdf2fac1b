package load

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"spicepacer/cmd/spicebench/process"
	"spicepacer/session"
	"spicepacer/session/authz"
)

func buildProxy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kerbside-proxy")
	if out, err := exec.Command("go", "build", "-o", path, "spicepacer/cmd/kerbside-proxy").CombinedOutput(); err != nil {
		t.Fatalf("build the proxy: %v\n%s", err, out)
	}
	return path
}

// The whole way with few sessions. What must hold on any machine, run itself
// checks: that all connections end as they should and nothing is left behind.
func TestRun(t *testing.T) {
	running := goleak.IgnoreCurrent()
	defer func() { goleak.VerifyNone(t, running) }()
	proxy := buildProxy(t)
	// How much memory is resident is a matter of the runtime here: hence the
	// tolerance.
	for _, flags := range []string{"--hypervisor-tls --mode adaptive", "--hypervisor-tls=false --mode passthrough"} {
		out := filepath.Join(t.TempDir(), "out.jsonl")
		o, err := parseFlags(append(strings.Fields(flags), "--proxy", proxy, "--out", out,
			"--sessions", "60", "--idle", "500ms", "--rate", "40", "--churn", "3s", "--warm-up", "500ms", "--tolerance", "10"))
		if err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), o); err != nil {
			t.Errorf("%s: %v", flags, err)
		}
		line, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		wantPlausible(t, r)
	}
}

func wantPlausible(t *testing.T, r Result) {
	t.Helper()
	goroutines := map[string]float64{"main": 2, "display": 2, "inputs": 2, "cursor": 2, "playback": 2}
	if r.Mode == "adaptive" {
		goroutines["display"] = 4
	}
	if len(r.Kinds) != len(goroutines) {
		t.Errorf("%d kinds of channels", len(r.Kinds))
	}
	for _, k := range r.Kinds {
		if k.Goroutines != goroutines[k.Channel] {
			t.Errorf("%s channels have %v goroutines each in %s mode, want %v", k.Channel, k.Goroutines, r.Mode, goroutines[k.Channel])
		}
	}
	connects := 0
	for _, s := range r.Churn.Stages {
		connects += s.Connects
		if tenth := r.Churn.Connects / len(course); s.Name != stageNone.String() && s.Connects != tenth {
			t.Errorf("%d of %d connections failed: %s; want %d", s.Connects, r.Churn.Connects, s.Name, tenth)
		}
	}
	if connects != 120 || r.Churn.Connects != 120 || r.Churn.Reached <= 0 || r.Churn.UpP99 < r.Churn.UpP50 || r.Idle.After.RSS <= 0 {
		t.Errorf("implausible result %+v", r)
	}
	var report bytes.Buffer
	writeReport(&report, r)
	for _, want := range []string{"60 sessions of 5 channels", "| wrong token | 12 | 0 |", "| channels lost | 0 |"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report does not tell %q:\n%s", want, report.String())
		}
	}
}

// A server in this process, whose goroutines goleak knows by name.
func TestChurnLeavesNoGoroutine(t *testing.T) {
	running := goleak.IgnoreCurrent()
	defer func() { goleak.VerifyNone(t, running) }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	v, served := serveHere(t, ctx)
	c := &churn{viewers: v, rate: 50}
	came, err := c.run(t.Context(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for s, n := range came.odd {
		t.Errorf("%d of %d connections went otherwise (%v): %v", n, came.planned[s], s, came.errs)
	}
	if len(came.planned) != len(stages) || came.connects != 100 {
		t.Errorf("%d connections failed as %v", came.connects, came.planned)
	}
	stop()
	for range 2 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// serveHere runs a server and its hypervisors until ctx ends; then each sends what
// came of it.
func serveHere(t *testing.T, ctx context.Context) (viewers, <-chan error) {
	t.Helper()
	secure, trust, err := certificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h, err := listenHypervisors(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	var entries []authz.Entry
	for token, port := range map[string]int{tokenServed: h.served.port(), tokenFailing: h.failing.port(), tokenDead: h.dead.port} {
		entries = append(entries, authz.Entry{Token: authz.Secret(token), Target: authz.Target{
			Name: token, Hypervisor: "127.0.0.1", InsecurePort: uint16(port), Ticket: ticket,
		}})
	}
	static, err := authz.NewStatic(entries)
	if err != nil {
		t.Fatal(err)
	}
	cfg := session.DefaultConfig()
	cfg.Address = netip.MustParseAddr("127.0.0.1")
	cfg.Certificate = secure.Certificates[0]
	if cfg.SecurePort, err = process.FreePort(); err != nil {
		t.Fatal(err)
	}
	server, err := session.New(cfg, session.Deps{Authorizer: static})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 2)
	go func() { served <- h.serve(ctx) }()
	go func() { served <- server.Serve(ctx) }()
	v := viewers{net.JoinHostPort("127.0.0.1", strconv.Itoa(cfg.SecurePort)), trust}
	for {
		conn, err := v.secure(ctx, 0)
		if err == nil {
			conn.Close()
			return v, served
		}
		if !sleepUntil(ctx, time.Now().Add(samplePause)) {
			t.Fatal(err)
		}
	}
}

func TestParseFlags(t *testing.T) {
	o, err := parseFlags(strings.Fields("--sessions 7 --idle 2s --rate 3.5 --churn 4s --warm-up 0 --recovery 5s --mode withhold --hypervisor-tls=false --out x --proxy y"))
	if err != nil {
		t.Fatal(err)
	}
	want := options{sessions: 7, idle: 2 * time.Second, rate: 3.5, churn: 4 * time.Second, recovery: 5 * time.Second,
		tolerance: 0.1, mode: "withhold", out: "x", proxy: "y"}
	if o != want {
		t.Errorf("flags are read as %+v, want %+v", o, want)
	}
	for _, bad := range []string{"extra", "--sessions -1", "--tolerance -1", "--sessions 5001", "--rate 0", "--rate 2001", "--churn 2h", "--idle -1s", "--mode x", "--none-such"} {
		if _, err := parseFlags(strings.Fields(bad)); err == nil {
			t.Errorf("%q is no error", bad)
		}
	}
}

// A result says what was left behind.
func TestWrong(t *testing.T) {
	start := Sample{FDs: 10, Goroutines: 12}
	up := Sample{FDs: 20, Goroutines: 22, Channels: 5}
	right := Result{Sessions: 1, Start: start, End: start,
		Idle:  Idle{Before: up, After: up},
		Churn: Churn{Before: up, After: up, Stages: []Stage{{Name: "x", Connects: 3}}}}
	if err := right.wrong(); err != nil {
		t.Errorf("nothing is wrong but: %v", err)
	}
	for want, change := range map[string]func(*Result){
		"idle channels were lost":             func(r *Result) { r.Idle.Lost = 1 },
		"idle channels changed":               func(r *Result) { r.Idle.Before.Goroutines++ },
		"are relayed for":                     func(r *Result) { r.Sessions = 2 },
		"1 of 3 connections went otherwise":   func(r *Result) { r.Churn.Stages = []Stage{{Name: "x", Connects: 3, Unexpected: 1}} },
		"a churn left something behind":       func(r *Result) { r.Churn.After.FDs++ },
		"a churn cost memory":                 func(r *Result) { r.Churn.After.RSS, r.Churn.Before.RSS, r.Churn.Tolerance = 112, 100, 0.1 },
		"the sessions left something behind:": func(r *Result) { r.End.Goroutines++ },
	} {
		r := right
		change(&r)
		if err := r.wrong(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
