package session

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"spicepacer/session/authz"
)

// tokenChannels bounds the channels that each token has at a time, those that
// connect to their hypervisor included: otherwise a single one, or a viewer that
// connects anew without end, may hold every connection there is.
type tokenChannels struct {
	most int // 0: no bound

	mu   sync.Mutex
	held map[[sha256.Size]byte]int // by hash of the token
}

func newTokenChannels(most int) *tokenChannels {
	return &tokenChannels{most: most, held: make(map[[sha256.Size]byte]int)}
}

// acquire books a channel on a token that was authorized, until release is called,
// once. The error is a *TokenChannelsError, and release nil then.
func (t *tokenChannels) acquire(token authz.Secret) (release func(), err error) {
	if t.most == 0 {
		return func() {}, nil
	}
	key := sha256.Sum256([]byte(token))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[key] >= t.most {
		return nil, &TokenChannelsError{Most: t.most}
	}
	t.held[key]++
	return func() { t.release(key) }, nil
}

func (t *tokenChannels) release(key [sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[key]--; t.held[key] == 0 {
		delete(t.held, key)
	}
}

// TokenChannelsError refuses a channel whose token has as many as it may.
type TokenChannelsError struct{ Most int }

func (e *TokenChannelsError) Error() string {
	return fmt.Sprintf("limit of channels of one token reached (%d)", e.Most)
}
