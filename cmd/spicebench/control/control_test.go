package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// patience is how long a test waits for what must happen; no expectation depends
// on its length.
const patience = time.Minute

// rig is a daemon with a client of its own.
type rig struct {
	*Daemon
	kerbsidepb.KerbsideProxyClient
	t   *testing.T
	ctx context.Context
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, running) })
	o := Options{
		Socket: filepath.Join(t.TempDir(), "api.sock"),
		Target: &kerbsidepb.Target{Hypervisor: "hv", SessionId: "s1"},
	}
	if change != nil {
		change(&o)
	}
	d, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	conn, err := grpc.NewClient("unix:"+o.Socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &rig{d, kerbsidepb.NewKerbsideProxyClient(conn), t, ctx}
}

func (r *rig) register(ref string) error {
	reply, err := r.RegisterChannel(r.ctx, &kerbsidepb.RegisterChannelRequest{Node: "n", ConnectionRef: ref}, grpc.WaitForReady(true))
	if err == nil && !reply.GetSuccess() {
		err = fmt.Errorf("not done: %s", reply.GetError())
	}
	return err
}

func (r *rig) authorize(ref, token string) *kerbsidepb.AuthorizeConnectionReply {
	r.t.Helper()
	reply, err := r.AuthorizeConnection(r.ctx, &kerbsidepb.AuthorizeConnectionRequest{ConnectionRef: ref, Token: token}, grpc.WaitForReady(true))
	if err != nil {
		r.t.Fatal(err)
	}
	return reply
}

func (r *rig) stream() grpc.ServerStreamingClient[kerbsidepb.ProxyControlEvent] {
	r.t.Helper()
	s, err := r.ProxyControl(r.ctx, &kerbsidepb.ProxyControlRequest{Node: "n"}, grpc.WaitForReady(true))
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// next is the stream's next event: "heartbeat", or a session to end.
func next(t *testing.T, s grpc.ServerStreamingClient[kerbsidepb.ProxyControlEvent]) string {
	t.Helper()
	e, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if e.GetHeartbeat() != nil {
		return "heartbeat"
	}
	return e.GetTerminateSession().GetSessionId()
}

func TestHealthyDaemon(t *testing.T) {
	policy := &kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{1}}
	r := newRig(t, func(o *Options) { o.Policy, o.DenyTokens = policy, []string{"bad"} })
	if err := r.register("a"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": ""}, r.Channels()); diff != "" {
		t.Error(diff)
	}
	want := &kerbsidepb.AuthorizeConnectionReply{
		Result:         &kerbsidepb.AuthorizeConnectionReply_Target{Target: &kerbsidepb.Target{Hypervisor: "hv", SessionId: "s1"}},
		FirewallPolicy: policy,
	}
	if diff := cmp.Diff(want, r.authorize("a", "good"), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	if err := r.register("a"); err != nil { // again, which changes nothing
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "s1"}, r.Channels()); diff != "" {
		t.Error(diff)
	}
	if got := r.authorize("b", "bad").GetDenied().GetReason(); got != "client token invalid" {
		t.Errorf("denied for %q", got)
	}
	if _, err := r.DeregisterChannel(r.ctx, &kerbsidepb.DeregisterChannelRequest{ConnectionRef: "a"}); err != nil {
		t.Fatal(err)
	}
	if left := r.Channels(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRules(t *testing.T) {
	r := newRig(t, nil)
	for _, tc := range []struct {
		rule Rule
		want string // in the first call's error; empty: none
	}{
		{Rule{}, ""},
		{Rule{Times: 1, Answer: Fail, Code: codes.NotFound, Text: "lost"}, "lost"},
		{Rule{Times: 1, Answer: Refuse, Text: "disk full"}, "not done: disk full"},
		{Rule{Times: 1, Answer: Empty}, "not done: "},
		{Rule{Times: 1, Delay: time.Millisecond}, ""},
	} {
		r.On("RegisterChannel", tc.rule)
		err := r.register("a")
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", tc.rule, err, tc.want)
		}
		if err := r.register("a"); err != nil {
			t.Errorf("%+v holds for more than one call: %v", tc.rule, err)
		}
	}
	r.On("AuthorizeConnection", Rule{Answer: Deny, Text: "no"})
	if got := r.authorize("a", "t").GetDenied().GetReason(); got != "no" {
		t.Errorf("denied for %q", got)
	}
	r.On("AuthorizeConnection", Rule{Answer: Empty})
	if got := r.authorize("a", "t").GetResult(); got != nil {
		t.Errorf("result %v", got)
	}
}

func TestHangAndDie(t *testing.T) {
	r := newRig(t, nil)
	r.On("RegisterChannel", Rule{Answer: Hang})
	ctx, cancel := context.WithCancel(r.ctx)
	go func() { r.Next(r.ctx); cancel() }()
	if _, err := r.RegisterChannel(ctx, &kerbsidepb.RegisterChannelRequest{}); status.Code(err) != codes.Canceled {
		t.Errorf("a call that hangs gives %v", err)
	}
	r.On("RegisterChannel", Rule{Times: 1, Answer: Die})
	if err := r.register("a"); status.Code(err) != codes.Unavailable {
		t.Errorf("a daemon that dies gives %v", err)
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := r.register("a"); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestUnknownMethodPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	new(Daemon).On("Register", Rule{})
}

func TestStreams(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Heartbeat = time.Hour })
	r.Terminate("before")
	s := r.stream()
	for _, want := range []string{"heartbeat", "before"} {
		if got := next(t, s); got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	}
	r.Terminate("s1")
	r.Terminate("s1") // once for each stream
	r.Terminate("s2")
	for _, want := range []string{"s1", "s2"} {
		if got := next(t, s); got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	}
	r.Stop()
	if _, err := s.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("after Stop: %v", err)
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	s = r.stream()
	for _, want := range []string{"heartbeat", "before", "s1", "s2"} {
		if got := next(t, s); got != want {
			t.Errorf("event %q, want %q", got, want)
		}
	}
}

