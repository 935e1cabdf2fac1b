package client

import (
	"encoding/json"
	"slices"
	"time"
)

// Result is what a run measured. In JSON every time is a number of milliseconds.
type Result struct {
	// Latencies are the times from a key press to its draw, in order.
	Latencies []time.Duration `json:"-"`
	// Timeouts counts the presses without a draw in time. A press that is outstanding
	// at the end of the window counts for neither.
	Timeouts int `json:"timeouts"`

	// Elapsed is the length of the measuring window, which begins with the answer
	// to the probe press. Bytes, Messages, Images and Age belong to it. Bytes are
	// those of SPICE, before encryption, on the display channel.
	Elapsed  time.Duration `json:"-"`
	Bytes    uint64        `json:"bytes"`
	Messages uint64        `json:"messages"`
	// Images tallies what painted, by image type; video frames and draws without an
	// image, or with it behind a long clip list, go by the name of their message.
	Images map[string]Tally `json:"images"`
	Age    Age              `json:"age"`

	// Window is W of the display channel's SET_ACK, ACKs the number sent there
	// since it was linked.
	Window uint32 `json:"window"`
	ACKs   uint64 `json:"acks"`

	// Seed repeats the pauses of the run.
	Seed uint64 `json:"seed"`
}

// Tally is a number of messages, their bytes, headers included, and the pixels in
// their boxes.
type Tally struct {
	Count  uint64 `json:"count"`
	Bytes  uint64 `json:"bytes"`
	Pixels uint64 `json:"pixels,omitempty"`
}

// Plus returns the sum of both.
func (t Tally) Plus(o Tally) Tally {
	return Tally{t.Count + o.Count, t.Bytes + o.Bytes, t.Pixels + o.Pixels}
}

// BytesPerPixel is 0 where nothing was painted.
func (t Tally) BytesPerPixel() float64 {
	if t.Pixels == 0 {
		return 0
	}
	return float64(t.Bytes) / float64(t.Pixels)
}

// Painted is the sum over all images.
func (r Result) Painted() (sum Tally) {
	for _, t := range r.Images {
		sum = sum.Plus(t)
	}
	return sum
}

// Mbit returns the display channel's throughput in the window, in Mbit/s.
func (r Result) Mbit() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Bytes) * 8 / r.Elapsed.Seconds() / 1e6
}

// Percentile interpolates linearly between the sorted durations at rank
// (n-1)*p/100, p from 0 to 100 (kerbside-rig.md, section 7). It is 0 for none.
func Percentile(durations []time.Duration, p float64) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(durations))
	rank := float64(len(sorted)-1) * p / 100
	low := int(rank)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + time.Duration((rank-float64(low))*float64(sorted[high]-sorted[low]))
}

// millis is a duration as JSON carries it.
type millis time.Duration

func (m millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(m) / float64(time.Millisecond))
}

func (m *millis) UnmarshalJSON(b []byte) error {
	var f float64
	err := json.Unmarshal(b, &f)
	*m = millis(f * float64(time.Millisecond))
	return err
}

// plainResult has the fields of Result without its methods, and so without
// their recursion.
type plainResult Result

// resultJSON adds the times to the other fields.
type resultJSON struct {
	Latencies []millis `json:"latencies_ms"`
	P50       millis   `json:"latency_p50_ms"`
	P95       millis   `json:"latency_p95_ms"`
	Elapsed   millis   `json:"elapsed_ms"`
	Mbit      float64  `json:"mbit_per_s"`
	plainResult
}

// MarshalJSON adds the median and the 95th percentile of the latencies and the
// throughput.
func (r Result) MarshalJSON() ([]byte, error) {
	j := resultJSON{
		Latencies:   []millis{},
		P50:         millis(Percentile(r.Latencies, 50)),
		P95:         millis(Percentile(r.Latencies, 95)),
		Elapsed:     millis(r.Elapsed),
		Mbit:        r.Mbit(),
		plainResult: plainResult(r),
	}
	for _, l := range r.Latencies {
		j.Latencies = append(j.Latencies, millis(l))
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Result) UnmarshalJSON(b []byte) error {
	var j resultJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*r = Result(j.plainResult)
	r.Elapsed = time.Duration(j.Elapsed)
	for _, l := range j.Latencies {
		r.Latencies = append(r.Latencies, time.Duration(l))
	}
	return nil
}

// ageJSON is Age with its times in milliseconds.
type ageJSON struct {
	P50          millis `json:"p50_ms"`
	P95          millis `json:"p95_ms"`
	Max          millis `json:"max_ms"`
	Regions      int    `json:"regions"`
	LeastUpdates int    `json:"least_updates"`
	MostUpdates  int    `json:"most_updates"`
}

// MarshalJSON writes the times in milliseconds.
func (a Age) MarshalJSON() ([]byte, error) {
	return json.Marshal(ageJSON{millis(a.P50), millis(a.P95), millis(a.Max), a.Regions, a.LeastUpdates, a.MostUpdates})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Age) UnmarshalJSON(b []byte) error {
	var j ageJSON
	err := json.Unmarshal(b, &j)
	*a = Age{time.Duration(j.P50), time.Duration(j.P95), time.Duration(j.Max), j.Regions, j.LeastUpdates, j.MostUpdates}
	return err
}
