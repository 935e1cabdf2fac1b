package pacer

import (
	"slices"
	"testing"

	"spicepacer/spiceproto"
)

// However large a screen is, a message is booked for a bounded number of places.
func TestFairnessIsBounded(t *testing.T) {
	var f fairness
	f.resize(1<<14, 1<<13)
	for side := int32(1); side <= 1<<14; side *= 2 {
		visited := 0
		places := make([]uint64, f.count())
		f.each(&places, spiceproto.Rect{Right: side, Bottom: side}, func(*uint64) bool {
			visited++
			return true
		})
		if visited > maxPlaces {
			t.Errorf("a box of %d pixels is booked for %d places", side, visited)
		}
	}
}

// A place that changed all the time is still again once as many bytes as the horizon
// have been sent without it, however much it had, and not before.
func TestFairnessForgets(t *testing.T) {
	const horizon = 1 << 20
	box := spiceproto.Rect{Bottom: 10, Right: 10}
	var f fairness
	f.resize(640, 480)
	for range 100 {
		f.urgent(box, 1<<20, horizon)
	}
	f.wrote(horizon-1, 0)
	early := f
	early.due = slices.Clone(f.due)
	if early.urgent(box, 100, horizon) {
		t.Error("a place is still before the horizon")
	}
	f.wrote(1, 0)
	if !f.urgent(box, 100, horizon) {
		t.Error("a place is not still after the horizon")
	}
}
