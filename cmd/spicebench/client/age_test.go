package client

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// at is a time some milliseconds into the test.
func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func TestAgeDistribution(t *testing.T) {
	type update struct{ region, ms int }
	tests := []struct {
		name    string
		regions int
		updates []update
		end     int
		want    Age
	}{
		{
			name: "no regions", regions: 0, end: 1000,
			want: Age{},
		},
		{
			name: "empty window", regions: 2, end: 0,
			want: Age{Regions: 2},
		},
		{
			name: "a region never updated ages through the whole window", regions: 1, end: 1000,
			want: Age{P50: ms(500), P95: ms(950), Max: ms(1000), Regions: 1},
		},
		{
			name: "even updates", regions: 1, end: 400,
			updates: []update{{0, 100}, {0, 200}, {0, 300}},
			want:    Age{P50: ms(50), P95: ms(95), Max: ms(100), Regions: 1, LeastUpdates: 3, MostUpdates: 3},
		},
		{
			name: "intervals open at both ends count", regions: 1, end: 1000,
			updates: []update{{0, 200}, {0, 400}},
			// Lengths 200, 200, 600: above 200 ms for 400 of 1000 ms; 50 ms are
			// above 550; 500 ms are above x where 1000-3x = 500.
			want: Age{P50: ms(500.0 / 3), P95: ms(550), Max: ms(600), Regions: 1, LeastUpdates: 2, MostUpdates: 2},
		},
		{
			name: "one starved region among lively ones", regions: 3, end: 1000,
			updates: []update{{0, 500}, {1, 500}},
			// Lengths 1000, 500 four times: 3000-5x = 1500 and, above 500,
			// 1000-x = 150.
			want: Age{P50: ms(300), P95: ms(850), Max: ms(1000), Regions: 3, LeastUpdates: 0, MostUpdates: 1},
		},
		{
			name: "several updates at one instant", regions: 1, end: 200,
			updates: []update{{0, 100}, {0, 100}, {0, 100}},
			want:    Age{P50: ms(50), P95: ms(95), Max: ms(100), Regions: 1, LeastUpdates: 3, MostUpdates: 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newAgeRecorder(tt.regions, at(0))
			for _, u := range tt.updates {
				r.updated(u.region, at(u.ms))
			}
			got := r.age(at(tt.end))
			for _, d := range []*time.Duration{&got.P50, &got.P95, &got.Max, &tt.want.P50, &tt.want.P95, &tt.want.Max} {
				*d = d.Round(time.Microsecond)
			}
			if got != tt.want {
				t.Errorf("age = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestAgeMayBeTakenWhileRecording(t *testing.T) {
	r := newAgeRecorder(1, at(0))
	r.updated(0, at(100))
	if got := r.age(at(400)).Max; got != ms(300) {
		t.Fatalf("max after 400 ms = %v, want 300ms", got)
	}
	r.updated(0, at(500))
	if got := r.age(at(500)).Max; got != ms(400) {
		t.Errorf("max after the update at 500 ms = %v, want 400ms: the first reading left its open interval behind", got)
	}
}

// TestAgeAgainstSampling reads the age of every region at every half tick, as a
// poller would, and compares.
func TestAgeAgainstSampling(t *testing.T) {
	const tick = time.Millisecond
	rapid.Check(t, func(t *rapid.T) {
		regions := rapid.IntRange(1, 5).Draw(t, "regions")
		length := rapid.IntRange(1, 300).Draw(t, "length")
		r := newAgeRecorder(regions, at(0))
		var ages []time.Duration
		for i := range regions {
			updates := rapid.SliceOfN(rapid.IntRange(0, length), 0, 20).Draw(t, "updates")
			slices.Sort(updates)
			for _, u := range updates {
				r.updated(i, at(u))
			}
			ages = append(ages, sampleAges(updates, length, tick)...)
		}
		slices.Sort(ages)
		got := r.age(at(length))
		for q, exact := range map[float64]time.Duration{0.5: got.P50, 0.95: got.P95} {
			// Sampling in the middle of each tick shifts an age by half a tick at
			// most, at the rank and at its neighbour.
			rank := q * float64(len(ages))
			low := ages[max(0, int(math.Floor(rank))-1)]
			high := ages[min(len(ages)-1, int(math.Ceil(rank)))]
			if exact < low-tick/2 || exact > high+tick/2 {
				t.Fatalf("quantile %v is %v, sampled between %v and %v", q, exact, low, high)
			}
		}
		if sampled := ages[len(ages)-1] + tick/2; got.Max != sampled {
			t.Fatalf("max is %v, sampled %v", got.Max, sampled)
		}
	})
}

// sampleAges reads a region's age in the middle of each tick of the window.
func sampleAges(updates []int, length int, tick time.Duration) []time.Duration {
	var ages []time.Duration
	last := 0
	for now := range length {
		for len(updates) > 0 && updates[0] <= now {
			last, updates = updates[0], updates[1:]
		}
		ages = append(ages, time.Duration(now-last)*tick+tick/2)
	}
	return ages
}

func TestAgeQuantileProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "gap"))
		}), 1, 50).Draw(t, "gaps")
		slices.Sort(gaps)
		slices.Reverse(gaps)
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		x := ageQuantile(gaps, q)
		if x < 0 || x > gaps[0] {
			t.Fatalf("quantile %v of %v is %v, outside of 0..%v", q, gaps, x, gaps[0])
		}
		var whole, below time.Duration
		for _, g := range gaps {
			whole += g
			below += min(g, x)
		}
		if diff := math.Abs(float64(below) - q*float64(whole)); diff > float64(len(gaps))+1e-9*float64(whole) {
			t.Fatalf("ages are below %v for %v of %v, want the share %v", x, below, whole, q)
		}
	})
}
