package session

import (
	"sync"
	"time"
)

// limitLogPause is how long the log says nothing of refused connections after a
// line about one: a flood of them must not become a flood of lines.
const limitLogPause = time.Second

// limitLog thins out lines that strangers can cause at will. The zero value is
// ready.
type limitLog struct {
	mu      sync.Mutex
	next    time.Time
	skipped int
}

// allow tells whether a line may be written now, and how many were not since the
// last one.
func (l *limitLog) allow(now time.Time) (skipped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.next) {
		l.skipped++
		return 0, false
	}
	skipped, l.skipped = l.skipped, 0
	l.next = now.Add(limitLogPause)
	return skipped, true
}
