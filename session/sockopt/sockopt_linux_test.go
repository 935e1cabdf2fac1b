package sockopt

import (
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair returns both ends of a loopback TCP connection dialled with d.
func pair(t *testing.T, d net.Dialer) (dialled, accepted *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := d.DialContext(context.Background(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func getInt(t *testing.T, c *net.TCPConn, level, opt int) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var v int
	if cerr := raw.Control(func(fd uintptr) { v, err = unix.GetsockoptInt(int(fd), level, opt) }); cerr != nil {
		t.Fatal(cerr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestProbeFollowsTheBytes(t *testing.T) {
	a, b := pair(t, net.Dialer{})
	const n = 10000
	if _, err := a.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(b, make([]byte, n-1)); err != nil {
		t.Fatal(err)
	}
	if q, err := RecvQueue(b); err != nil || q != 1 {
		t.Errorf("RecvQueue = %d, %v; want the 1 byte not read", q, err)
	}
	// A byte that came back proves that the peer's ACK of all n was seen: it
	// rides on the same segment.
	if _, err := b.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	info, err := TCPInfo(a)
	if err != nil {
		t.Fatal(err)
	}
	if info.BytesAcked < n || info.BytesReceived != 1 || info.Unacked != 0 || info.NotSent != 0 {
		t.Errorf("info = %+v, want %d bytes acked, 1 received, none outstanding", info, n)
	}
	if info.State != 1 || info.SndMSS == 0 || info.SndCwnd == 0 || info.RTT <= 0 || info.MinRTT <= 0 {
		t.Errorf("info = %+v, want an established connection with MSS, window and round trip", info)
	}
	if q, err := SendQueue(a); err != nil || q != 0 {
		t.Errorf("SendQueue = %d, %v; want 0", q, err)
	}
}

func TestSendQueueCountsWhatThePeerHasNoRoomFor(t *testing.T) {
	// The side that dials has the small receive buffer, so the other one fills.
	_, a := pair(t, net.Dialer{Control: Backend{ReceiveBuffer: 4096}.Control})
	const n = 64 << 10
	if err := a.SetWriteBuffer(4 * n); err != nil { // so that Write does not wait
		t.Fatal(err)
	}
	if _, err := a.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	q, err := SendQueue(a)
	if err != nil {
		t.Fatal(err)
	}
	info, err := TCPInfo(a)
	if err != nil {
		t.Fatal(err)
	}
	if q < n/2 || uint64(q)+info.BytesAcked < n || info.NotSent == 0 {
		t.Errorf("queue %d, acked %d, not sent %d of %d written", q, info.BytesAcked, info.NotSent, n)
	}
}

func TestProbeDoesNotAllocate(t *testing.T) {
	a, _ := pair(t, net.Dialer{})
	p, err := NewProbe(a)
	if err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		if _, err := p.TCPInfo(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.SendQueue(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.RecvQueue(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per round of reads, want 0", n)
	}
}

func TestProbeOfClosedSocket(t *testing.T) {
	a, _ := pair(t, net.Dialer{})
	p, err := NewProbe(a)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if _, err := p.TCPInfo(); err == nil {
		t.Error("TCPInfo of a closed socket succeeded")
	}
	if _, err := SendQueue(a); err == nil {
		t.Error("SendQueue of a closed socket succeeded")
	}
}

func TestBackendLimitsHoldFromTheFirstSegment(t *testing.T) {
	limits := Backend{ReceiveBuffer: 4096, MaxSegment: 1448}
	a, b := pair(t, net.Dialer{Control: limits.Control})
	// The kernel doubles SO_RCVBUF (socket(7)).
	if got := getInt(t, a, unix.SOL_SOCKET, unix.SO_RCVBUF); got != 2*limits.ReceiveBuffer {
		t.Errorf("SO_RCVBUF = %d, want %d", got, 2*limits.ReceiveBuffer)
	}
	info, err := TCPInfo(b)
	if err != nil {
		t.Fatal(err)
	}
	if info.SndMSS > uint32(limits.MaxSegment) {
		t.Errorf("the peer sends segments of %d bytes, want at most %d", info.SndMSS, limits.MaxSegment)
	}
	if err := SetReceiveBuffer(a, 65536); err != nil {
		t.Fatal(err)
	}
	if got := getInt(t, a, unix.SOL_SOCKET, unix.SO_RCVBUF); got != 2*65536 {
		t.Errorf("SO_RCVBUF after widening = %d, want %d", got, 2*65536)
	}
	if got := getInt(t, a, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP); got >= 65536 {
		t.Errorf("the window may become %d before it is opened", got)
	}
	if err := OpenWindow(a, 65536); err != nil {
		t.Fatal(err)
	}
	if got := getInt(t, a, unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP); got != 2*65536 {
		t.Errorf("TCP_WINDOW_CLAMP after opening = %d, want %d", got, 2*65536)
	}
}

func TestBackendLeavesUnixSocketsAlone(t *testing.T) {
	path := t.TempDir() + "/s"
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	d := net.Dialer{Control: Backend{ReceiveBuffer: 4096, MaxSegment: 1448}.Control}
	c, err := d.DialContext(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestClientOptions(t *testing.T) {
	a, _ := pair(t, net.Dialer{})
	missing, err := Client{
		CongestionControl: "reno", // always built in
		NotSentLowat:      16384,
		RTOMax:            time.Second,
		UserTimeout:       30 * time.Second,
	}.Apply(a)
	if err != nil {
		t.Fatal(err)
	}
	if got := getInt(t, a, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT); got != 16384 {
		t.Errorf("TCP_NOTSENT_LOWAT = %d", got)
	}
	if got := getInt(t, a, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); got != 30000 {
		t.Errorf("TCP_USER_TIMEOUT = %d ms", got)
	}
	if slices.Contains(missing, "TCP_RTO_MAX_MS") {
		t.Log("this kernel has no TCP_RTO_MAX_MS")
	} else if got := getInt(t, a, unix.IPPROTO_TCP, unix.TCP_RTO_MAX_MS); got != 1000 {
		t.Errorf("TCP_RTO_MAX_MS = %d ms", got)
	}
}

func TestClientOptionsGoOnPastAFailure(t *testing.T) {
	a, _ := pair(t, net.Dialer{})
	missing, err := Client{CongestionControl: "no-such", UserTimeout: time.Second}.Apply(a)
	if err == nil || len(missing) != 0 {
		t.Errorf("missing %v, err %v; want an error for the unknown algorithm", missing, err)
	}
	if got := getInt(t, a, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); got != 1000 {
		t.Errorf("TCP_USER_TIMEOUT = %d ms, want it set in spite of the other failure", got)
	}
}
