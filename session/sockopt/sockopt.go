// Package sockopt reads and sets the Linux socket options that pacing needs:
// TCP_INFO, queue sizes, buffer and segment limits. It measures and applies;
// what the figures mean is decided elsewhere. Off Linux every call fails with
// ErrUnsupported, and the caller goes on without.
//
//	probe, err := sockopt.NewProbe(conn)   // once per connection
//	info, err := probe.TCPInfo()           // as often as needed, allocates nothing
package sockopt

import (
	"errors"
	"syscall"
	"time"
)

// ErrUnsupported is returned where the platform has no such option.
var ErrUnsupported = errors.New("socket option not supported on this platform")

// Info is the part of the kernel's struct tcp_info (linux/tcp.h) that pacing
// uses. Fields an old kernel does not fill are zero.
type Info struct {
	// BytesAcked and BytesReceived count payload over the connection's life:
	// acknowledged by the peer, and received in order.
	BytesAcked, BytesReceived uint64
	// NotSent are bytes written to the socket that never left the host.
	NotSent uint32
	// Unacked counts segments in flight.
	Unacked uint32
	// RTT is the smoothed round trip time, MinRTT the least seen in the
	// kernel's window (net.ipv4.tcp_min_rtt_wlen, 300 s); zero before the first
	// sample.
	RTT, MinRTT time.Duration
	// DeliveryRate is the latest rate sample in bytes per second; it is a lower
	// bound of the link's rate when AppLimited is set.
	DeliveryRate uint64
	AppLimited   bool
	// SndCwnd is the congestion window in segments, SndMSS a segment's payload
	// in bytes.
	SndCwnd, SndMSS uint32
	// Retrans counts segments retransmitted over the connection's life.
	Retrans uint32
	// State is the kernel's TCP state number; 1 is ESTABLISHED.
	State uint8
}

// Backend are limits of the hypervisor socket. They keep spice-server's kernel
// from hiding more than some tens of kilobytes from the read valve; the segment
// size is what keeps the sender's buffer small. Zero leaves an option alone.
type Backend struct {
	// ReceiveBuffer is SO_RCVBUF in bytes; the kernel doubles it and clamps it
	// to net.core.rmem_max.
	ReceiveBuffer int
	// MaxSegment is TCP_MAXSEG in bytes.
	MaxSegment int
}

// Control has the signature of net.Dialer.Control: both options count only
// before connect. Sockets other than TCP are left alone.
func (b Backend) Control(network, _ string, c syscall.RawConn) error {
	switch network {
	case "tcp", "tcp4", "tcp6":
		return b.apply(c)
	}
	return nil
}

// Client are options of the client's socket. Zero values leave the kernel's
// default.
type Client struct {
	// CongestionControl is TCP_CONGESTION, a name of
	// net.ipv4.tcp_available_congestion_control.
	CongestionControl string
	// NotSentLowat is TCP_NOTSENT_LOWAT in bytes.
	NotSentLowat int
	// RTOMax is TCP_RTO_MAX_MS (Linux 6.15 and later, 1 s to 120 s): it bounds
	// the back-off after an outage.
	RTOMax time.Duration
	// UserTimeout is TCP_USER_TIMEOUT: unacknowledged data older than this ends
	// the connection.
	UserTimeout time.Duration
}

// Apply sets every option given on a TCP socket and goes on past one that
// fails. missing names the options this kernel does not know, which is no
// error; err joins all other failures.
func (o Client) Apply(c syscall.Conn) (missing []string, err error) { return o.apply(c) }
