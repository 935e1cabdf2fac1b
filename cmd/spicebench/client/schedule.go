package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// keyHold is the time a key stays down (kerbside-rig.md, section 5).
const keyHold = 50 * time.Millisecond

// ErrTooManyTimeouts ends a run in which more than max(5, presses/4) key presses
// had no visible effect in time.
var ErrTooManyTimeouts = errors.New("too many key presses without a draw")

// ErrProbe ends a run whose unmeasured first press had no visible effect in time:
// the guest is not listening or the key box is elsewhere.
var ErrProbe = errors.New("the probe key press had no draw")

// action is what the schedule wants done now.
type action uint8

const (
	wait    action = iota // nothing before the returned time
	keyDown               // send the key's make code
	keyUp                 // send its break code
	missed                // nothing; a press has just timed out
	finish                // the run is over
)

// phase is where a schedule stands; until says when it is left, if no draw ends it
// earlier.
type phase uint8

const (
	warming  phase = iota // the client has just connected
	pausing               // between presses, for a random time
	holding               // the key is down, drawn or not
	awaiting              // the key is up, its draw has not come
	settling              // a press timed out; its late draw must not count for the next
	watching              // all presses are made
)

// schedule decides when the key is pressed and when the run ends: a warm-up, a
// probe press that is not measured, then the presses with exactly one outstanding
// and a random pause between them, so that they do not lock to QEMU's 30 ms
// display timer. The measuring window begins with the answer to the probe, or
// after the warm-up where no presses are wanted. It is pure: the caller brings the
// time and does what next says.
type schedule struct {
	presses            int           // to be measured; 0: only watch
	interval           time.Duration // least time from a press to the pause before the next
	pauseMin, pauseMax time.Duration // random pause between presses
	timeout            time.Duration // for a draw after a press
	duration           time.Duration // of the measuring window; 0: until all presses are made
	rand               *rand.Rand

	phase   phase
	until   time.Time
	pressed time.Time // last press
	drawn   bool      // its draw has come
	probed  bool      // the probe was answered; presses are measured from now on
	begun   time.Time // start of the measuring window; zero before

	latencies []time.Duration
	timeouts  int
}

// start begins the warm-up.
func (s *schedule) start(now time.Time, warmup time.Duration) {
	s.phase, s.until = warming, now.Add(warmup)
}

// draw notes that a draw over the key box was completely received at the given
// time. The first since a press answers it; if the press was measured, its latency
// is returned.
func (s *schedule) draw(at time.Time) (latency time.Duration, measured bool) {
	outstanding := (s.phase == holding || s.phase == awaiting) && !s.drawn
	if !outstanding || at.Before(s.pressed) {
		return 0, false
	}
	s.drawn = true
	if !s.probed {
		return 0, false
	}
	latency = at.Sub(s.pressed)
	s.latencies = append(s.latencies, latency)
	return latency, true
}

// next returns what to do now. It is to be asked again at once or, after wait, at
// the returned time or the next draw.
func (s *schedule) next(now time.Time) (action, time.Time, error) {
	if s.expired(now) {
		return finish, time.Time{}, nil
	}
	switch s.phase {
	case warming, pausing:
		if now.Before(s.until) {
			return wait, s.wake(), nil
		}
		return s.press(now)
	case holding:
		if now.Before(s.until) {
			return wait, s.until, nil
		}
		s.phase, s.until = awaiting, s.pressed.Add(s.timeout)
		return keyUp, time.Time{}, nil
	case awaiting:
		return s.await(now)
	case settling:
		if now.Before(s.until) {
			return wait, s.wake(), nil
		}
		return s.conclude(now)
	default:
		return wait, s.wake(), nil
	}
}

// press sends the key down, unless only watching is wanted.
func (s *schedule) press(now time.Time) (action, time.Time, error) {
	if s.presses == 0 {
		return s.watch(now)
	}
	s.phase, s.until, s.pressed, s.drawn = holding, now.Add(keyHold), now, false
	return keyDown, time.Time{}, nil
}

// await looks whether the outstanding press was answered or has timed out.
func (s *schedule) await(now time.Time) (action, time.Time, error) {
	if s.drawn {
		return s.conclude(now)
	}
	if now.Before(s.until) {
		return wait, s.wake(), nil
	}
	if !s.probed {
		return finish, time.Time{}, fmt.Errorf("%w within %v", ErrProbe, s.timeout)
	}
	s.timeouts++
	if s.timeouts > max(5, s.presses/4) {
		return finish, time.Time{}, fmt.Errorf("%w: %d within %v each, %d answered", ErrTooManyTimeouts, s.timeouts, s.timeout, len(s.latencies))
	}
	s.phase, s.until = settling, now.Add(s.timeout)
	return missed, time.Time{}, nil
}

// conclude ends a press and begins the pause, the window or the end behind it.
func (s *schedule) conclude(now time.Time) (action, time.Time, error) {
	if !s.probed {
		s.probed, s.begun = true, now
	}
	if len(s.latencies) >= s.presses {
		return s.watch(now)
	}
	pause := s.pauseMin + time.Duration(s.rand.Int64N(int64(s.pauseMax-s.pauseMin)+1))
	from := now
	if due := s.pressed.Add(s.interval); due.After(now) {
		from = due
	}
	s.phase, s.until = pausing, from.Add(pause)
	return wait, s.wake(), nil
}

// watch makes no more presses and waits for the end of the window.
func (s *schedule) watch(now time.Time) (action, time.Time, error) {
	if s.begun.IsZero() {
		s.begun = now
	}
	if s.duration == 0 {
		return finish, time.Time{}, nil
	}
	s.phase, s.until = watching, s.begun.Add(s.duration)
	return wait, s.wake(), nil
}

// expired reports whether the window has its full duration. A key that is down
// is released first.
func (s *schedule) expired(now time.Time) bool {
	return s.phase != holding && s.duration > 0 && !s.begun.IsZero() && !now.Before(s.begun.Add(s.duration))
}

// wake is the end of the phase, or of the window if that comes first.
func (s *schedule) wake() time.Time {
	if s.duration == 0 || s.begun.IsZero() {
		return s.until
	}
	if end := s.begun.Add(s.duration); end.Before(s.until) {
		return end
	}
	return s.until
}
