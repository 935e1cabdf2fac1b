package session

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

var (
	errTooManyConnections = errors.New("limit of connections reached")
	errTooManyHandshakes  = errors.New("limit of concurrent handshakes from this address reached")
)

// permits bounds what strangers can make the proxy hold: sockets in all, and
// unfinished handshakes per address; and how often an address may fail. A connection over a limit is closed rather
// than queued, so that the limits themselves cost nothing.
type permits struct {
	connections, handshakesPerAddress int
	failures                          *tokenFailures

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

func newPermits(connections, handshakesPerAddress, failuresPerMinute int) *permits {
	return &permits{
		connections:          connections,
		handshakesPerAddress: handshakesPerAddress,
		failures:             newTokenFailures(failuresPerMinute),
		handshakes:           make(map[netip.Prefix]int),
	}
}

// acquire admits a connection whose client is not known yet; see identify.
func (p *permits) acquire() (*permit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held >= p.connections {
		return nil, errTooManyConnections
	}
	p.held++
	return &permit{from: p, held: true}, nil
}

// identify books the connection on addr, where it counts as handshaking.
func (t *permit) identify(addr netip.Addr) error {
	if err := t.from.failures.check(addr, time.Now()); err != nil {
		return err
	}
	address := addressKey(addr)
	t.from.mu.Lock()
	defer t.from.mu.Unlock()
	if t.from.handshakes[address] >= t.from.handshakesPerAddress {
		return errTooManyHandshakes
	}
	t.from.handshakes[address]++
	t.address, t.handshaking = address, true
	return nil
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
