package session

import (
	"sync"
	"sync/atomic"
	"time"
)

// sessionDisplay is the relay of a display channel, as the other channels of its
// session see it.
type sessionDisplay interface {
	// input tells of an event that the user may expect an answer to.
	input(now time.Time)
	// keepArrivalOrder ends all reordering, for good.
	keepArrivalOrder()
	// channelID tells displays apart; one that comes back has the same.
	channelID() uint8
}

// sessionDisplays are the display channels of one client session. The zero value
// has none.
type sessionDisplays struct {
	mu      sync.Mutex
	several bool // there were two or more at a time
	list    atomic.Pointer[[]sessionDisplay]
}

// enter adds d until the returned function is called. A second display channel
// ends reordering on all of them: spice-server makes one wait for the other by
// the number of messages it sent there (WAIT_FOR_CHANNELS, INVAL_ALL_PIXMAPS).
// A nil receiver is a session of its own.
func (s *sessionDisplays) enter(d sessionDisplay) (leave func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := append(s.displays(), d)
	s.list.Store(&list)
	for _, o := range list {
		s.several = s.several || o.channelID() != d.channelID()
	}
	if s.several {
		for _, d := range list {
			d.keepArrivalOrder()
		}
	}
	return func() { s.leave(d) }
}

func (s *sessionDisplays) leave(d sessionDisplay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []sessionDisplay
	for _, o := range s.displays() {
		if o != d {
			list = append(list, o)
		}
	}
	s.list.Store(&list)
}

// input tells all displays of an input event.
func (s *sessionDisplays) input(now time.Time) {
	for _, d := range s.displays() {
		d.input(now)
	}
}

// displays returns a list that the next enter or leave replaces: its capacity is
// its length.
func (s *sessionDisplays) displays() []sessionDisplay {
	if list := s.list.Load(); list != nil {
		return (*list)[:len(*list):len(*list)]
	}
	return nil
}
