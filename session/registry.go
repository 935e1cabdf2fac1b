package session

import (
	"crypto/sha256"
	"math/rand/v2"
	"sync"

	"spicepacer/session/authz"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// registry groups channels into client sessions, so that all displays of one
// session are treated alike. A session begins with its main channel; the others
// name it by the session id that the hypervisor told the client in MAIN_INIT.
type registry struct {
	passthroughPercent int
	draw               func(n int) int // uniform in [0, n)

	mu       sync.Mutex
	sessions map[sessionKey]*clientSession
	members  map[string]*clientSession // by connection ref
}

// sessionKey tells sessions apart: ids of different hypervisors may be equal,
// and a client must not join another's session by guessing an id.
type sessionKey struct {
	token [sha256.Size]byte
	id    uint32
}

type clientSession struct {
	key         sessionKey
	passthrough bool
	channels    int
	displays    sessionDisplays
	// fresh: the main channel began here, and not as the target of a migration, so
	// the client's channels have no past elsewhere.
	fresh bool
	// display is the guard of its first display channel, shared is set with the
	// second.
	display *firewall.Channel
	shared  bool
}

func newRegistry(passthroughPercent int) *registry {
	return &registry{
		passthroughPercent: passthroughPercent,
		draw:               rand.IntN,
		sessions:           make(map[sessionKey]*clientSession),
		members:            make(map[string]*clientSession),
	}
}

// join enters the connection ref and tells whether its session is one of those
// left unpaced. A channel whose main channel was not seen here starts a session
// of its own, which the channels after it find.
func (r *registry) join(ref string, token authz.Secret, link spiceproto.LinkMess) (passthrough bool) {
	key := sessionKey{sha256.Sum256([]byte(token)), link.ConnectionID}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[key]
	if s == nil || link.ConnectionID == 0 {
		s = &clientSession{key: key, passthrough: r.draw(100) < r.passthroughPercent}
		s.fresh = link.ConnectionID == 0 && link.Type == spiceproto.ChannelMain
		if link.ConnectionID != 0 {
			r.sessions[key] = s
		}
	}
	s.channels++
	r.members[ref] = s
	return s.passthrough
}

// learnSession names the session of the main channel ch by the id that
// MAIN_INIT carries. It must be called before the client can read the message.
func (r *registry) learnSession(ch *channel, id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.members[ch.ref]
	if s == nil || s.key.id == id {
		return
	}
	r.forget(s)
	s.key.id = id
	r.sessions[s.key] = s
}

// displays returns the display channels of the connection's session, nil if it
// has not joined one.
func (r *registry) displays(ref string) *sessionDisplays {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.members[ref]; s != nil {
		return &s.displays
	}
	return nil
}

// fresh tells whether the connection's session began here.
func (r *registry) fresh(ref string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.members[ref]
	return s != nil && s.fresh
}

// shareCache enters the guard of a display channel. Clients have one image cache
// for all display channels of a session, which outlives them.
func (r *registry) shareCache(ref string, guard *firewall.Channel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.members[ref]
	if s == nil || guard == nil {
		return
	}
	if s.display == nil && !s.shared {
		s.display = guard
		return
	}
	s.display.ShareCache()
	guard.ShareCache()
	s.display, s.shared = nil, true
}

// leave ends the connection's membership, and the session with its last one.
func (r *registry) leave(ref string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.members[ref]
	if s == nil {
		return
	}
	delete(r.members, ref)
	if s.channels--; s.channels == 0 {
		r.forget(s)
	}
}

// forget drops s from the index unless another session has taken its key.
func (r *registry) forget(s *clientSession) {
	if r.sessions[s.key] == s {
		delete(r.sessions, s.key)
	}
}
