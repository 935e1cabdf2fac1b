package session

import (
	"fmt"
	"io"
	"net"
	"testing"

	"go.uber.org/zap"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside/kerbsidepb"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// startGuarded is a proxy whose daemon gives policy, nil for none, and whose
// settings are the default ones, changed.
func startGuarded(t *testing.T, h *hypervisor, policy *kerbsidepb.FirewallPolicy, change func(*Firewall)) *controlled {
	t.Helper()
	return startControlled(t, h.target(), patience, func(o *control.Options) { o.Policy = policy }, func(s *Server) {
		s.cfg.Firewall = DefaultConfig().Firewall
		if change != nil {
			change(&s.cfg.Firewall)
		}
	})
}

var warnOnly = &kerbsidepb.FirewallPolicy{Mode: kerbsidepb.FirewallPolicy_WARN_ONLY}

// recordInputs tells what a hypervisor gets on a channel, once that ends.
func recordInputs(h *hypervisor) (received chan string) {
	received = make(chan string, 10)
	h.then = func(c net.Conn) {
		b, _ := io.ReadAll(c)
		received <- string(b)
	}
	return received
}

// One event in the console's log, after the relay and before the channel's end,
// tells what the firewall did.
func TestFirewallPolicies(t *testing.T) {
	ok := opaque(spiceproto.MsgcInputsKeyScancode, 8)
	large, nobodys := opaque(spiceproto.MsgcInputsKeyScancode, 4097), opaque(250, 3)
	for name, tc := range map[string]struct {
		policy *kerbsidepb.FirewallPolicy
		change func(*Firewall)
		pass   string // what the hypervisor gets
		audit  string // empty: no event
	}{
		"no policy enforces": {
			nil, nil, string(ok), "Firewall verdicts this connection: size_cap (enforced=1, observed=0)",
		},
		"enforce": {
			&kerbsidepb.FirewallPolicy{}, nil, string(ok), "Firewall verdicts this connection: size_cap (enforced=1, observed=0)",
		},
		"warn only": {
			warnOnly, nil, string(ok) + string(large) + string(nobodys),
			"Firewall verdicts this connection: disallowed_type (enforced=0, observed=1), size_cap (enforced=0, observed=1)",
		},
		"settings are stronger": {
			warnOnly, func(f *Firewall) { f.Mode = firewall.Enforce },
			string(ok), "Firewall verdicts this connection: size_cap (enforced=1, observed=0)",
		},
		"off": {
			nil, func(f *Firewall) { f.Mode = firewall.Off }, string(ok) + string(large) + string(nobodys), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHypervisor(t)
			received := recordInputs(h)
			c := startGuarded(t, h, tc.policy, tc.change)
			p := c.openSession(spiceproto.ChannelInputs)[0]
			for _, m := range [][]byte{ok, large, nobodys} {
				p.Write(m) // it may be gone by then
			}
			p.Conn.(interface{ CloseWrite() error }).CloseWrite()
			if got := await(t, received, "hypervisor's end"); got != tc.pass {
				t.Errorf("the hypervisor got %d bytes, want %d", len(got), len(tc.pass))
			}
			sequence := []string{"RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful"}
			if tc.audit != "" {
				sequence = append(sequence, tc.audit)
			}
			c.wantSequence(append(sequence, "DeregisterChannel")...)
			if info := await(t, c.ended, "end"); tc.audit != "" && info.Stats.Firewall.Counts().Verdicts == (firewall.Counts{}).Verdicts {
				t.Error("nothing counted")
			}
		})
	}
}

// The relay's last line names what was refused.
func TestRefusalIsLogged(t *testing.T) {
	h := newHypervisor(t)
	c := startGuarded(t, h, nil, nil)
	p := c.openSession(spiceproto.ChannelInputs)[0]
	p.send(opaque(spiceproto.MsgcInputsKeyScancode, 4097))
	p.wantClose()
	await(t, c.ended, "end")
	c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful",
		"Firewall verdicts this connection: size_cap (enforced=1, observed=0)", "DeregisterChannel")
	c.wantLog(zap.WarnLevel, "policy header check verdict Terminate; ending relay", "channel_type:inputs", "rule:size_cap", "connection_ref:")
	c.wantLog(zap.WarnLevel, "relay ended", "size_cap", "104 (KEY_SCANCODE) of 4097 bytes")
}

