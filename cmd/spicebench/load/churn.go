package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// stayTime is how long a channel of a churn stays up.
	stayTime = time.Second
	// maxPending bounds the connections of a churn at a time. When that many
	// are open, new ones begin later than they should.
	maxPending = 512
	// churnClients are the addresses of a churn's clients, behind the sessions'.
	churnClients = 4000
	// keptErrors is how many of the unexpected outcomes are told.
	keptErrors = 5
)

// churn connects at a rate, and counts what comes of it.
type churn struct {
	viewers
	rate        float64 // connections a second
	firstClient int

	mu      sync.Mutex // guards the rest
	planned map[stage]int
	odd     map[stage]int // that did not go as planned
	errs    []error
	took    []time.Duration // from begin to up
	decided time.Time       // when the last outcome was known
}

// churned is what a churn came to.
type churned struct {
	connects int
	// elapsed is from the first begin to the last outcome.
	elapsed time.Duration
	ended   time.Time // when the last connection was
	planned map[stage]int
	odd     map[stage]int
	errs    []error
	took    []time.Duration // sorted
}

// run connects for a time and waits for all connections to end.
func (c *churn) run(ctx context.Context, d time.Duration) (churned, error) {
	c.planned, c.odd, c.took, c.errs = make(map[stage]int), make(map[stage]int), nil, nil
	n := int(c.rate * d.Seconds())
	began := time.Now()
	pending := make(chan struct{}, maxPending)
	var wg sync.WaitGroup
	for i := range n {
		due := began.Add(time.Duration(float64(i) / c.rate * float64(time.Second)))
		if !sleepUntil(ctx, due) {
			break
		}
		pending <- struct{}{}
		wg.Go(func() {
			defer func() { <-pending }()
			c.connect(ctx, i)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return churned{}, context.Cause(ctx)
	}
	slices.Sort(c.took)
	return churned{n, c.decided.Sub(began), time.Now(), c.planned, c.odd, c.errs, c.took}, nil
}

// connect makes connection number i.
func (c *churn) connect(ctx context.Context, i int) {
	s := course[i%len(course)]
	began := time.Now()
	err := c.attempt(ctx, c.firstClient+i%churnClients, s, stayTime, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.decided = time.Now()
		if s == stageNone {
			c.took = append(c.took, c.decided.Sub(began))
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planned[s]++
	if err == nil {
		return
	}
	c.odd[s]++
	if len(c.errs) < keptErrors {
		c.errs = append(c.errs, fmt.Errorf("%v: %w", s, err))
	}
}

// sleepUntil tells whether ctx still runs then.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
