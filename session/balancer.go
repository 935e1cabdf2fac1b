package session

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/pires/go-proxyproto"
	"go.uber.org/zap"
)

// Bounds of a PROXY protocol header (haproxy.org, proxy-protocol.txt): a line of
// version 1 has at most 107 bytes; version 2 is 16 bytes and as many as their
// last two say, addresses and what the balancer adds to them.
const (
	maxProxyLine   = 107
	proxyPrefix    = 16
	maxProxyExtras = 4096
)

var errProxyHeader = errors.New("no PROXY protocol header")

// isBalancer tells whether a connection from addr begins with a PROXY protocol
// header. Those of others never do: it would be their word for who they are.
func (s *Server) isBalancer(addr netip.Addr) bool {
	for _, p := range s.cfg.ProxyProtocolFrom {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// learnPeer reads the header of a balancer's connection: from then on the client
// that it names is the one that logs, limits and the authorizer know.
func (s *Server) learnPeer(c *client) error {
	balancer := c.peer
	c.limit(s.cfg.Timeouts.ProxyHeader)
	peer, err := readProxyHeader(c.sock)
	if err != nil {
		return &failure{ProxyHeaderFailed, inTime(err, "PROXY protocol header", s.cfg.Timeouts.ProxyHeader)}
	}
	if peer.IsValid() { // else the balancer speaks for itself, as its health checks do
		c.peer = peer
		c.log = s.log.With(zap.String("connection_ref", c.ref), zap.Stringer("peer", peer), zap.Stringer("balancer", balancer))
	}
	if err := c.permit.identify(c.peer.Addr()); err != nil {
		return &failure{Limited, err}
	}
	return nil
}

// readProxyHeader reads exactly a header, of version 1 or 2, and returns the
// client it names: not valid when it names none.
func readProxyHeader(r io.Reader) (netip.AddrPort, error) {
	raw, err := frameProxyHeader(r)
	if err != nil {
		return netip.AddrPort{}, err
	}
	h, err := proxyproto.Read(bufio.NewReaderSize(bytes.NewReader(raw), len(raw)))
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%w: %w", errProxyHeader, err)
	}
	if h.Command.IsLocal() || h.TransportProtocol.IsUnspec() {
		return netip.AddrPort{}, nil
	}
	source, ok := h.SourceAddr.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("%w: source %v is no TCP address", errProxyHeader, h.SourceAddr)
	}
	return addrPort(source), nil
}

// frameProxyHeader reads the bytes of a header and none behind it, which belong
// to TLS or SPICE.
func frameProxyHeader(r io.Reader) ([]byte, error) {
	raw := make([]byte, len(proxyproto.SIGV2), maxProxyLine)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(raw, proxyproto.SIGV2):
		return frameProxyV2(r, raw)
	case bytes.HasPrefix(raw, proxyproto.SIGV1):
		return frameProxyV1(r, raw)
	}
	return nil, errProxyHeader
}

func frameProxyV1(r io.Reader, raw []byte) ([]byte, error) {
	for raw[len(raw)-1] != '\n' {
		if len(raw) == maxProxyLine {
			return nil, fmt.Errorf("%w: no end of line within %d bytes", errProxyHeader, maxProxyLine)
		}
		raw = raw[:len(raw)+1]
		if _, err := io.ReadFull(r, raw[len(raw)-1:]); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

func frameProxyV2(r io.Reader, raw []byte) ([]byte, error) {
	raw = raw[:proxyPrefix]
	if _, err := io.ReadFull(r, raw[len(proxyproto.SIGV2):]); err != nil {
		return nil, err
	}
	extras := int(binary.BigEndian.Uint16(raw[proxyPrefix-2:]))
	if extras > maxProxyExtras {
		return nil, fmt.Errorf("%w: %d bytes behind its prefix, at most %d are read", errProxyHeader, extras, maxProxyExtras)
	}
	raw = append(raw, make([]byte, extras)...)
	_, err := io.ReadFull(r, raw[proxyPrefix:])
	return raw, err
}
