package spicetest

import (
	"slices"
	"sort"
	"time"

	"spicepacer/spiceproto"
)

// View is what a client's user has seen: every update of every region, a region
// being the box of a draw. The zero value has seen nothing.
type View struct {
	Messages uint64
	Bytes    uint64
	updates  map[spiceproto.Rect][]Update
}

// Update is one draw to a region.
type Update struct {
	At time.Time
	// ID is the image's.
	ID uint64
}

func (v *View) draw(now time.Time, d spiceproto.DrawHead) {
	if v.updates == nil {
		v.updates = make(map[spiceproto.Rect][]Update)
	}
	v.updates[d.Box] = append(v.updates[d.Box], Update{now, d.Image.ID})
}

// Updates returns the draws to box, oldest first.
func (v *View) Updates(box spiceproto.Rect) []Update { return v.updates[box] }

// Shows returns the image the region shows, 0 if it was never drawn.
func (v *View) Shows(box spiceproto.Rect) uint64 {
	u := v.updates[box]
	if len(u) == 0 {
		return 0
	}
	return u[len(u)-1].ID
}

// Age tells how old the picture of some regions was, over the regions and over
// the time from start to end: time since the last update, stretches still open
// at the end included, and those open at the start counted from the start.
type Age struct {
	P50, P95, Max time.Duration
	// Least and Most are the updates of the least and the most updated region.
	Least, Most int
}

// Age measures the given regions.
func (v *View) Age(boxes []spiceproto.Rect, start, end time.Time) Age {
	var age Age
	var gaps []time.Duration
	for i, box := range boxes {
		last, n := start, 0
		for _, u := range v.updates[box] {
			if u.At.Before(start) || u.At.After(end) {
				continue
			}
			gaps = append(gaps, u.At.Sub(last))
			last = u.At
			n++
		}
		gaps = append(gaps, end.Sub(last))
		if i == 0 {
			age.Least = n
		}
		age.Least, age.Most = min(age.Least, n), max(age.Most, n)
	}
	if len(gaps) == 0 {
		return age
	}
	age.P50, age.P95, age.Max = ageQuantile(gaps, 0.5), ageQuantile(gaps, 0.95), slices.Max(gaps)
	return age
}

// ageQuantile returns the age not exceeded during a share q of all the time in
// gaps. Within a gap the age rises from 0 to the gap's length, so the time
// spent above a is the sum of what exceeds a.
func ageQuantile(gaps []time.Duration, q float64) time.Duration {
	var total time.Duration
	for _, g := range gaps {
		total += g
	}
	above := func(a time.Duration) float64 {
		var t time.Duration
		for _, g := range gaps {
			t += max(g-a, 0)
		}
		return float64(t)
	}
	longest := int(slices.Max(gaps) / time.Microsecond)
	us := sort.Search(longest, func(us int) bool {
		return above(time.Duration(us)*time.Microsecond) <= (1-q)*float64(total)
	})
	return time.Duration(us) * time.Microsecond
}
