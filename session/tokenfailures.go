package session

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

var errTooManyFailures = errors.New("limit of refused tokens from this address reached")

// maxFailing bounds how many addresses are remembered. When more fail, the ones
// that failed least are forgotten.
const maxFailing = 4096

// tokenFailures slows down who guesses tokens, or has keys made for none: an
// address that failed perMinute times is turned away at accept, and may fail once more for
// each part of a minute that passes.
type tokenFailures struct {
	perMinute int

	mu        sync.Mutex
	byAddress map[netip.Prefix]failures
}

// failures is an address's count at a time; it falls by perMinute a minute.
type failures struct {
	count float64
	at    time.Time
}

func newTokenFailures(perMinute int) *tokenFailures {
	return &tokenFailures{perMinute: perMinute, byAddress: make(map[netip.Prefix]failures)}
}

// book enters a failure of addr.
func (f *tokenFailures) book(addr netip.Addr, now time.Time) {
	key := addressKey(addr)
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.byAddress[key]
	if !known && len(f.byAddress) >= maxFailing {
		f.forgetLeast(now)
	}
	f.byAddress[key] = failures{f.count(key, now) + 1, now}
}

// check tells whether addr has failed too often.
func (f *tokenFailures) check(addr netip.Addr, now time.Time) error {
	key := addressKey(addr)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch count := f.count(key, now); {
	case count == 0:
		delete(f.byAddress, key)
	case count > float64(f.perMinute)-1:
		return errTooManyFailures
	}
	return nil
}

// count returns what is left of key's failures. The caller holds mu.
func (f *tokenFailures) count(key netip.Prefix, now time.Time) float64 {
	last := f.byAddress[key]
	return max(0, last.count-now.Sub(last.at).Minutes()*float64(f.perMinute))
}

// forgetLeast makes room for one address. The caller holds mu.
func (f *tokenFailures) forgetLeast(now time.Time) {
	var least netip.Prefix
	fewest := -1.0
	for key := range f.byAddress {
		count := f.count(key, now)
		if count == 0 {
			delete(f.byAddress, key)
			continue
		}
		if fewest < 0 || count < fewest {
			least, fewest = key, count
		}
	}
	if len(f.byAddress) >= maxFailing {
		delete(f.byAddress, least)
	}
}
