package pacer

import "time"

const (
	// firstAnswer and firstDeviation are what an answer takes before one was
	// seen: QEMU collects what the guest has drawn once each refresh.
	firstAnswer    = refresh
	firstDeviation = refresh / 4
	// answerGain and deviationGain are the weights of a new answer in the mean
	// time and in its deviation (RFC 6298, 2.3).
	answerGain    = 8
	deviationGain = 4
	// worthWaiting is how many times as long as the wait for an answer a message
	// must take on the link, for the wait to cost less than it gains.
	worthWaiting = 4
	// idleShare is the part of the time for which the link may wait, as its
	// reciprocal, and idleBurst how much of that is saved up: a key that repeats
	// without an answer costs no more.
	idleShare = 64
	idleBurst = 100 * time.Millisecond
)

// anticipation keeps the link free for an answer that is about to come.
//
// A message that has been begun must be sent to its end: on a 2 Mbit/s link a
// column of an animation takes 0.2 s. The answer to a key press comes 10 to 50 ms
// after it, so a long message begun in between delays it by most of its own
// length, while the link, which has a standing queue to send, hardly runs dry if
// nothing is begun. A disk scheduler waits in the same way for the next request
// of a process that reads on (anticipatory scheduling, Iyer and Druschel 2001).
type anticipation struct {
	mean, deviation time.Duration // of the time answers took; 0: none was seen

	credit time.Duration // for which the link may wait
	booked time.Time     // when credit was brought up to date; zero: never
	waits  bool          // the link has waited from then on
}

// answered books the time that an answer took.
func (a *anticipation) answered(took time.Duration) {
	if a.mean == 0 {
		a.mean, a.deviation = firstAnswer, firstDeviation
	}
	off := took - a.mean
	a.mean += off / answerGain
	a.deviation += (max(off, -off) - a.deviation) / deviationGain
}

// window is the time within which an answer comes nearly always.
func (a *anticipation) window() time.Duration {
	if a.mean == 0 {
		return firstAnswer + 2*firstDeviation
	}
	return a.mean + 2*a.deviation
}

// book brings the credit up to date.
func (a *anticipation) book(now time.Time) {
	switch passed := now.Sub(a.booked); {
	case a.booked.IsZero():
		a.credit = idleBurst
	case a.waits:
		a.credit -= passed
	default:
		a.credit = min(a.credit+passed/idleShare, idleBurst)
	}
	a.booked = now
}

// Anticipates tells that no long message should be begun together with the end of
// the one before it, because an answer is about to come: Hesitate is to be asked
// between the two.
func (c *Channel) Anticipates(now time.Time) bool { return c.anticipated(now) > 0 }

// Hesitate returns for how long the writer, between two messages, should wait for
// the answer to an input event before it begins the next, 0 for not at all. It is
// asked again whenever something has arrived or the time is over, and the link
// counts as waiting until it is.
func (c *Channel) Hesitate(now time.Time) time.Duration {
	a := &c.anticipation
	a.book(now)
	wait := c.anticipated(now)
	if wait > a.credit {
		wait = 0
	}
	a.waits = wait > 0
	return wait
}

// anticipated is the time until the awaited answer should have come, 0 if none is
// awaited or the next message delays it by little.
func (c *Channel) anticipated(now time.Time) time.Duration {
	if !c.answer.awaited || !c.link.Full() {
		return 0
	}
	window := c.anticipation.window()
	onLink := time.Duration(c.average / c.link.Rate() * float64(time.Second))
	if window*worthWaiting > onLink {
		return 0
	}
	return max(window-now.Sub(c.answer.since), 0)
}
