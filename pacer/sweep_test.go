package pacer

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"spicepacer/spiceproto"
)

// column is QEMU's box of column k of an update whose left edge is at x.
func column(x, k int) spiceproto.Rect {
	left := int32(x + k*tileSize)
	return spiceproto.Rect{Left: left, Right: left + tileSize, Bottom: tileSize}
}

func newSweep(width, height uint32) *Sweep {
	s := new(Sweep)
	s.Resize(width, height)
	return s
}

// draws books columns from up to but without end of an update at x, each of 100
// bytes, and returns before which of them a sweep ended.
func draws(s *Sweep, x, from, end int) (ends []int) {
	for k := from; k < end; k++ {
		if s.Draw(column(x, k), 100) {
			ends = append(ends, k)
		}
	}
	return ends
}

// settled returns a sweep that has seen the given columns change for a while,
// and has just ended.
func settled(t *testing.T, columns int) *Sweep {
	t.Helper()
	s := newSweep(1280, 800)
	for range 5 {
		draws(s, 0, 0, columns)
	}
	s.Next()
	if s.expected != columns || s.Bytes() != 100*columns {
		t.Fatalf("%d tiles expected, %d bytes, want %d columns", s.expected, s.Bytes(), columns)
	}
	return s
}

func TestSweepEndsWithEachFrame(t *testing.T) {
	s := newSweep(1280, 800)
	for frame := range 10 {
		ends := draws(s, 0, 0, 20)
		if frame > 0 && !slices.Equal(ends, []int{0}) || frame == 0 && ends != nil {
			t.Errorf("frame %d: ends before columns %v", frame, ends)
		}
		if frame > 0 && (s.Bytes() != 2000 || s.Missing() != 0) {
			t.Errorf("frame %d: %d bytes, %d missing", frame, s.Bytes(), s.Missing())
		}
		if s.Starved() {
			t.Errorf("frame %d: starved", frame)
		}
	}
	draws(s, 0, 0, 7)
	if s.Missing() != 13 {
		t.Errorf("%d draws missing after 7 of 20", s.Missing())
	}
}

// The first pass of a grant is what was left in the server's socket: a few
// columns of an old frame. The sweep goes on until the new frame is through.
func TestSweepStaleColumnsFirst(t *testing.T) {
	s := settled(t, 20)
	if ends := draws(s, 0, 8, 14); ends != nil {
		t.Errorf("stale columns: ends before %v", ends)
	}
	if ends := draws(s, 0, 0, 20); ends != nil {
		t.Errorf("the frame behind them: ends before %v", ends)
	}
	if ends := draws(s, 0, 0, 20); !slices.Equal(ends, []int{0}) {
		t.Errorf("the next frame: ends before %v", ends)
	}
}

// A cut frame is followed by a new one that starts over.
func TestSweepCutFrame(t *testing.T) {
	s := settled(t, 20)
	if ends := draws(s, 0, 0, 12); ends != nil {
		t.Errorf("cut frame: ends before %v", ends)
	}
	if ends := draws(s, 0, 0, 20); ends != nil {
		t.Errorf("the frame after: ends before %v", ends)
	}
	if ends := draws(s, 0, 0, 1); !slices.Equal(ends, []int{0}) {
		t.Errorf("the next frame: ends before %v", ends)
	}
	if s.Starved() {
		t.Error("starved, though all came in the end")
	}
}

// A server that is let through one message at a time serves its first column
// again and again. That is no pass, and the columns behind are waited for.
func TestSweepFirstColumnAgain(t *testing.T) {
	s := settled(t, 20)
	for range 6 {
		if ends := draws(s, 0, 0, 1); ends != nil {
			t.Fatal("the first column alone ends a sweep")
		}
	}
	if ends := draws(s, 0, 0, 20); ends != nil {
		t.Errorf("the frame behind it: ends before %v", ends)
	}
}

