package kerbside

import (
	"context"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside/kerbsidepb"
	"spicepacer/spiceproto"
)

const (
	testToken = "open sesame"
	// patience is how long a test waits for what must happen; no expectation
	// depends on its length.
	patience = time.Minute
	// soon is a limit for what never happens.
	soon = 50 * time.Millisecond
)

// plane is a Client and the daemon it asks, over a real socket.
type plane struct {
	*Client
	t      *testing.T
	daemon *control.Daemon
	logs   *observer.ObservedLogs
	ctx    context.Context
}

// newPlane starts both; the test's end stops them, after which nothing runs.
func newPlane(t *testing.T, change func(*control.Options)) *plane {
	t.Helper()
	options := control.Options{
		Socket: filepath.Join(t.TempDir(), "api.sock"),
		Target: &kerbsidepb.Target{
			Hypervisor: "hv", InsecurePort: 5930, Ticket: "hypervisor's own", Source: "src", Uuid: "console", SessionId: "s1",
		},
	}
	if change != nil {
		change(&options)
	}
	p := newClient(t, Config{Socket: options.Socket, Node: "node1", Timeout: patience})
	var err error
	if p.daemon, err = control.Start(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.daemon.Stop)
	return p
}

// newClient makes a Client that has no daemon yet.
func newClient(t *testing.T, cfg Config) *plane {
	t.Helper()
	running := goleak.IgnoreCurrent()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	core, logs := observer.New(zap.DebugLevel)
	c, err := New(cfg, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	c.shortestPause, c.longestPause = time.Millisecond, 10*time.Millisecond
	t.Cleanup(func() { goleak.VerifyNone(t, running) })
	t.Cleanup(func() { cancel(); c.Close() })
	return &plane{Client: c, t: t, logs: logs, ctx: ctx}
}

// want expects the next call that the daemon gets.
func (p *plane) want(method string, request proto.Message) {
	p.t.Helper()
	call, err := p.daemon.Next(p.ctx)
	if err != nil {
		p.t.Fatalf("no call, want %s: %v", method, err)
	}
	if call.Method != method {
		p.t.Errorf("call of %s, want %s", call.Method, method)
		return
	}
	if diff := cmp.Diff(request, call.Request, protocmp.Transform()); request != nil && diff != "" {
		p.t.Errorf("%s (-want +got):\n%s", method, diff)
	}
}

// until waits for the daemon's state.
func (p *plane) until(what string, done func() bool) {
	p.t.Helper()
	if err := p.daemon.Until(p.ctx, done); err != nil {
		p.t.Fatalf("not within %v: %s", patience, what)
	}
}

var display = authz.Channel{
	Ref: "ref1", Client: netip.MustParseAddrPort("192.0.2.7:40000"), ConnectionID: 77, Type: spiceproto.ChannelDisplay, ID: 1,
}

func request(token authz.Secret) authz.Request { return authz.Request{Channel: display, Token: token} }
