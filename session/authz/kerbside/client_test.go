package kerbside

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside/kerbsidepb"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

func TestCallsSayWhatTheContractDoes(t *testing.T) {
	p := newPlane(t, nil)
	target := authz.Target{Source: "src", UUID: "console", SessionID: "s1"}
	_, authorized := p.Authorize(p.ctx, request(testToken))
	for method, err := range map[string]error{
		"ClearNodeChannels":   p.ClearNodeChannels(p.ctx),
		"RegisterChannel":     p.Register(p.ctx, display),
		"AuthorizeConnection": authorized,
		"RecordAuditEvent":    p.Audit(p.ctx, display, target, "text"),
		"DeregisterChannel":   p.Deregister(p.ctx, display),
	} {
		if err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	p.want("AuthorizeConnection", &kerbsidepb.AuthorizeConnectionRequest{
		Token: testToken, ConnectionRef: "ref1", ClientIp: "192.0.2.7", ClientPort: 40000, ConnectionId: 77, ChannelType: "display", ChannelId: 1,
	})
	p.want("ClearNodeChannels", &kerbsidepb.ClearNodeChannelsRequest{Node: "node1"})
	p.want("RegisterChannel", &kerbsidepb.RegisterChannelRequest{
		Node: "node1", ConnectionRef: "ref1", ClientIp: "192.0.2.7", ClientPort: 40000, ConnectionId: 77, ChannelType: "display", ChannelId: 1,
	})
	p.want("RecordAuditEvent", &kerbsidepb.AuditEventRequest{
		Source: "src", Uuid: "console", SessionId: "s1", Channel: "display", Node: "node1", ConnectionRef: "ref1", Message: "text",
	})
	p.want("DeregisterChannel", &kerbsidepb.DeregisterChannelRequest{Node: "node1", ConnectionRef: "ref1"})
}

func TestClientAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[2001:db8::1]:1": "2001:db8::1", "[fe80::1%eth0]:1": "fe80::1",
	} {
		if got := clientIP(authz.Channel{Client: netip.MustParseAddrPort(address)}); got != want {
			t.Errorf("%s is told as %q, want %q", address, got, want)
		}
	}
	if got := clientIP(authz.Channel{}); got != "" {
		t.Errorf("no address is told as %q", got)
	}
}

func TestTargets(t *testing.T) {
	for name, tc := range map[string]struct {
		reply *kerbsidepb.Target
		want  authz.Target
	}{
		"everything": {
			&kerbsidepb.Target{
				Hypervisor: "hv", HypervisorIp: "192.0.2.1", InsecurePort: 5900, SecurePort: 65535, Ticket: "t",
				CaCert: "pem", HostSubject: "CN=x", Source: "src", Uuid: "u", SessionId: "s",
			},
			authz.Target{
				Name: "hv", Hypervisor: "192.0.2.1", InsecurePort: 5900, SecurePort: 65535, Ticket: "t",
				CACert: "pem", HostSubject: "CN=x", Source: "src", UUID: "u", SessionID: "s",
			},
		},
		"no address": {
			&kerbsidepb.Target{Hypervisor: "hv", SecurePort: 1},
			authz.Target{Name: "hv", Hypervisor: "hv", SecurePort: 1},
		},
		"unix socket": {
			&kerbsidepb.Target{Hypervisor: "unix:/run/vm.sock"},
			authz.Target{Name: "unix:/run/vm.sock", Hypervisor: "unix:/run/vm.sock"},
		},
		"unix socket with an address": {
			&kerbsidepb.Target{Hypervisor: "unix:/run/vm.sock", HypervisorIp: "192.0.2.1", InsecurePort: 1},
			authz.Target{Name: "unix:/run/vm.sock", Hypervisor: "unix:/run/vm.sock", InsecurePort: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t, func(o *control.Options) { o.Target = tc.reply })
			got, err := p.Authorize(p.ctx, request(testToken))
			tc.want.Firewall = firewall.Enforce // as no policy says otherwise
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("err %v; -want +got:\n%s", err, diff)
			}
		})
	}
}

func TestPortsThatAreNone(t *testing.T) {
	for _, target := range []*kerbsidepb.Target{{InsecurePort: 65536}, {SecurePort: 70000}} {
		p := newPlane(t, func(o *control.Options) { o.Target = target })
		if _, err := p.Authorize(p.ctx, request(testToken)); !errors.Is(err, ErrReply) {
			t.Errorf("%v: err %v, want %v", target, err, ErrReply)
		}
	}
}

