package session

import (
	"errors"
	"net/netip"
	"sync"
)

var (
	errTooManyConnections = errors.New("limit of connections reached")
	errTooManyHandshakes  = errors.New("limit of concurrent handshakes from this address reached")
)

// permits bounds what strangers can make the proxy hold: sockets in all, and
// unfinished handshakes per address. A connection over a limit is closed rather
// than queued, so that the limits themselves cost nothing.
type permits struct {
	connections, handshakesPerAddress int

	mu         sync.Mutex
	held       int
	handshakes map[netip.Prefix]int
}

// permit is one connection's share. Its methods are idempotent and belong to
// the connection's goroutine.
type permit struct {
	from        *permits
	address     netip.Prefix
	handshaking bool
	held        bool
}

func newPermits(connections, handshakesPerAddress int) *permits {
	return &permits{
		connections:          connections,
		handshakesPerAddress: handshakesPerAddress,
		handshakes:           make(map[netip.Prefix]int),
	}
}

// acquire admits a connection from addr, which counts as handshaking.
func (p *permits) acquire(addr netip.Addr) (*permit, error) {
	address := addressKey(addr)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held >= p.connections {
		return nil, errTooManyConnections
	}
	if p.handshakes[address] >= p.handshakesPerAddress {
		return nil, errTooManyHandshakes
	}
	p.held++
	p.handshakes[address]++
	return &permit{from: p, address: address, handshaking: true, held: true}, nil
}

// active is the number of connections held.
func (p *permits) active() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// handshakeDone frees the address's share.
func (t *permit) handshakeDone() {
	if !t.handshaking {
		return
	}
	t.handshaking = false
	t.from.mu.Lock()
	defer t.from.mu.Unlock()
	if t.from.handshakes[t.address]--; t.from.handshakes[t.address] == 0 {
		delete(t.from.handshakes, t.address)
	}
}

// release ends the connection's stay.
func (t *permit) release() {
	t.handshakeDone()
	if !t.held {
		return
	}
	t.held = false
	t.from.mu.Lock()
	defer t.from.mu.Unlock()
	t.from.held--
}

// addressKey is what one client is counted by: its IPv4 address, or the /64 a
// host may pick its IPv6 addresses from.
func addressKey(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, _ := a.Prefix(bits) // the zero Addr gives the zero Prefix
	return p
}
