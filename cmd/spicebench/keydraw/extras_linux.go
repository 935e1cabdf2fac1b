package keydraw

import (
	"fmt"
	"time"
)

// extras are what the guest does for channels other than display.
type extras struct {
	pointer      *pointer
	moves, beeps ticker
	moveEvery    time.Duration
	beepEvery    time.Duration
	beeping      bool
}

func newExtras(k Knobs, d *display) (*extras, error) {
	e := &extras{beepEvery: k.Beep}
	if k.Cursor > 0 {
		e.moveEvery = time.Second / time.Duration(k.Cursor)
		var err error
		if e.pointer, err = d.newPointer(); err != nil {
			return nil, err
		}
	}
	if k.Agent {
		port, err := await(openAgentPort)
		if err != nil {
			return nil, err
		}
		go func() { fmt.Println(ErrorLine, (&agent{port: port}).run()) }()
	}
	return e, nil
}

// schedule sets the clocks going.
func (e *extras) schedule(now time.Time) {
	e.moves = ticker{now.Add(e.moveEvery), e.moveEvery}
	e.beeps = ticker{now.Add(e.beepEvery), e.beepEvery}
}

// sooner is the smaller of limit and the time until something is due.
func (e *extras) sooner(limit time.Duration, now time.Time) time.Duration {
	return e.moves.sooner(e.beeps.sooner(limit, now), now)
}

// step does what is due.
func (e *extras) step(now time.Time) error {
	if e.moves.due(now) {
		if err := e.pointer.move(); err != nil {
			return err
		}
	}
	if e.beeps.due(now) {
		e.beeping = !e.beeping
		return speak(e.beeping)
	}
	return nil
}
