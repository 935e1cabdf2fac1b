package client

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Age is the distribution of the time since a region of the screen was last
// updated, over all regions and the whole measuring window. Between updates an
// age grows linearly, so the distribution follows exactly from the lengths of
// the intervals between updates; nothing is polled. The interval in front of a
// region's first update begins with the window, the one behind its last update
// ends with it.
type Age struct {
	P50, P95, Max time.Duration

	Regions      int // regions watched
	LeastUpdates int // updates of the region updated least
	MostUpdates  int // updates of the region updated most
}

// ageRecorder collects the intervals between the updates of each region. It
// keeps eight bytes an update, so that the quantiles stay exact: ten minutes of
// 20 regions at 30 updates a second are 3 MB.
type ageRecorder struct {
	last    []time.Time // of each region, the window's start before the first update
	updates []int
	gaps    []time.Duration
}

// newAgeRecorder starts the window of n regions.
func newAgeRecorder(n int, start time.Time) *ageRecorder {
	return &ageRecorder{last: slices.Repeat([]time.Time{start}, n), updates: make([]int, n)}
}

// updated notes that region i was updated at the given time, which must not lie
// before an earlier update of that region.
func (r *ageRecorder) updated(i int, at time.Time) {
	r.gaps = append(r.gaps, at.Sub(r.last[i]))
	r.last[i] = at
	r.updates[i]++
}

// age returns the distribution of the window that ends at end; the recorder may
// go on recording.
func (r *ageRecorder) age(end time.Time) Age {
	if len(r.last) == 0 {
		return Age{}
	}
	gaps := slices.Clone(r.gaps)
	for _, last := range r.last {
		gaps = append(gaps, end.Sub(last))
	}
	slices.SortFunc(gaps, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	return Age{
		P50:          ageQuantile(gaps, 0.50),
		P95:          ageQuantile(gaps, 0.95),
		Max:          gaps[0],
		Regions:      len(r.last),
		LeastUpdates: slices.Min(r.updates),
		MostUpdates:  slices.Max(r.updates),
	}
}

// ageQuantile returns the age which is not exceeded for the share q of the time
// that the gaps, longest first, cover together.
//
// A gap of length g is older than x for g-x of its time. The time above x is
// therefore sum(g)-k*x over the k gaps longer than x, a falling line between any
// two neighbouring lengths; the quantile is where it meets (1-q) of the whole.
func ageQuantile(gaps []time.Duration, q float64) time.Duration {
	var whole time.Duration
	for _, g := range gaps {
		whole += g
	}
	above := (1 - q) * float64(whole)
	var sum time.Duration
	for k, g := range gaps {
		sum += g
		x := time.Duration(math.Round((float64(sum) - above) / float64(k+1)))
		if k+1 == len(gaps) || x >= gaps[k+1] {
			return max(x, 0)
		}
	}
	return 0
}
