//go:build !linux

package sockopt

import "syscall"

// Probe reads one socket; off Linux there is nothing to read.
type Probe struct{}

// NewProbe fails with ErrUnsupported.
func NewProbe(syscall.Conn) (*Probe, error) { return nil, ErrUnsupported }

// TCPInfo fails with ErrUnsupported.
func (*Probe) TCPInfo() (Info, error) { return Info{}, ErrUnsupported }

// SendQueue fails with ErrUnsupported.
func (*Probe) SendQueue() (int, error) { return 0, ErrUnsupported }

// RecvQueue fails with ErrUnsupported.
func (*Probe) RecvQueue() (int, error) { return 0, ErrUnsupported }

// TCPInfo fails with ErrUnsupported.
func TCPInfo(syscall.Conn) (Info, error) { return Info{}, ErrUnsupported }

// SendQueue fails with ErrUnsupported.
func SendQueue(syscall.Conn) (int, error) { return 0, ErrUnsupported }

// RecvQueue fails with ErrUnsupported.
func RecvQueue(syscall.Conn) (int, error) { return 0, ErrUnsupported }

// SetReceiveBuffer fails with ErrUnsupported.
func SetReceiveBuffer(syscall.Conn, int) error { return ErrUnsupported }

// OpenWindow fails with ErrUnsupported.
func OpenWindow(syscall.Conn, int) error { return ErrUnsupported }

// apply leaves the socket as it is: the limits are an optimisation.
func (Backend) apply(syscall.RawConn) error { return nil }

func (Client) apply(syscall.Conn) ([]string, error) { return nil, ErrUnsupported }
