package session

import (
	"errors"
	"net/netip"
	"testing"
)

func TestPermits(t *testing.T) {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	p := newPermits(3, 2, 1)
	take := func(addr netip.Addr, want error) *permit {
		t.Helper()
		permit, err := p.acquire()
		if err == nil {
			if err = permit.identify(addr); err != nil {
				permit.release()
			}
		}
		if !errors.Is(err, want) {
			t.Fatalf("acquire(%v): %v, want %v", addr, err, want)
		}
		return permit
	}
	first := take(a, nil)
	second := take(a, nil)
	take(a, errTooManyHandshakes)
	first.handshakeDone()
	first.handshakeDone()
	take(a, nil)
	take(b, errTooManyConnections)
	if p.active() != 3 {
		t.Errorf("%d active, want 3", p.active())
	}
	first.release()
	first.release()
	take(b, nil)
	take(b, errTooManyConnections)
	second.release()
	take(a, nil)
	if len(p.handshakes) != 2 {
		t.Errorf("counts kept for %v, want only addresses that handshake", p.handshakes)
	}
}

func TestAddressKey(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"10.0.0.1", "::ffff:10.0.0.1", true},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
	} {
		same := addressKey(netip.MustParseAddr(tc.a)) == addressKey(netip.MustParseAddr(tc.b))
		if same != tc.same {
			t.Errorf("%s and %s counted as one: %v, want %v", tc.a, tc.b, same, tc.same)
		}
	}
	if addressKey(netip.Addr{}) != (netip.Prefix{}) {
		t.Error("a peer without address has a key")
	}
}
