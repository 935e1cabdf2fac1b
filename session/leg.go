package session

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"spicepacer/pacer"
	"spicepacer/session/sockopt"
)

// newLeg describes a connection whose SPICE bytes pass through conn: sock, or
// TLS over it. The socket has been in use, so that it knows a round trip.
func newLeg(sock, conn net.Conn) leg {
	raw, _ := sock.(syscall.Conn)
	l := leg{conn: conn, sock: raw}
	if c, ok := conn.(*tls.Conn); ok {
		l.tls = true
		l.records, _ = c.NetConn().(*recordBuffer)
	}
	l.setReceiveBuffer = func(bytes int) error { return sockopt.SetReceiveBuffer(raw, bytes) }
	l.openWindow = func(bytes int) error { return sockopt.OpenWindow(raw, bytes) }
	tcp, ok := sock.(*net.TCPConn)
	if !ok {
		return l
	}
	p, err := sockopt.NewProbe(tcp)
	if err != nil {
		return l
	}
	s := &sampler{probe: p}
	first, err := s.sample()
	if err != nil {
		return l
	}
	l.rtt = first.MinRTT
	l.probe = s.sample
	return l
}

// of names the leg's peer.
func (l leg) of(peer netip.AddrPort) leg {
	l.peer = peer.String()
	return l
}

// address is the peer's, for errors.
func (l leg) address() string {
	if l.peer != "" {
		return l.peer
	}
	return l.conn.RemoteAddr().String()
}

// sampler shares a probe between the goroutines of a channel.
type sampler struct {
	mu    sync.Mutex
	probe *sockopt.Probe
}

// sample reads what the pacer's estimate stands on.
func (s *sampler) sample() (pacer.LinkSample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	outstanding, err := s.probe.SendQueue()
	if err != nil {
		return pacer.LinkSample{}, err
	}
	info, err := s.probe.TCPInfo()
	if err != nil {
		return pacer.LinkSample{}, err
	}
	return pacer.LinkSample{
		Acked: info.BytesAcked, Outstanding: outstanding, NotSent: int(info.NotSent),
		RTT: info.RTT, MinRTT: info.MinRTT, MSS: int(info.SndMSS),
	}, nil
}
