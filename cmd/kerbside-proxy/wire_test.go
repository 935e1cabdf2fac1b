package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spicepacer/config"
	"spicepacer/session"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

func TestFirewallSettings(t *testing.T) {
	if diff := cmp.Diff(session.DefaultConfig().Firewall, firewallConfig(config.Default().Firewall)); diff != "" {
		t.Errorf("the defaults are not those of a session:\n%s", diff)
	}
	got := firewallConfig(config.Firewall{
		Mode: config.FirewallWarn, Findings: config.FirewallEnforce, PermittedChannels: []string{"webdav", "main"},
		MaxInput: 200, MaxMessage: 300, MaxPicture: 400, MessagesPerSecond: 5, BytesPerSecond: 6,
	})
	want := session.Firewall{
		Config: firewall.Config{
			Mode: firewall.WarnOnly, Findings: firewall.EnforceFindings,
			MaxInput: 200, MaxMessage: 300, MaxPicture: 400, Rate: firewall.Rate{Messages: 5, Bytes: 6},
		},
		Permitted: []spiceproto.ChannelType{spiceproto.ChannelWebDAV, spiceproto.ChannelMain},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
