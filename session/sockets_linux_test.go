package session

import (
	"net"
	"syscall"
	"testing"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"spicepacer/pacer"
	"spicepacer/session/sockopt"
	"spicepacer/spiceproto"
)

func TestSocketOptions(t *testing.T) {
	for _, tc := range []struct {
		mode               pacer.Mode
		kind               spiceproto.ChannelType
		hypervisor, client bool // which leg gets options
	}{
		{pacer.Adaptive, spiceproto.ChannelDisplay, true, true},
		{pacer.Withhold, spiceproto.ChannelDisplay, false, true},
		{pacer.Passthrough, spiceproto.ChannelDisplay, false, false},
		{pacer.Adaptive, spiceproto.ChannelCursor, false, false},
	} {
		t.Run(tc.mode.String()+" "+tc.kind.String(), func(t *testing.T) {
			h := newHypervisor(t)
			p := startProxy(t, h.target(), func(c *Config) { c.Pacing.Mode = tc.mode })
			p.client().open(linkMess(tc.kind))
			p.want(tc.kind, Relayed)
			info, err := sockopt.TCPInfo(await(t, h.linked, "link").socket)
			if err != nil {
				t.Fatal(err)
			}
			if limited := info.SndMSS <= autoMaxSegment; limited != tc.hypervisor {
				t.Errorf("the hypervisor sends segments of %d bytes, limited: want %v", info.SndMSS, tc.hypervisor)
			}
			if timeout := userTimeout(t, await(t, p.accepted, "client")); (timeout != 0) != tc.client {
				t.Errorf("client socket has user timeout %d ms, set: want %v", timeout, tc.client)
			}
		})
	}
}

func TestRelayWorksWithoutAnOption(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), func(c *Config) {
		c.Pacing.Mode = pacer.Withhold
		c.Pacing.Client.CongestionControl = "no-such"
	})
	c := p.client()
	c.open(linkMess(spiceproto.ChannelDisplay))
	p.want(spiceproto.ChannelDisplay, Relayed)
	p.wantLog(zap.WarnLevel, "client socket option not set", "TCP_CONGESTION")
	c.wantEcho()
}

// userTimeout reads TCP_USER_TIMEOUT in milliseconds.
func userTimeout(t *testing.T, c net.Conn) int {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var v int
	if cerr := raw.Control(func(fd uintptr) { v, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) }); cerr != nil {
		t.Fatal(cerr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}
