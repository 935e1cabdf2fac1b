package pacer

import (
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