// After a change of scene more regions come than are waited for, and some that
// are waited for do not come any more: one pass is enough.
func TestSweepChangeOfScene(t *testing.T) {
	s := settled(t, 4)
	if ends := draws(s, 640, 0, 20); ends != nil {
		t.Errorf("the first frame: ends before %v", ends)
	}
	if ends := draws(s, 640, 0, 20); !slices.Equal(ends, []int{0}) {
		t.Errorf("the second frame: ends before %v", ends)
	}
}

// QEMU's grid begins at the left edge of each update.
func TestSweepShiftedGrid(t *testing.T) {
	for _, shift := range []int{1, 15, 16, 17, 31, -8} {
		s := newSweep(1280, 800)
		for frame := range 12 {
			ends := draws(s, 320+frame%2*shift, 0, 20)
			if frame > 0 && (len(ends) != 1 || ends[0] > 1) {
				t.Errorf("shift %d, frame %d: ends before columns %v", shift, frame, ends)
			}
			if s.Starved() {
				t.Errorf("shift %d, frame %d: starved", shift, frame)
			}
		}
	}
}

func TestSweepRegionThatStops(t *testing.T) {
	s := settled(t, 20)
	passes := 0
	for frame := range 20 {
		ends := draws(s, 0, 0, 10)
		if len(ends) == 0 {
			passes++
		} else {
			passes = 1
		}
		if passes > vainPasses+1 {
			t.Fatalf("frame %d: pass %d of the columns that go on", frame, passes)
		}
		if frame >= patience*(vainPasses+1) && len(ends) != 1 {
			t.Errorf("frame %d: still waits for what stopped", frame)
		}
	}
}

// Of two animations, the sweep waits for the slower one, within reason.
func TestSweepTwoAnimations(t *testing.T) {
	for _, c := range []struct {
		every   int // frames of the first for one of the second
		awaited bool
	}{
		{2, true},
		{3, true},
		{5, false},
	} {
		s := newSweep(1280, 800)
		second := 0
		for frame := range 60 {
			if ends := draws(s, 0, 0, 10); ends != nil {
				if c.awaited && frame > 20 && second == 0 {
					t.Errorf("every %d: sweep ends in frame %d without the second animation", c.every, frame)
				}
				second = 0
			}
			if frame%c.every == 0 {
				second++
				draws(s, 0, 20, 30)
			}
		}
		if s.number < 60/(vainPasses+1) {
			t.Errorf("every %d: %d sweeps in 60 frames", c.every, s.number)
		}
	}
}

// A server whose socket takes fewer columns than a sweep has starts over before
// it reaches the last ones. That shows once they come.
func TestSweepStarved(t *testing.T) {
	for _, c := range []struct {
		missed int // of 16 columns
		want   bool
	}{
		{0, false},
		{1, false}, // less than an eighth: a line that was typed
		{2, true},
		{8, true},
	} {
		s := settled(t, 16)
		for draws(s, 0, 0, 16-c.missed) == nil {
		}
		if s.Starved() {
			t.Errorf("%d missed: starved before they came", c.missed)
		}
		draws(s, 0, 16-c.missed, 16)
		s.Next()
		if s.Starved() != c.want {
			t.Errorf("%d missed: starved %t", c.missed, s.Starved())
		}
		draws(s, 0, 0, 16)
		s.Next()
		if s.Starved() {
			t.Errorf("%d missed: still starved after a whole sweep", c.missed)
		}
	}
}

func TestSweepWithoutSurface(t *testing.T) {
	var s Sweep
	for range 2 * vainPasses {
		if s.Draw(column(0, 0), 100) {
			t.Fatal("a sweep ends without a surface")
		}
	}
	s.Next()
	if s.Bytes() != 0 || s.Missing() != 0 || s.Starved() {
		t.Errorf("%d bytes, %d missing, starved %t", s.Bytes(), s.Missing(), s.Starved())
	}
}

