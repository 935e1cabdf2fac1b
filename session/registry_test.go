package session

import (
	"testing"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// session plays channels against a registry whose draws are given.
type sessionScript struct {
	*registry
	t     *testing.T
	draws []int
}

func newSessionScript(t *testing.T, percent int, draws ...int) *sessionScript {
	s := &sessionScript{registry: newRegistry(percent), t: t, draws: draws}
	s.draw = func(n int) int {
		if n != 100 || len(s.draws) == 0 {
			t.Fatalf("unexpected draw of %d", n)
		}
		d := s.draws[0]
		s.draws = s.draws[1:]
		return d
	}
	return s
}

// enter joins and expects the treatment.
func (s *sessionScript) enter(ref string, token authz.Secret, id uint32, passthrough bool) {
	s.t.Helper()
	if got := s.join(ref, token, spiceproto.LinkMess{ConnectionID: id}); got != passthrough {
		s.t.Errorf("%s: passthrough %v, want %v", ref, got, passthrough)
	}
}

// wantEmpty expects that nothing is remembered.
func (s *sessionScript) wantEmpty() {
	s.t.Helper()
	if len(s.sessions)+len(s.members)+len(s.draws) > 0 {
		s.t.Errorf("left: sessions %v, members %v, draws %v", s.sessions, s.members, s.draws)
	}
}

func TestChannelsFollowTheirMain(t *testing.T) {
	s := newSessionScript(t, 30, 29, 30)
	s.enter("main1", "t", 0, true)
	s.learnSession(&channel{ref: "main1"}, 7)
	s.enter("main2", "t", 0, false)
	s.learnSession(&channel{ref: "main2"}, 8)
	s.enter("display1", "t", 7, true)
	s.enter("display2", "t", 8, false)
	s.leave("main1")
	s.enter("cursor1", "t", 7, true)
	for _, ref := range []string{"display1", "cursor1", "main2", "display2", "display2", "never joined"} {
		s.leave(ref)
	}
	s.wantEmpty()
}

func TestAnotherTokenIsAnotherSession(t *testing.T) {
	s := newSessionScript(t, 50, 0, 99)
	s.enter("main", "t", 0, true)
	s.learnSession(&channel{ref: "main"}, 7)
	s.enter("stranger", "u", 7, false)
	s.leave("main")
	s.leave("stranger")
	s.wantEmpty()
}

func TestChannelsWithoutMainAgree(t *testing.T) {
	s := newSessionScript(t, 50, 0)
	s.enter("display", "t", 7, true)
	s.enter("second display", "t", 7, true)
	s.leave("display")
	s.leave("second display")
	s.wantEmpty()
}

func TestReusedSessionID(t *testing.T) {
	s := newSessionScript(t, 50, 0, 99)
	s.enter("old main", "t", 0, true)
	s.learnSession(&channel{ref: "old main"}, 7)
	s.enter("new main", "t", 0, false)
	s.learnSession(&channel{ref: "new main"}, 7)
	s.leave("old main")
	s.enter("display", "t", 7, false)
	s.learnSession(&channel{ref: "gone"}, 7)
	s.leave("new main")
	s.leave("display")
	s.wantEmpty()
}
