package pacer

import (
	"math/rand/v2"
	"testing"
)

// Whatever is entered and taken out, from wherever, each entry goes before those
// below it.
func TestEntryHeap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h entryHeap
	var in []*Entry
	for n := range 5000 {
		if len(in) == 0 || random.IntN(20) < 11 {
			e := &Entry{seq: uint64(n), place: random.Uint64N(50), urgent: random.IntN(4) == 0}
			in = append(in, e)
			h.push(e)
		} else {
			i := random.IntN(len(in))
			h.remove(in[i])
			h.remove(in[i]) // once more changes nothing
			in[i] = in[len(in)-1]
			in = in[:len(in)-1]
		}
		for i := 1; i < len(h); i++ {
			if goesBefore(h[i], h[(i-1)/2]) {
				t.Fatalf("after %d steps number %d is above one that goes before it", n, (i-1)/2)
			}
		}
		if len(h) != len(in) {
			t.Fatalf("after %d steps there are %d of %d", n, len(h), len(in))
		}
	}
}
