package kerbside

import (
	"math/rand/v2"
	"time"
)

// pause grows from the shortest to the longest by doubling. A random half of it
// keeps the nodes of a cluster from coming back all at once.
type pause struct {
	shortest, longest time.Duration
	// attempts counts the pauses since the start or the last reset.
	attempts int
	current  time.Duration
}

func (p *pause) reset() { p.attempts, p.current = 0, 0 }

// next returns between half and all of the pause that is due.
func (p *pause) next() time.Duration {
	p.attempts++
	p.current = min(max(2*p.current, p.shortest), p.longest)
	half := p.current / 2
	return half + rand.N(p.current-half+1)
}