func TestDenials(t *testing.T) {
	p := newPlane(t, func(o *control.Options) { o.DenyTokens = []string{"bad"} })
	for _, tc := range []struct {
		token authz.Secret
		rule  control.Rule
		want  string
	}{
		{"bad", control.Rule{}, "client token invalid"},
		{"good", control.Rule{Answer: control.Deny, Text: "source invalid"}, "source invalid"},
		{"hush", control.Rule{Answer: control.Deny, Text: "token hush is unknown"}, "token (secret) is unknown"},
		{"", control.Rule{Answer: control.Deny, Text: "no token"}, "no token"},
	} {
		p.daemon.On("AuthorizeConnection", tc.rule)
		target, err := p.Authorize(p.ctx, request(tc.token))
		denied, ok := errors.AsType[*authz.Denied](err)
		if !ok || denied.Reason != tc.want || target != (authz.Target{}) {
			t.Errorf("got %+v, %v; want the denial %q", target, err, tc.want)
		}
	}
}

func TestPolicy(t *testing.T) {
	main, other := uint32(spiceproto.ChannelMain), uint32(spiceproto.ChannelUSBRedir)
	for name, tc := range map[string]struct {
		policy *kerbsidepb.FirewallPolicy
		want   bool
	}{
		"none":                    {nil, true},
		"empty":                   {&kerbsidepb.FirewallPolicy{}, true},
		"permitted":               {&kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{main, uint32(display.Type)}}, true},
		"not permitted":           {&kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{main, other}}, false},
		"not softened by warning": {&kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{other}, Mode: kerbsidepb.FirewallPolicy_WARN_ONLY}, false},
		"unknown mode enforces":   {&kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{other}, Mode: 7}, false},
		"no channel type at all":  {&kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{0, 12, 1 << 31}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t, func(o *control.Options) { o.Policy = tc.policy })
			_, err := p.Authorize(p.ctx, request(testToken))
			p.want("AuthorizeConnection", nil)
			if tc.want {
				if err != nil || len(p.daemon.Calls()) != 1 {
					t.Errorf("err %v, calls %v", err, p.daemon.Calls())
				}
				return
			}
			if _, denied := errors.AsType[*authz.Denied](err); !denied {
				t.Errorf("err %v, want a denial", err)
			}
			p.want("RecordAuditEvent", &kerbsidepb.AuditEventRequest{
				Source: "src", Uuid: "console", SessionId: "s1", Channel: "display", Node: "node1", ConnectionRef: "ref1",
				Message: "Channel type not permitted by firewall policy",
			})
		})
	}
}

func TestPolicyMode(t *testing.T) {
	for name, tc := range map[string]struct {
		policy *kerbsidepb.FirewallPolicy
		want   firewall.Mode
	}{
		"none":         {nil, firewall.Enforce},
		"empty":        {&kerbsidepb.FirewallPolicy{}, firewall.Enforce},
		"warn only":    {&kerbsidepb.FirewallPolicy{Mode: kerbsidepb.FirewallPolicy_WARN_ONLY}, firewall.WarnOnly},
		"unknown mode": {&kerbsidepb.FirewallPolicy{Mode: 7}, firewall.Enforce},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlane(t, func(o *control.Options) { o.Policy = tc.policy })
			target, err := p.Authorize(p.ctx, request(testToken))
			if err != nil || target.Firewall != tc.want {
				t.Errorf("mode %d, err %v, want %d", target.Firewall, err, tc.want)
			}
		})
	}
}

func TestPolicyHoldsWithoutItsAudit(t *testing.T) {
	p := newPlane(t, func(o *control.Options) {
		o.Policy = &kerbsidepb.FirewallPolicy{PermittedChannels: []uint32{1}}
	})
	p.daemon.On("RecordAuditEvent", control.Rule{Answer: control.Refuse, Text: "disk full"})
	_, err := p.Authorize(p.ctx, request(testToken))
	if _, denied := errors.AsType[*authz.Denied](err); !denied {
		t.Errorf("err %v, want a denial", err)
	}
	if n := p.logs.FilterMessage("RecordAuditEvent failed; continuing").Len(); n != 1 {
		t.Errorf("%d lines about the audit, want 1: %v", n, p.logs.All())
	}
}

// calls are all that have one reply.
func (p *plane) callsByMethod() map[string]func() error {
	return map[string]func() error{
		"AuthorizeConnection": func() error { _, err := p.Authorize(p.ctx, request(testToken)); return err },
		"RegisterChannel":     func() error { return p.Register(p.ctx, display) },
		"RecordAuditEvent":    func() error { return p.Audit(p.ctx, display, authz.Target{}, "text") },
		"DeregisterChannel":   func() error { return p.Deregister(p.ctx, display) },
		"ClearNodeChannels":   func() error { return p.ClearNodeChannels(p.ctx) },
	}
}