func TestSweepSurfaceSizes(t *testing.T) {
	for _, c := range []struct {
		width, height uint32
		tiles         int
	}{
		{0, 0, 0},
		{0, 800, 0},
		{1280, 0, 0},
		{1, 1, 1},
		{32, 33, 2},
		{1280, 800, 40 * 25},
		{7680, 2160, 240 * 68},
		{7680, 4320, 120 * 68},
		{16384, 8192, 128 * 64},
		{8192, 16384, 64 * 128},
		{16385, 8192, 0},
		{math.MaxUint32, 1, mostTiles},
		{math.MaxUint32, 32, mostTiles},
		{math.MaxUint32, 33, 0},
		{math.MaxUint32, math.MaxUint32, 0},
	} {
		s := newSweep(c.width, c.height)
		if len(s.tiles) != 0 {
			t.Errorf("%d×%d: %d tiles before the first draw", c.width, c.height, len(s.tiles))
		}
		for range vainPasses + 1 {
			s.Draw(spiceproto.Rect{Right: math.MaxInt32, Bottom: math.MaxInt32}, 100)
		}
		if len(s.tiles) != c.tiles || s.count() > mostTiles {
			t.Errorf("%d×%d: %d tiles, want %d", c.width, c.height, len(s.tiles), c.tiles)
		}
		if ended := s.number > 1; ended != (c.tiles > 0) {
			t.Errorf("%d×%d: in sweep %d after drawing all over it %d times", c.width, c.height, s.number, vainPasses+1)
		}
	}
}

func TestSweepResizeStartsOver(t *testing.T) {
	s := settled(t, 20)
	draws(s, 0, 0, 5)
	s.Resize(640, 480)
	if s.expected != 0 || s.Bytes() != 0 || s.Missing() != 0 || s.Starved() {
		t.Errorf("%d tiles expected, %d bytes, %d missing, starved %t", s.expected, s.Bytes(), s.Missing(), s.Starved())
	}
	if ends := draws(s, 0, 0, 20); ends != nil {
		t.Errorf("ends before columns %v of the first frame", ends)
	}
	if ends := draws(s, 0, 0, 20); !slices.Equal(ends, []int{0}) {
		t.Errorf("ends before columns %v of the second frame", ends)
	}
}

func TestSweepBoxes(t *testing.T) {
	const low, high = math.MinInt32, math.MaxInt32
	for _, c := range []struct {
		name                     string
		left, top, right, bottom int32
		tiles                    int
	}{
		{"one tile", 32, 32, 64, 64, 1},
		{"one pixel", 40, 40, 41, 41, 1},
		{"the last pixel", 1279, 799, 1280, 800, 1},
		{"half a tile and a half", 16, 0, 64, 32, 2},
		{"less than half of a second", 17, 0, 48, 32, 1},
		{"all", 0, 0, 1280, 800, 40 * 25},
		{"more than all", low, low, high, high, 40 * 25},
		{"left part outside", -64, 0, 32, 32, 1},
		{"right part outside", 1248, 0, high, 32, 1},
		{"empty", 32, 32, 32, 64, 0},
		{"inverted", 64, 64, 32, 32, 0},
		{"inverted, extreme", high, high, low, low, 0},
		{"left of it", low, 0, 0, 32, 0},
		{"right of it", 1280, 0, high, 32, 0},
		{"below it", 0, 800, 32, high, 0},
		{"at the end of the world", high - 1, 0, high, 32, 0},
	} {
		s := newSweep(1280, 800)
		box := spiceproto.Rect{Left: c.left, Top: c.top, Right: c.right, Bottom: c.bottom}
		if s.Draw(box, 100) {
			t.Errorf("%s: ends the first sweep", c.name)
		}
		marked := 0
		for _, tile := range s.tiles {
			if tile.last == s.number {
				marked++
			}
		}
		if marked != c.tiles {
			t.Errorf("%s: %d tiles, want %d", c.name, marked, c.tiles)
		}
		if ended := s.Draw(box, 100); ended != (c.tiles > 0) {
			t.Errorf("%s: the second draw ends a sweep: %t", c.name, ended)
		}
	}
}