func TestHeartbeats(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Heartbeat = time.Millisecond })
	s := r.stream()
	for range 3 {
		if got := next(t, s); got != "heartbeat" {
			t.Errorf("event %q", got)
		}
	}
}

func TestTerminateAfter(t *testing.T) {
	r := newRig(t, func(o *Options) { o.TerminateAfter, o.Heartbeat = time.Millisecond, time.Hour })
	s := r.stream()
	next(t, s)
	r.authorize("a", "t")
	if got := next(t, s); got != "s1" {
		t.Errorf("event %q, want the session's end", got)
	}
}

// lockedBuffer is a file that a test reads while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestRecord(t *testing.T) {
	var record lockedBuffer
	r := newRig(t, func(o *Options) { o.Record = &record })
	r.On("AuthorizeConnection", Rule{Answer: Deny})
	r.register("a")
	r.authorize("a", "hush")
	var lines []map[string]any
	for line := range strings.Lines(record.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse(time.RFC3339Nano, v["time"].(string)); err != nil {
			t.Error(err)
		}
		delete(v, "time")
		lines = append(lines, v)
	}
	want := []map[string]any{
		{"method": "RegisterChannel", "request": map[string]any{"node": "n", "connection_ref": "a"}, "answer": "usual"},
		{"method": "AuthorizeConnection", "request": map[string]any{"token": "(secret)", "connection_ref": "a"}, "answer": "deny"},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	first, err := r.Next(r.ctx)
	if err != nil || first.Method != "RegisterChannel" {
		t.Errorf("first call %v, %v", first, err)
	}
	second, err := r.Next(r.ctx)
	if a, ok := second.Request.(*kerbsidepb.AuthorizeConnectionRequest); err != nil || !ok || a.GetToken() != "hush" {
		t.Errorf("second call %v, %v; want the token for tests", second, err)
	}
}

func TestSocketOfAKilledDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if _, err := Start(Options{Socket: path}); err == nil {
		t.Error("took over a socket that is served")
	}
	l.Close()
	d, err := Start(Options{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	d.Stop()
}

func TestScript(t *testing.T) {
	r := newRig(t, nil)
	script := `
# a comment
on RegisterChannel times=2 delay=1ms fail=UNAVAILABLE the daemon is busy
on AuthorizeConnection deny  go away
terminate session 1
wait 1ms
forget
stop
start
`
	if err := r.play(r.ctx, "script", strings.NewReader(script)); err != nil {
		t.Fatal(err)
	}
	want := map[string]Rule{
		"RegisterChannel":     {Times: 2, Delay: time.Millisecond, Answer: Fail, Code: codes.Unavailable, Text: "the daemon is busy"},
		"AuthorizeConnection": {Answer: Deny, Text: "go away"},
	}
	if diff := cmp.Diff(want, r.rules); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(r.terminated, []string{"session 1"}) {
		t.Errorf("terminated %q", r.terminated)
	}
}

func TestWrongCommands(t *testing.T) {
	r := newRig(t, nil)
	for line, want := range map[string]string{
		"dance":                           `script:1: unknown command "dance"`,
		"terminate":                       "needs an argument",
		"stop now":                        "takes no argument",
		"wait long":                       "invalid duration",
		"on Nothing usual":                `"Nothing" is none of`,
		"on RegisterChannel":              "no answer",
		"on RegisterChannel loudly":       `unknown answer "loudly"`,
		"on RegisterChannel times=x hang": "invalid syntax",
		"on RegisterChannel delay=x hang": "invalid duration",
		"on RegisterChannel fail=OK":      "OK is no failure",
		"on RegisterChannel fail=SAD":     "SAD",
	} {
		if err := r.play(r.ctx, "script", strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := parseFlags([]string{
		"--socket", "/s", "--hypervisor", "hv", "--hypervisor-ip", "192.0.2.1", "--insecure-port", "1", "--secure-port", "2",
		"--ticket", "file:" + file("ticket", "t\n"), "--ca-cert", file("ca", "pem\n"), "--host-subject", "CN=x",
		"--source", "src", "--uuid", "u", "--session-id", "s", "--firewall-mode", "warn", "--permitted-channels", "main,usbredir",
		"--deny-token", "a", "--deny-token", "b", "--terminate-after", "3s", "--script", "script",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := flags{script: "script", options: Options{
		Socket: "/s",
		Target: &kerbsidepb.Target{
			Hypervisor: "hv", HypervisorIp: "192.0.2.1", InsecurePort: 1, SecurePort: 2, Ticket: "t", CaCert: "pem\n",
			HostSubject: "CN=x", Source: "src", Uuid: "u", SessionId: "s",
		},
		Policy:     &kerbsidepb.FirewallPolicy{Mode: kerbsidepb.FirewallPolicy_WARN_ONLY, PermittedChannels: []uint32{1, 9}},
		DenyTokens: []string{"a", "b"}, Heartbeat: defaultHeartbeat, TerminateAfter: 3 * time.Second, Record: io.Discard,
	}}
	if diff := cmp.Diff(want, f, protocmp.Transform(), cmp.AllowUnexported(flags{}), cmp.Comparer(func(a, b io.Writer) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if f, err = parseFlags([]string{"--socket", "/s"}, nil); err != nil || f.options.Policy != nil {
		t.Errorf("policy %v, %v; want none", f.options.Policy, err)
	}
}

func TestWrongFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"--socket is needed":        {},
		"unexpected argument":       {"--socket", "/s", "now"},
		"--heartbeat 0s":            {"--socket", "/s", "--heartbeat", "0s"},
		"neither enforce nor warn":  {"--socket", "/s", "--firewall-mode", "off"},
		`unknown channel type "x"`:  {"--socket", "/s", "--permitted-channels", "x"},
		"--ca-cert: open /no/such":  {"--socket", "/s", "--ca-cert", "/no/such"},
		"--ticket: open /no/such":   {"--socket", "/s", "--ticket", "file:/no/such"},
		"--record: open /no/such/x": {"--socket", "/s", "--record", "/no/such/x"},
	} {
		if _, err := parseFlags(args, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	script, record := filepath.Join(dir, "script"), filepath.Join(dir, "record")
	if err := os.WriteFile(script, []byte("terminate s1"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parseFlags([]string{"--socket", filepath.Join(dir, "api.sock"), "--script", script, "--record", record}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), f, strings.NewReader("dance\n")); err == nil || !strings.Contains(err.Error(), "standard input:1") {
		t.Errorf("a wrong command: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	commands, write := io.Pipe()
	done := make(chan error)
	go func() { done <- run(ctx, f, commands) }()
	write.Write([]byte("forget\n"))
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run: %v", err)
	}
	write.Close()
}
