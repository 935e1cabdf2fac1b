package pacer_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

const (
	// longMessage takes 0.4 s on the link of saturate, shortMessage 10 ms.
	longMessage  = sweepRate * 2 / 5
	shortMessage = sweepRate / 100
	// firstWindow is how long an answer is waited for before one was seen.
	firstWindow = 45 * time.Millisecond
)

// newAwaitingRig returns a controller whose link is full of messages of the given
// size, and an input event that has just come.
func newAwaitingRig(t *testing.T, size int, change func(*pacer.Config)) *channelRig {
	r := newRig(t, pacer.Adaptive, func(c *pacer.Config) {
		c.Reorder, c.QueueBytes = true, 1<<30
		if change != nil {
			change(c)
		}
	})
	for k := range int32(40) {
		box := spiceproto.Rect{Left: 32 * k, Right: 32*k + 32, Bottom: 32}
		r.Arrived(pacer.Message{
			Op: spiceproto.MsgDisplayDrawCopy, Size: uint32(size), Draw: true, Box: box,
			Effect: spiceproto.Effect{Doubt: spiceproto.DoubtNone, Box: box, Overwrites: true},
		})
		r.store(size)
	}
	r.saturate()
	r.Input(r.now)
	return r
}

func TestHesitate(t *testing.T) {
	for name, tt := range map[string]struct {
		size   int
		change func(*pacer.Config)
		then   func(*channelRig)
		want   time.Duration
	}{
		"an answer is due":           {size: longMessage, want: firstWindow},
		"part of the time is over":   {size: longMessage, then: func(r *channelRig) { r.advance(30 * time.Millisecond) }, want: 15 * time.Millisecond},
		"all of the time is over":    {size: longMessage, then: func(r *channelRig) { r.advance(firstWindow) }},
		"messages are short":         {size: shortMessage},
		"the answer has come":        {size: longMessage, then: func(r *channelRig) { r.Answered(r.now) }},
		"the link is not full":       {size: longMessage, then: func(r *channelRig) { r.Drained() }},
		"the queue keeps its order":  {size: longMessage, then: func(r *channelRig) { r.KeepArrivalOrder() }},
		"the queue never reordered":  {size: longMessage, change: func(c *pacer.Config) { c.Reorder = false }},
		"a second event came behind": {size: longMessage, then: func(r *channelRig) { r.advance(40 * time.Millisecond); r.Input(r.now) }, want: 5 * time.Millisecond},
		"no event for long": {size: longMessage, then: func(r *channelRig) {
			r.advance(time.Second)
			r.Input(r.now)
		}, want: firstWindow},
	} {
		t.Run(name, func(t *testing.T) {
			r := newAwaitingRig(t, tt.size, tt.change)
			if tt.then != nil {
				tt.then(r)
			}
			if got := r.Anticipates(r.now); got != (tt.want > 0) {
				t.Errorf("Anticipates returned %t", got)
			}
			if got := r.Hesitate(r.now); got != tt.want {
				t.Errorf("Hesitate returned %v, want %v", got, tt.want)
			}
		})
	}
}

// The wait follows the time in which answers come.
func TestHesitateLearns(t *testing.T) {
	for _, took := range []time.Duration{5 * time.Millisecond, 60 * time.Millisecond} {
		r := newAwaitingRig(t, longMessage, nil)
		for range 100 {
			r.advance(took)
			r.Answered(r.now)
			r.advance(time.Second)
			r.Input(r.now)
		}
		if got := r.Hesitate(r.now); got < took || got > took+took/4 {
			t.Errorf("answers that took %v are waited for for %v", took, got)
		}
	}
}

// Answers that come late are not waited for: a message would take less.
func TestHesitateForSlowAnswers(t *testing.T) {
	r := newAwaitingRig(t, longMessage, nil)
	for range 100 {
		r.advance(200 * time.Millisecond)
		r.Answered(r.now)
		r.advance(time.Second)
		r.Input(r.now)
	}
	if got := r.Hesitate(r.now); got != 0 {
		t.Errorf("waits %v for answers that take 200 ms, beside messages of 400 ms", got)
	}
}

// Whatever the user does, the link waits for no more than a 64th of the time, and
// a tenth of a second more.
func TestHesitationIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newAwaitingRig(t, longMessage, nil)
		began, waited := r.now, time.Duration(0)
		answers := rapid.SliceOfN(rapid.Bool(), 1000, 1000).Draw(rt, "answers")
		for _, answer := range answers {
			r.Input(r.now)
			wait := r.Hesitate(r.now)
			waited += wait
			r.advance(max(wait, time.Millisecond))
			if answer {
				r.Answered(r.now)
			}
		}
		if most := r.now.Sub(began)/64 + 100*time.Millisecond; waited > most {
			rt.Fatalf("the link waited %v of %v", waited, r.now.Sub(began))
		}
		if waited == 0 {
			rt.Fatal("the link never waited")
		}
	})
}