// Whatever a server draws, a sweep ends after few draws that bring nothing new,
// and the books agree.
func TestSweepAlwaysEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.OneOf(rapid.Int32Range(-40, 300), rapid.Int32())
		boxes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) spiceproto.Rect {
			return spiceproto.Rect{
				Left: edge.Draw(t, "left"), Top: edge.Draw(t, "top"),
				Right: edge.Draw(t, "right"), Bottom: edge.Draw(t, "bottom"),
			}
		}), 1, 8).Draw(t, "boxes")
		s := newSweep(256, 160)
		all := 0
		for range rapid.IntRange(1, 200).Draw(t, "draws") {
			if rapid.IntRange(0, 99).Draw(t, "resize") == 99 {
				s.Resize(256, 160)
				all = 0
			}
			i := rapid.IntRange(0, len(boxes)-1).Draw(t, "box")
			if s.Draw(boxes[i], 100) {
				all = 0
				wantExpected(t, s)
			}
			if left, top, right, bottom := s.span(boxes[i]); left < right && top < bottom {
				all++
			}
			if s.repeats > max(vainPasses*s.now.fresh, s.before.fresh) {
				t.Fatalf("%d draws in a row brought nothing new, %d did, %d in the sweep before",
					s.repeats, s.now.fresh, s.before.fresh)
			}
			if s.late > s.seen || s.seen > s.expected || s.Missing() < 0 || s.now.draws != all || s.now.bytes != 100*all {
				t.Fatalf("%d late, %d seen, %d expected, %d missing, %+v with %d draws",
					s.late, s.seen, s.expected, s.Missing(), s.now, all)
			}
		}
	})
}

// wantExpected counts what the sweep that has just begun with a draw waits for. A
// tile of that draw has come, and was awaited if it was late or seen.
func wantExpected(t *rapid.T, s *Sweep) {
	awaited := s.seen
	for i := range s.tiles {
		if p := &s.tiles[i]; p.last != s.number && s.awaited(p) {
			awaited++
		}
	}
	if s.expected != awaited {
		t.Fatalf("%d tiles are expected, %d are awaited", s.expected, awaited)
	}
}

// Surfaces that come and go without a draw cost no memory, those with one no more
// than the largest.
func TestSweepSurfacesComeAndGo(t *testing.T) {
	var s Sweep
	sides := []uint32{1 << 14, 1920, 1 << 13, 640}
	round := func() {
		for i := range sides {
			s.Resize(sides[i], 1080)
			s.Resize(sides[i], 1<<13)
			s.Draw(spiceproto.Rect{Right: math.MaxInt32, Bottom: math.MaxInt32}, 100)
		}
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations for %d surfaces", n, 2*len(sides))
	}
	s.Resize(sides[1], 1080)
	s.Draw(column(0, 0), 100)
	for i, tile := range s.tiles {
		if came := tile.last != 0; came != (i == 0) {
			t.Errorf("tile %d of a new surface came in sweep %d", i, tile.last)
		}
	}
}

// Of regions that keep changing, none waits for ever: with a stop at each end
// of a sweep, each region comes at least once in some sweeps.
func TestSweepIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 30).Draw(t, "columns")
		s := newSweep(1280, 800)
		absent := make([]int, columns)
		for frame := range 60 {
			// What the link cuts off a frame is dropped for the next one.
			end := columns
			if rapid.Bool().Draw(t, "cut") {
				end = rapid.IntRange(columns/2, columns).Draw(t, "end")
			}
			if frame%vainPasses == 0 {
				end = columns
			}
			for k := range end {
				if s.Draw(column(0, k), 100) {
					for i := range absent {
						absent[i]++
					}
				}
				absent[k] = 0
			}
			if worst := slices.Max(absent); worst > vainPasses {
				t.Fatalf("frame %d: a column was absent in %d sweeps: %v", frame, worst, absent)
			}
		}
	})
}

func TestSweepAllocatesNothing(t *testing.T) {
	s := settled(t, 20)
	frame := func() {
		for k := range 20 {
			s.Draw(column(0, k), 100)
		}
	}
	if n := testing.AllocsPerRun(100, frame); n != 0 {
		t.Errorf("%v allocations for a frame", n)
	}
}
