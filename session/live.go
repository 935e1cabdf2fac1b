package session

import (
	"context"
	"errors"
	"sync"
)

// errTerminated is why the channels of a session end that TerminateSession
// names.
var errTerminated = errors.New("session terminated by control plane")

// liveSessions are the authorized connections by the session that the
// authorizer knows them under; see authz.Target.SessionID.
type liveSessions struct {
	mu   sync.Mutex
	byID map[string]map[*client]context.CancelCauseFunc
}

func newLiveSessions() *liveSessions {
	return &liveSessions{byID: make(map[string]map[*client]context.CancelCauseFunc)}
}

// join enters c, to be ended with end. It comes before c's hypervisor is
// contacted, so that a termination ends this attempt too.
func (l *liveSessions) join(id string, c *client, end context.CancelCauseFunc) {
	if id == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	members := l.byID[id]
	if members == nil {
		members = make(map[*client]context.CancelCauseFunc)
		l.byID[id] = members
	}
	members[c] = end
}

// leave ends c's membership, and the session with its last one.
func (l *liveSessions) leave(id string, c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	members := l.byID[id]
	delete(members, c)
	if len(members) == 0 {
		delete(l.byID, id)
	}
}

// terminate ends the members of a session and returns them.
func (l *liveSessions) terminate(id string) []*client {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ended []*client
	for c, end := range l.byID[id] {
		end(errTerminated)
		ended = append(ended, c)
	}
	return ended
}

// TerminateSession ends every channel of the session that the authorizer knows
// as id, within a second; those that are still connecting to their hypervisor
// too. It tells whether there was any. A channel that is authorized later is
// not affected.
func (s *Server) TerminateSession(id string) bool {
	ended := s.live.terminate(id)
	for _, c := range ended {
		c.log.Info("session terminated by control plane; ending relay")
	}
	return len(ended) > 0
}
