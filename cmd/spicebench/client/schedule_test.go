package client

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// event is something a schedule wanted done.
type event struct {
	what action
	ms   int
}

// guest plays the screen for a schedule: answer returns after how many
// milliseconds press n, the probe being 0, is drawn; below 0 it is not.
type guest struct {
	answer func(n int) int
	events []event
	ends   time.Time
}

// play runs a schedule to its end on a clock that jumps from event to event.
func (g *guest) play(s *schedule, warmup time.Duration) error {
	now := at(0)
	s.start(now, warmup)
	var draws []time.Time
	presses := 0
	for {
		act, until, err := s.next(now)
		if act != wait {
			g.events = append(g.events, event{act, int(now.Sub(epoch).Milliseconds())})
		}
		switch act {
		case keyDown:
			if ms := g.answer(presses); ms >= 0 {
				draws = append(draws, now.Add(time.Duration(ms)*time.Millisecond))
				slices.SortFunc(draws, time.Time.Compare) // late ones may be overtaken
			}
			presses++
		case finish:
			g.ends = now
			return err
		case wait:
			now = until
			if len(draws) > 0 && !draws[0].After(until) {
				now = draws[0]
				s.draw(now)
				draws = draws[1:]
			}
		}
	}
}

// newSchedule has the rig's times but a fixed pause of 400 ms.
func newSchedule(presses int) *schedule {
	return &schedule{
		presses:  presses,
		pauseMin: ms(400), pauseMax: ms(400),
		timeout: 15 * time.Second,
		rand:    rand.New(rand.NewPCG(1, 0)),
	}
}

func always(ms int) func(int) int { return func(int) int { return ms } }

func wantEvents(t *testing.T, got, want []event) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("event %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestScheduleMeasuresAfterTheProbe(t *testing.T) {
	s, g := newSchedule(2), guest{answer: func(n int) int { return 100 + n }}
	if err := g.play(s, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, g.events, []event{
		{keyDown, 5000}, {keyUp, 5050}, // the probe, drawn at 5100
		{keyDown, 5500}, {keyUp, 5550}, // drawn at 5601
		{keyDown, 6001}, {keyUp, 6051}, // drawn at 6103
		{finish, 6103},
	})
	if len(s.latencies) != 2 || s.latencies[0] != ms(101) || s.latencies[1] != ms(102) {
		t.Errorf("latencies %v, want 101 and 102 ms: the probe does not count", s.latencies)
	}
	if !s.begun.Equal(at(5100)) {
		t.Errorf("window begins at %v, want with the answer to the probe", s.begun.Sub(epoch))
	}
}

func TestScheduleHoldsTheKeyEvenWhenItIsDrawnAtOnce(t *testing.T) {
	s, g := newSchedule(1), guest{answer: always(3)}
	if err := g.play(s, 0); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, g.events, []event{
		{keyDown, 0}, {keyUp, 50},
		{keyDown, 450}, {keyUp, 500},
		{finish, 500},
	})
	if s.latencies[0] != ms(3) {
		t.Errorf("latency %v, want 3ms", s.latencies[0])
	}
}

func TestScheduleLateDrawIsNotCredited(t *testing.T) {
	// Press 1 is drawn during the second time-out behind it.
	s, g := newSchedule(1), guest{answer: func(n int) int { return []int{20, 16000, 30}[n] }}
	if err := g.play(s, 0); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, g.events, []event{
		{keyDown, 0}, {keyUp, 50},
		{keyDown, 450}, {keyUp, 500}, {missed, 15450},
		{keyDown, 30850}, {keyUp, 30900}, // another time-out and the pause later
		{finish, 30900},
	})
	if s.timeouts != 1 || len(s.latencies) != 1 || s.latencies[0] != ms(30) {
		t.Errorf("%d time-outs, latencies %v; want 1 and 30 ms", s.timeouts, s.latencies)
	}
}

func TestScheduleIgnoresDrawsBeforeThePress(t *testing.T) {
	s := newSchedule(1)
	s.start(at(0), 0)
	if act, _, _ := s.next(at(10)); act != keyDown {
		t.Fatalf("first action %v, want the probe press", act)
	}
	s.draw(at(9)) // stamped before the press, told after it
	if s.drawn {
		t.Error("a draw received before the press answered it")
	}
	s.draw(at(10))
	if !s.drawn {
		t.Error("a draw received at the time of the press did not answer it")
	}
}

func TestScheduleSecondDrawDoesNotCount(t *testing.T) {
	s, g := newSchedule(1), guest{answer: always(20)}
	if err := g.play(s, 0); err != nil {
		t.Fatal(err)
	}
	if _, measured := s.draw(at(600)); measured || len(s.latencies) != 1 {
		t.Errorf("latencies %v after a second draw, want one", s.latencies)
	}
}

func TestScheduleGivesUp(t *testing.T) {
	tests := []struct {
		name     string
		presses  int
		answer   func(n int) int
		want     error
		timeouts int
	}{
		{"silent probe", 40, always(-1), ErrProbe, 0},
		{"few presses allow five", 8, func(n int) int { return -n }, ErrTooManyTimeouts, 6},
		{"many presses allow a quarter", 40, func(n int) int { return -n }, ErrTooManyTimeouts, 11},
		{"five silent ones of eight pass", 8, func(n int) int {
			if 1 <= n && n <= 5 {
				return -1
			}
			return 10
		}, nil, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, g := newSchedule(tt.presses), guest{answer: tt.answer}
			if err := g.play(s, 0); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if s.timeouts != tt.timeouts {
				t.Errorf("%d time-outs, want %d", s.timeouts, tt.timeouts)
			}
		})
	}
}

