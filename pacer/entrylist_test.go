package pacer

import (
	"math/rand/v2"
	"testing"
)

// Whatever is entered and taken out, from wherever, what is on top goes before all
// others.
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
		first := h.first()
		for _, e := range in {
			if e != first && goesBefore(e, first) {
				t.Fatalf("after %d steps %+v is not on top but %+v", n, e, first)
			}
		}
		if len(h) != len(in) {
			t.Fatalf("after %d steps there are %d of %d", n, len(h), len(in))
		}
	}
}
