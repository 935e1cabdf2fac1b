package session

import (
	"context"
	"fmt"
	"time"

	"spicepacer/spiceproto"
)

// sessionRelays are the channels of a client session that are being relayed. A
// session is over for all of them at once: when its main channel ends, as
// spice-server has it too (main-channel-client.cpp, on_disconnect); when half of
// what it had is lost, which leaves a viewer that looks alive and is not; and
// when nothing has moved on any of them for the idle limit. The registry's lock
// guards it.
type sessionRelays struct {
	live map[*channel]context.CancelCauseFunc
	// most is how many there were at a time, lost are those that ended with an
	// error and did not come back.
	most int
	lost map[channelName]bool
	// over is why the session ended, nil: it has not.
	over error

	idle *time.Timer // nil without an idle limit
	// moved is the sum of all bytes at the last look, and since when it is that.
	moved uint64
	since time.Time
}

// channelName tells the channels of a session apart.
type channelName struct {
	kind spiceproto.ChannelType
	id   uint8
}

func (ch *channel) name() channelName { return channelName{ch.kind, ch.id} }

// idleLooks is how many times within the idle limit a session is looked at; it
// may be ended later than the limit by the time between two looks.
const idleLooks = 8

// SessionLostError ends what is left of a session.
type SessionLostError struct {
	// Channel is the one whose end was the session's, and Err why it ended; nil:
	// a peer closed it in good order.
	Channel spiceproto.ChannelType
	Err     error
	// Lost of the session's Most channels have ended with an error.
	Lost, Most int
}

func (e *SessionLostError) Error() string {
	what := fmt.Sprintf("%d of its %d channels were lost, the last one %v", e.Lost, e.Most, e.Channel)
	if e.Channel == spiceproto.ChannelMain {
		what = "its main channel ended"
	}
	if e.Err == nil {
		return "session is over: " + what
	}
	return fmt.Sprintf("session is over: %s: %v", what, e.Err)
}

// Unwrap returns why the channel ended.
func (e *SessionLostError) Unwrap() error { return e.Err }

// IdleError ends a session in which nothing happens.
type IdleError struct {
	// For is how long no byte has moved on any of the session's channels.
	For time.Duration
}

func (e *IdleError) Error() string {
	return fmt.Sprintf("session is idle: no byte on any of its channels for %v", e.For.Round(time.Second))
}

// carry enters a channel whose relay begins and ends with end. A session whose
// channels are all idle for that long is ended; 0: never.
func (r *registry) carry(ch *channel, idle time.Duration, end context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.members[ch.ref]
	if s == nil {
		return
	}
	if s.relays.over != nil {
		end(s.relays.over) // it ended while the channel connected
		return
	}
	if s.relays.live == nil {
		s.relays.live = make(map[*channel]context.CancelCauseFunc)
		s.relays.lost = make(map[channelName]bool)
	}
	delete(s.relays.lost, ch.name())
	s.relays.live[ch] = end
	s.relays.most = max(s.relays.most, len(s.relays.live))
	s.relays.since = time.Now()
	if idle > 0 && s.relays.idle == nil {
		s.relays.idle = time.AfterFunc(idle/idleLooks, func() { r.look(s, idle) })
	}
}

// relayEnded takes a channel out that ended with err, and tells the rest of its
// session if that is over.
func (r *registry) relayEnded(ch *channel, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.members[ch.ref]
	if s == nil {
		return
	}
	delete(s.relays.live, ch)
	s.relays.since = time.Now()
	if err != nil && s.relays.lost != nil {
		s.relays.lost[ch.name()] = true
	}
	if ch.kind == spiceproto.ChannelMain || err != nil && s.relays.halfLost(ch.kind) {
		r.finish(s, &SessionLostError{Channel: ch.kind, Err: err, Lost: len(s.relays.lost), Most: s.relays.most})
	}
	if len(s.relays.live) == 0 && s.relays.idle != nil {
		s.relays.idle.Stop()
		s.relays.idle = nil
	}
}

// halfLost tells whether the loss of kind leaves half of the session or less. A
// single channel is half only if it is a display: a client opens its channels one
// by one, and the second one may be something the user can do without.
func (s *sessionRelays) halfLost(kind spiceproto.ChannelType) bool {
	return 2*len(s.lost) >= s.most && (len(s.lost) > 1 || kind == spiceproto.ChannelDisplay)
}

// finish ends all channels of s; one that comes later begins a session anew. The
// caller holds mu.
func (r *registry) finish(s *clientSession, cause error) {
	if s.relays.over != nil {
		return
	}
	s.relays.over = cause
	r.forget(s)
	for _, end := range s.relays.live {
		end(cause)
	}
}

// look ends s when nothing has moved for the idle limit, or looks again later.
func (r *registry) look(s *clientSession, limit time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.relays.idle == nil || s.relays.over != nil {
		return
	}
	var sum uint64
	for ch := range s.relays.live {
		sum += ch.stats.BytesToClient.Load() + ch.stats.BytesToServer.Load()
	}
	now := time.Now()
	if sum != s.relays.moved {
		s.relays.moved, s.relays.since = sum, now
	}
	still := now.Sub(s.relays.since)
	if still >= limit {
		r.finish(s, &IdleError{For: still})
		return
	}
	s.relays.idle.Reset(min(limit/idleLooks, limit-still))
}