// A port channel lives in enforce mode, with nothing found.
func TestPortChannelIsEnforceable(t *testing.T) {
	hello := spiceproto.PortInit{Name: "org.spice-space.webdav.0\x00", Opened: 1}.Append(nil)
	hello = spiceproto.PortEvent{Event: spiceproto.PortOpened}.Append(hello)
	event := spiceproto.ClientPortEvent{Event: spiceproto.PortOpened}.Append(nil)
	data := opaque(spiceproto.MsgVMCData, 100)
	h := newHypervisor(t)
	h.then = func(c net.Conn) {
		c.Write(hello)
		io.ReadFull(c, make([]byte, len(event)))
		io.Copy(c, c)
	}
	for _, kind := range []spiceproto.ChannelType{spiceproto.ChannelPort, spiceproto.ChannelWebDAV} {
		c := startGuarded(t, h, &kerbsidepb.FirewallPolicy{}, func(f *Firewall) { f.Findings = firewall.EnforceFindings })
		p := c.openSession(kind)[0]
		p.read(len(hello))
		p.send(append(event, data...))
		p.read(len(data))
		p.Close()
		if info := await(t, c.ended, "end"); info.Stats.Firewall.Counts() != (firewall.Counts{}) {
			t.Errorf("%v: counts %+v", kind, info.Stats.Firewall.Counts())
		}
		c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful", "DeregisterChannel")
	}
}

// The settings' own list of channel types holds beside the daemon's.
func TestPermittedChannels(t *testing.T) {
	h := newHypervisor(t)
	c := startGuarded(t, h, warnOnly, func(f *Firewall) { f.Permitted = []spiceproto.ChannelType{spiceproto.ChannelMain} })
	c.openSession(spiceproto.ChannelMain)[0].Close()
	await(t, c.ended, "end")
	c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful", "DeregisterChannel")
	p := c.tlsClient()
	p.send(ticketFor(t, p.link(linkMess(spiceproto.ChannelUSBRedir)), testToken))
	p.wantRefusal(spiceproto.LinkErrPermissionDenied)
	c.want(spiceproto.ChannelUSBRedir, Denied)
	c.wantLog(zap.WarnLevel, "channel type not permitted by firewall policy", "channel_type:usbredir")
	c.wantSequence("RegisterChannel", "AuthorizeConnection", "Hypervisor connection successful", "DeregisterChannel",
		"RegisterChannel", "AuthorizeConnection", "Channel type not permitted by firewall policy", "DeregisterChannel")
}

// A known token that asks for a forbidden channel is no guess, however often: a
// viewer asks for all it can.
func TestForbiddenChannelsAreNoTokenFailures(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), func(c *Config) {
		c.TokenFailures = 2
		c.Firewall.Permitted = []spiceproto.ChannelType{spiceproto.ChannelMain}
	})
	for range 5 {
		c := p.client()
		c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelUSBRedir)), testToken))
		c.wantRefusal(spiceproto.LinkErrPermissionDenied)
		p.want(spiceproto.ChannelUSBRedir, Denied)
	}
	c := p.client()
	c.send(ticketFor(t, c.link(linkMess(spiceproto.ChannelMain)), testToken))
	if r := c.result(); r != spiceproto.LinkOK {
		t.Errorf("link result %v after forbidden channels", r)
	}
	p.want(spiceproto.ChannelMain, Relayed)
}

// What is known of a session's channels decides what can be found on them.
func TestWhatIsKnownOfASession(t *testing.T) {
	const token = authz.Secret("t")
	r := newRegistry(0)
	link := func(kind spiceproto.ChannelType, connection uint32) spiceproto.LinkMess {
		return spiceproto.LinkMess{Type: kind, ConnectionID: connection}
	}
	r.join("main", token, link(spiceproto.ChannelMain, 0))
	r.learnSession(&channel{ref: "main"}, 7)
	r.join("display", token, link(spiceproto.ChannelDisplay, 7))
	r.join("target", token, link(spiceproto.ChannelMain, 8))
	r.join("elsewhere", token, link(spiceproto.ChannelDisplay, 9))
	for ref, want := range map[string]bool{"main": true, "display": true, "target": false, "elsewhere": false, "nobody": false} {
		if got := r.fresh(ref); got != want {
			t.Errorf("%s: fresh %v, want %v", ref, got, want)
		}
	}
}

// Findings about the image cache end with the second display channel of a
// session.
func TestTwoDisplaysShareACache(t *testing.T) {
	draw := spicetest.Draw{Box: spiceproto.Rect{Bottom: 8, Right: 8}, Size: spicetest.DrawOverhead, Type: spiceproto.ImageFromCache}.Append(nil)
	for displays := range 4 {
		r := newRegistry(0)
		var guards []*firewall.Channel
		for i := range displays {
			ref := fmt.Sprint("display ", i)
			r.join(ref, "token", spiceproto.LinkMess{Type: spiceproto.ChannelDisplay, ConnectionID: 7})
			cfg := firewall.DefaultConfig()
			guards = append(guards, firewall.New(cfg, spiceproto.MachineConfig{Channel: spiceproto.ChannelDisplay, SoleDisplay: true}, zap.NewNop()))
			r.shareCache(ref, guards[i])
		}
		for i, g := range guards {
			h, body := parse(draw)
			if err := g.Head(spiceproto.ServerToClient, h, body); err != nil {
				t.Fatal(err)
			}
			found := g.Tally().Counts().Findings[spiceproto.ServerToClient][spiceproto.RuleImageCache] > 0
			if found != (displays == 1) {
				t.Errorf("display %d of %d: found %v", i, displays, found)
			}
		}
	}
}