func TestScheduleOnlyWatches(t *testing.T) {
	s, g := newSchedule(0), guest{answer: always(10)}
	s.duration = 10 * time.Second
	if err := g.play(s, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, g.events, []event{{finish, 12000}})
	if !s.begun.Equal(at(2000)) {
		t.Errorf("window begins %v after the start, want after the warm-up", s.begun.Sub(epoch))
	}
}

func TestScheduleWatchesOnWhenAllPressesAreMade(t *testing.T) {
	s, g := newSchedule(1), guest{answer: always(20)}
	s.duration = time.Minute
	if err := g.play(s, 0); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, g.events, []event{
		{keyDown, 0}, {keyUp, 50},
		{keyDown, 450}, {keyUp, 500},
		{finish, 60050},
	})
}

func TestScheduleDurationEndsThePresses(t *testing.T) {
	s, g := newSchedule(1000), guest{answer: always(20)}
	s.duration = ms(420) // while the first measured press is down
	if err := g.play(s, 0); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, g.events, []event{
		{keyDown, 0}, {keyUp, 50},
		{keyDown, 450}, {keyUp, 500}, // no key stays down
		{finish, 500},
	})
}

func TestScheduleKeepsTheInterval(t *testing.T) {
	s := newSchedule(3)
	s.interval = 2 * time.Second
	answers := []int{100, 500, 3000, 100}
	g := guest{answer: func(n int) int { return answers[n] }}
	if err := g.play(s, time.Second); err != nil {
		t.Fatal(err)
	}
	var presses []int
	for _, e := range g.events {
		if e.what == keyDown {
			presses = append(presses, e.ms)
		}
	}
	// Each pause of 400 ms begins 2 s after the press, or with a later draw.
	want := []int{1000, 3400, 5800, 9200}
	if !slices.Equal(presses, want) {
		t.Errorf("presses at %v ms, want %v", presses, want)
	}
}

func TestSchedulePausesAreSeededAndInRange(t *testing.T) {
	pauses := func(seed uint64) (ms []int) {
		s, g := newSchedule(50), guest{answer: always(60)}
		s.pauseMax = 1200 * time.Millisecond
		s.rand = rand.New(rand.NewPCG(seed, 0))
		if err := g.play(s, 0); err != nil {
			t.Fatal(err)
		}
		drawn := -1
		for _, e := range g.events {
			if e.what == keyDown {
				if drawn >= 0 {
					ms = append(ms, e.ms-drawn)
				}
				drawn = e.ms + 60
			}
		}
		return ms
	}
	first := pauses(7)
	shortest, longest := first[0], first[0]
	for _, p := range first {
		shortest, longest = min(shortest, p), max(longest, p)
	}
	if shortest < 400 || longest > 1200 || longest-shortest < 400 {
		t.Errorf("pauses from %d to %d ms, want them spread over 400..1200", shortest, longest)
	}
	for i, p := range pauses(7) {
		if p != first[i] {
			t.Fatalf("pause %d is %d ms with the same seed, was %d", i, p, first[i])
		}
	}
	if second := pauses(8); second[0] == first[0] && second[1] == first[1] && second[2] == first[2] {
		t.Error("another seed gave the same pauses")
	}
}

// TestScheduleProperties lets guests answer as they like: keys alternate between
// down and up, at most one press is outstanding, every press is measured, missed
// or cut off, and a latency is exactly what the guest took.
func TestScheduleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSchedule(rapid.IntRange(0, 12).Draw(t, "presses"))
		s.pauseMin = ms(float64(rapid.IntRange(0, 300).Draw(t, "pause min")))
		s.pauseMax = s.pauseMin + ms(float64(rapid.IntRange(0, 500).Draw(t, "pause more")))
		s.timeout = ms(float64(rapid.IntRange(51, 2000).Draw(t, "timeout")))
		if s.presses == 0 || rapid.Bool().Draw(t, "limited") {
			s.duration = ms(float64(rapid.IntRange(1, 20000).Draw(t, "duration")))
		}
		answers := rapid.SliceOfN(rapid.IntRange(-1, 2500), 40, 40).Draw(t, "answers")
		g := guest{answer: func(n int) int { return answers[n%len(answers)] }}
		err := g.play(s, ms(100))

		down, measured := false, 0
		for i, e := range g.events {
			switch e.what {
			case keyDown:
				if down {
					t.Fatalf("event %d presses a key that is down: %v", i, g.events)
				}
				down = true
				measured++
			case keyUp:
				if !down || e.ms-g.events[i-1].ms != 50 {
					t.Fatalf("event %d releases a key not pressed 50 ms before: %v", i, g.events)
				}
				down = false
			}
		}
		if down {
			t.Fatalf("the key stays down: %v", g.events)
		}
		if len(s.latencies) > s.presses {
			t.Fatalf("%d latencies of %d presses", len(s.latencies), s.presses)
		}
		if err == nil && s.duration > 0 && !s.begun.IsZero() {
			if over := g.ends.Sub(s.begun) - s.duration; over < 0 || over > keyHold {
				t.Fatalf("the window ends %v after its duration", over)
			}
		}
		if err == nil && s.duration == 0 && len(s.latencies) != s.presses {
			t.Fatalf("finished with %d latencies of %d", len(s.latencies), s.presses)
		}
		outstanding := max(0, measured-1) - len(s.latencies) - s.timeouts
		if outstanding < 0 || outstanding > 1 {
			t.Fatalf("%d presses after the probe, %d answered, %d missed", measured-1, len(s.latencies), s.timeouts)
		}
		for _, l := range s.latencies {
			if l > max(s.timeout, keyHold) {
				t.Fatalf("latency %v is longer than the time-out %v", l, s.timeout)
			}
		}
	})
}