// wantFailure expects a *CallError that names method and carries code.
func wantFailure(t *testing.T, method string, err error, code codes.Code, text string) {
	t.Helper()
	call, ok := errors.AsType[*CallError](err)
	if !ok || call.Method != method || status.Code(err) != code || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v; want %v and %q", method, err, code, text)
	}
	if err != nil && (!strings.HasPrefix(err.Error(), method+" on unix:/") || strings.Contains(err.Error(), testToken)) {
		t.Errorf("%s: error %q; want call and socket, and no token", method, err)
	}
}

func TestEveryCallFails(t *testing.T) {
	for name, tc := range map[string]struct {
		rule control.Rule
		code codes.Code
		text string
	}{
		"status":             {control.Rule{Answer: control.Fail, Code: codes.Internal, Text: "see server logs"}, codes.Internal, "see server logs"},
		"status with secret": {control.Rule{Answer: control.Fail, Code: codes.Internal, Text: "with " + testToken}, codes.Internal, "with "},
		"hangs":              {control.Rule{Answer: control.Hang}, codes.DeadlineExceeded, "DeadlineExceeded"},
		"dies":               {control.Rule{Answer: control.Die}, codes.Unavailable, "Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			for method := range new(plane).callsByMethod() {
				if name == "status with secret" && method != "AuthorizeConnection" {
					continue // only this one knows a secret
				}
				p := newPlane(t, nil)
				if tc.rule.Answer == control.Hang {
					p.cfg.Timeout = soon
				}
				p.daemon.On(method, tc.rule)
				wantFailure(t, method, p.callsByMethod()[method](), tc.code, tc.text)
			}
		})
	}
}

func TestRefusedCalls(t *testing.T) {
	p := newPlane(t, nil)
	for method, call := range p.callsByMethod() {
		p.daemon.On(method, control.Rule{Answer: control.Refuse, Text: "disk full"})
		if method == "AuthorizeConnection" {
			p.daemon.On(method, control.Rule{Answer: control.Empty})
			err := call()
			wantFailure(t, method, err, codes.Unknown, "neither a target nor a denial")
			if !errors.Is(err, ErrReply) {
				t.Errorf("%s: %v, want %v", method, err, ErrReply)
			}
			continue
		}
		err := call()
		wantFailure(t, method, err, codes.Unknown, "disk full")
		if !errors.Is(err, ErrNotDone) {
			t.Errorf("%s: %v, want %v", method, err, ErrNotDone)
		}
	}
}

func TestNoDaemon(t *testing.T) {
	p := newClient(t, Config{Socket: filepath.Join(t.TempDir(), "api.sock"), Node: "n", Timeout: patience})
	for method, call := range p.callsByMethod() {
		wantFailure(t, method, call(), codes.Unavailable, "no such file")
	}
}

// TestMuteDaemon has a daemon that accepts connections and says nothing at all.
func TestMuteDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	p := newClient(t, Config{Socket: path, Node: "n", Timeout: soon})
	done := make(chan bool)
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(io.Discard, c); c.Close() }()
		}
	}()
	for method, call := range p.callsByMethod() {
		err := call()
		if code := status.Code(err); code != codes.DeadlineExceeded && code != codes.Unavailable {
			t.Errorf("%s: %v", method, err)
		}
	}
	l.Close()
	<-done
}

func TestCallsEndWithTheirContext(t *testing.T) {
	p := newPlane(t, nil)
	p.daemon.On("AuthorizeConnection", control.Rule{Answer: control.Hang})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { p.daemon.Next(p.ctx); cancel() }()
	if _, err := p.Authorize(ctx, request(testToken)); status.Code(err) != codes.Canceled {
		t.Errorf("err %v, want it cancelled", err)
	}
}

func TestDaemonThatComesBack(t *testing.T) {
	p := newPlane(t, nil)
	if err := p.ClearNodeChannels(p.ctx); err != nil {
		t.Fatal(err)
	}
	p.daemon.Stop()
	wantFailure(t, "ClearNodeChannels", p.ClearNodeChannels(p.ctx), codes.Unavailable, "")
	if err := p.daemon.Restart(); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); ; {
		err := p.ClearNodeChannels(p.ctx)
		if err == nil {
			break
		}
		if time.Since(start) > patience {
			t.Fatalf("still: %v", err)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{Socket: "/s", Node: "n", Timeout: 1}
	for name, change := range map[string]func(*Config){
		"socket":  func(c *Config) { c.Socket = "" },
		"node":    func(c *Config) { c.Node = "" },
		"timeout": func(c *Config) { c.Timeout = 0 },
	} {
		cfg := good
		change(&cfg)
		if c, err := New(cfg, nil); err == nil {
			c.Close()
			t.Errorf("no %s accepted", name)
		}
	}
}
