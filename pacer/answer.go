package pacer

import "time"

// answerWithin is how long after an input event its answer is awaited: a guest
// that takes longer draws it with its next frame, and a sweep is then as soon.
const answerWithin = 300 * time.Millisecond

// answer is what the user waits for after an input event. It is somewhere in the
// server's pipe, behind a sweep of updates that are not wanted first. So the
// server runs free until it has come: what comes with it takes the place of what
// is queued, and the answer goes before that.
type answer struct {
	awaited bool
	since   time.Time // the event, the oldest of several
	until   time.Time
}

func (a *answer) expire(now time.Time) {
	if a.awaited && !now.Before(a.until) {
		a.awaited = false
	}
}

// Input tells of an event that the user may expect an answer to: a key, a mouse
// button. Where the queue keeps arrival order nothing follows from it, since the
// answer would only stand behind more.
func (c *Channel) Input(now time.Time) {
	if !c.sorts() {
		return
	}
	c.answer.expire(now)
	if !c.answer.awaited {
		c.answer = answer{awaited: true, since: now}
	}
	c.answer.until = now.Add(answerWithin)
	c.valve &^= valveSweep
}

// Answered tells that an urgent message has arrived.
func (c *Channel) Answered(now time.Time) {
	if c.answer.awaited {
		c.anticipation.answered(now.Sub(c.answer.since))
	}
	c.answer.awaited = false
}
