package session

import (
	"crypto/x509"
	"sync"

	"spicepacer/session/authz"
)

// maxRootPools is how many certificate lists are remembered. Hypervisors of one
// cluster have theirs in common.
const maxRootPools = 64

// rootPools are the certificates that targets were given, parsed once for all
// channels: parsed for each, they would take kilobytes of every one. The zero
// value is ready.
type rootPools struct {
	mu     sync.Mutex
	byText map[string]*x509.CertPool
}

// of returns t.Roots().
func (p *rootPools) of(t authz.Target) (*x509.CertPool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pool, known := p.byText[t.CACert]; known {
		return pool, nil
	}
	pool, err := t.Roots()
	if err != nil {
		return nil, err
	}
	if p.byText == nil || len(p.byText) >= maxRootPools {
		p.byText = make(map[string]*x509.CertPool)
	}
	p.byText[t.CACert] = pool
	return pool, nil
}
