package ab

import "slices"

// percentile interpolates linearly between the sorted values at rank (n-1)*p/100
// (kerbside-rig.md, section 7). It is 0 for none.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := float64(len(sorted)-1) * p / 100
	low := int(rank)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (rank-float64(low))*(sorted[high]-sorted[low])
}

func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
