package sockopt

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Probe reads one socket again and again without allocating. It is not safe for
// concurrent use; reads and writes on the connection itself may go on.
type Probe struct {
	raw  syscall.RawConn
	info unix.TCPInfo
	err  error
	// Bound once, so that a call makes no closure.
	readInfo, readSend, readRecv func(fd uintptr)
	queue                        int
}

// NewProbe prepares a probe of c. It fails only when c is closed.
func NewProbe(c syscall.Conn) (*Probe, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("probe socket: %w", err)
	}
	p := &Probe{raw: raw}
	p.readInfo = p.getInfo
	p.readSend = func(fd uintptr) { p.queue, p.err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }
	p.readRecv = func(fd uintptr) { p.queue, p.err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) }
	return p, nil
}

// TCPInfo reads TCP_INFO.
func (p *Probe) TCPInfo() (Info, error) {
	if err := p.control("TCP_INFO", p.readInfo); err != nil {
		return Info{}, err
	}
	return p.convert(), nil
}

// SendQueue reads SIOCOUTQ: bytes written and not acknowledged, those not yet
// sent included.
func (p *Probe) SendQueue() (int, error) {
	err := p.control("SIOCOUTQ", p.readSend)
	return p.queue, err
}

// RecvQueue reads SIOCINQ: bytes received and not yet read.
func (p *Probe) RecvQueue() (int, error) {
	err := p.control("SIOCINQ", p.readRecv)
	return p.queue, err
}

func (p *Probe) control(what string, f func(fd uintptr)) error {
	p.queue, p.err = 0, nil
	if err := p.raw.Control(f); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	if p.err != nil {
		return fmt.Errorf("read %s: %w", what, p.err)
	}
	return nil
}

// getInfo calls getsockopt itself because unix.GetsockoptTCPInfo allocates its
// result.
func (p *Probe) getInfo(fd uintptr) {
	size := uint32(unsafe.Sizeof(p.info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(&p.info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		p.err = errno
	}
}

func (p *Probe) convert() Info {
	i := &p.info
	info := Info{
		BytesAcked:    i.Bytes_acked,
		BytesReceived: i.Bytes_received,
		NotSent:       i.Notsent_bytes,
		Unacked:       i.Unacked,
		RTT:           time.Duration(i.Rtt) * time.Microsecond,
		DeliveryRate:  i.Delivery_rate,
		AppLimited:    appLimited(i),
		SndCwnd:       i.Snd_cwnd,
		SndMSS:        i.Snd_mss,
		Retrans:       i.Total_retrans,
		State:         i.State,
	}
	if i.Min_rtt != ^uint32(0) { // the kernel's "no sample yet"
		info.MinRTT = time.Duration(i.Min_rtt) * time.Microsecond
	}
	return info
}

// appLimited reads tcpi_delivery_rate_app_limited: bit 0 of byte 7 of struct
// tcp_info, which package unix hides in the padding after Options.
func appLimited(i *unix.TCPInfo) bool {
	return (*[8]byte)(unsafe.Pointer(i))[7]&1 != 0
}

// TCPInfo reads TCP_INFO of c once.
func TCPInfo(c syscall.Conn) (Info, error) {
	p, err := NewProbe(c)
	if err != nil {
		return Info{}, err
	}
	return p.TCPInfo()
}

// SendQueue reads SIOCOUTQ of c once; see Probe.SendQueue.
func SendQueue(c syscall.Conn) (int, error) {
	p, err := NewProbe(c)
	if err != nil {
		return 0, err
	}
	return p.SendQueue()
}

// RecvQueue reads SIOCINQ of c once; see Probe.RecvQueue.
func RecvQueue(c syscall.Conn) (int, error) {
	p, err := NewProbe(c)
	if err != nil {
		return 0, err
	}
	return p.RecvQueue()
}

// SetReceiveBuffer sets SO_RCVBUF of a connected socket. Growing works at any
// time; shrinking does not take back what the peer was already promised.
func SetReceiveBuffer(c syscall.Conn, bytes int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("set SO_RCVBUF: %w", err)
	}
	return setInt(raw, "SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
}

// OpenWindow lets a connected socket announce a window as large as a receive
// buffer of the given bytes admits. A small SO_RCVBUF set before connect bounds the
// window for good (net/ipv4/tcp_output.c, tcp_connect_init), whatever the buffer
// becomes; only a change of the segments' size makes the kernel look again. The
// window is at most 65535 bytes all the same: its scale was agreed on while
// connecting (RFC 7323, 2.2), for the small buffer, which needs none.
func OpenWindow(c syscall.Conn, bytes int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("set TCP_WINDOW_CLAMP: %w", err)
	}
	// The kernel doubles what is asked for with SO_RCVBUF, socket(7), and a window
	// is never larger than that.
	return setInt(raw, "TCP_WINDOW_CLAMP", unix.IPPROTO_TCP, unix.TCP_WINDOW_CLAMP, 2*bytes)
}

func (b Backend) apply(c syscall.RawConn) error {
	var errs []error
	if b.ReceiveBuffer > 0 {
		errs = append(errs, setInt(c, "SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, b.ReceiveBuffer))
	}
	if b.MaxSegment > 0 {
		errs = append(errs, setInt(c, "TCP_MAXSEG", unix.IPPROTO_TCP, unix.TCP_MAXSEG, b.MaxSegment))
	}
	return errors.Join(errs...)
}

func (o Client) apply(c syscall.Conn) (missing []string, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("set client socket options: %w", err)
	}
	var errs []error
	for _, e := range o.set(raw) {
		var oe *optionError
		if errors.As(e, &oe) && errors.Is(e, unix.ENOPROTOOPT) {
			missing = append(missing, oe.name)
			continue
		}
		errs = append(errs, e)
	}
	return missing, errors.Join(errs...)
}

// set tries each option given and returns the failures.
func (o Client) set(c syscall.RawConn) []error {
	var errs []error
	try := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if o.CongestionControl != "" {
		try(setOption(c, "TCP_CONGESTION", func(fd int) error {
			return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, o.CongestionControl)
		}))
	}
	if o.NotSentLowat > 0 {
		try(setInt(c, "TCP_NOTSENT_LOWAT", unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, o.NotSentLowat))
	}
	if o.RTOMax > 0 {
		try(setInt(c, "TCP_RTO_MAX_MS", unix.IPPROTO_TCP, unix.TCP_RTO_MAX_MS, int(o.RTOMax.Milliseconds())))
	}
	if o.UserTimeout > 0 {
		try(setInt(c, "TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(o.UserTimeout.Milliseconds())))
	}
	return errs
}

// optionError names the option that failed.
type optionError struct {
	name string
	err  error
}

func (e *optionError) Error() string { return fmt.Sprintf("set %s: %v", e.name, e.err) }
func (e *optionError) Unwrap() error { return e.err }

func setInt(c syscall.RawConn, name string, level, opt, value int) error {
	return setOption(c, name, func(fd int) error { return unix.SetsockoptInt(fd, level, opt, value) })
}

func setOption(c syscall.RawConn, name string, set func(fd int) error) error {
	var err error
	if cerr := c.Control(func(fd uintptr) { err = set(int(fd)) }); cerr != nil {
		err = cerr
	}
	if err != nil {
		return &optionError{name: name, err: err}
	}
	return nil
}
