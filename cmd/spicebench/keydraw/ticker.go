package keydraw

import "time"

// ticker is an absolute schedule. It never skips: who is late catches up.
type ticker struct {
	next   time.Time
	period time.Duration // 0: never
}

// due says whether the next time has come, and if so moves on to the one after.
func (t *ticker) due(now time.Time) bool {
	if t.period == 0 || now.Before(t.next) {
		return false
	}
	t.next = t.next.Add(t.period)
	return true
}

// sooner is the smaller of limit and the time left until the next time.
func (t *ticker) sooner(limit time.Duration, now time.Time) time.Duration {
	if t.period == 0 {
		return limit
	}
	return min(limit, t.next.Sub(now))
}
