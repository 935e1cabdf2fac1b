package pacer

import "spicepacer/spiceproto"

const (
	// steadySweeps is in how many sweeps a tile must have come for the next to
	// wait for it: once may be a page turned, twice is a change that goes on.
	steadySweeps = 2
	// patience is how many sweeps in a row a steady tile may be absent before
	// it counts as still: a sweep that was cut short missed it for no fault of
	// its own.
	patience = 4
	// vainPasses ends a sweep that waits in vain for a region that has stopped
	// changing: after so many passes over what it has that brought nothing new.
	// One may be what was left in the server's socket, one may have been cut by
	// a newer frame.
	vainPasses = 2
)

// Sweep finds the ends of whole sweeps in a server's stream of draws.
//
// Each frame QEMU redraws all changed columns, left to right; spice-server
// drops the unsent older ones and queues the new ones at the end of its pipe.
// Stopped by bytes anywhere inside, it serves the same first columns at every
// grant, and the others never. After each region has come once, nothing is
// starved by a stop: that is the end of a sweep.
//
// Regions are tiles of the screen, not message boxes: QEMU's column grid
// starts at the left edge of each update, so boxes shift, places do not.
// The zero value is ready and finds no sweep until Resize.
type Sweep struct {
	tiling
	tiles       []tile // none until the first draw
	number      uint32 // of the sweep under way, from 1
	now, before extent // of the sweep under way, and of the one before
	// steady counts the steady tiles by the sweep in which they came last: this
	// one and those before that a tile may have been absent from.
	steady   [patience + 1]int
	expected int // tiles the sweep waits for
	seen     int // of these, those that came
	late     int // of those, the ones the sweep before had missed
	repeats  int // draws since the last that brought a new tile
	starved  bool
}

// extent is how much a sweep holds.
type extent struct {
	draws  int
	tiles  int // of all draws together
	bytes  int
	fresh  int // draws that brought a tile which had not come
	places int // tiles, each counted once
}

// perTile is the average size of a tile's update in bytes.
func (e extent) perTile() int {
	if e.tiles == 0 {
		return 0
	}
	return e.bytes / e.tiles
}

// tile is one region's history.
type tile struct {
	last uint32 // sweep in which it came last, 0: never
	run  uint8  // in how many sweeps it came without a long pause, up to steadySweeps
}

// Resize starts over on a primary surface of the given size in pixels.
func (s *Sweep) Resize(width, height uint32) {
	*s = Sweep{number: 1, tiling: tilesOf(width, height), tiles: s.tiles[:0]}
}

// Next begins the next sweep: it waits for all tiles that keep changing.
func (s *Sweep) Next() {
	s.starved = s.late > 0 && s.late*8 >= s.expected
	s.number++
	s.before, s.now = s.now, extent{}
	s.expected, s.seen, s.late, s.repeats = 0, 0, 0, 0
	*s.steadyIn(s.number) = 0
	for _, n := range s.steady {
		s.expected += n
	}
}

// steadyIn is the count of the steady tiles that came last in a sweep.
func (s *Sweep) steadyIn(number uint32) *int { return &s.steady[number%uint32(len(s.steady))] }

func (s *Sweep) awaited(t *tile) bool {
	return t.run >= steadySweeps && s.number-t.last <= patience
}

// Draw books a draw of size bytes to box on the primary surface and tells
// whether the sweep ended before it: the region has come already, and so has
// every other one.
func (s *Sweep) Draw(box spiceproto.Rect, size int) (ended bool) {
	left, top, right, bottom := s.span(box)
	if left >= right || top >= bottom {
		return false
	}
	if len(s.tiles) == 0 {
		s.tiles = resized(s.tiles, s.count())
	}
	ended = s.again(left, top, right, bottom) && (s.covered() || s.inVain())
	if ended {
		s.Next()
	}
	s.now.draws++
	s.now.tiles += (right - left) * (bottom - top)
	s.now.bytes += size
	s.repeats++
	if fresh := s.mark(left, top, right, bottom); fresh > 0 {
		s.now.fresh++
		s.now.places += fresh
		s.repeats = 0
	}
	return ended
}

// Starved tells that the sweep before the last one was cut short: a good part
// of what came in the last keeps changing and was missing there.
func (s *Sweep) Starved() bool { return s.starved }

// Missing returns how many more draws the sweep under way will take, if it is
// like the one before.
func (s *Sweep) Missing() int { return max(s.before.draws-s.now.draws, 0) }

// Tail returns how many bytes of the sweep are still to come after the draws
// booked; false while that cannot be told. Small draws may come first, so of
// the averages of this sweep and of the last the larger counts.
func (s *Sweep) Tail() (int, bool) {
	if s.expected == 0 || s.before.tiles == 0 {
		return 0, false
	}
	return max(s.now.perTile(), s.before.perTile()) * (s.expected - s.seen), true
}

// Bytes returns the size of the last whole sweep.
func (s *Sweep) Bytes() int { return s.before.bytes }

// covered tells that as many tiles came as are expected, nearly. An eighth may
// be missing: a cursor that blinked or a line that was typed in the last sweeps.
// Tiles that are not waited for count too: after a change of scene there are
// more of those, and they will be waited for next time.
func (s *Sweep) covered() bool { return s.now.places*8 >= s.expected*7 }

// inVain tells that what is missing has not come in the time of whole passes.
func (s *Sweep) inVain() bool {
	return s.repeats >= max(vainPasses*s.now.fresh, s.before.fresh)
}

// again tells that every tile of the span has come in this sweep.
func (s *Sweep) again(left, top, right, bottom int) bool {
	for y := top; y < bottom; y++ {
		row := s.tiles[y*s.columns:]
		for x := left; x < right; x++ {
			if row[x].last != s.number {
				return false
			}
		}
	}
	return true
}

// mark books the tiles of a draw and returns how many are new to this sweep.
func (s *Sweep) mark(left, top, right, bottom int) (fresh int) {
	for y := top; y < bottom; y++ {
		row := s.tiles[y*s.columns:]
		for x := left; x < right; x++ {
			t := &row[x]
			if t.last == s.number {
				continue
			}
			if s.awaited(t) {
				s.seen++
				s.late += int(min(s.number-t.last-1, 1))
				*s.steadyIn(t.last)--
			}
			t.follow(s.number)
			if t.run >= steadySweeps {
				*s.steadyIn(s.number)++
			}
			fresh++
		}
	}
	return fresh
}

// follow books the first coming of a tile in a sweep.
func (t *tile) follow(number uint32) {
	if t.last != 0 && number-t.last <= patience {
		t.run = min(t.run+1, steadySweeps)
	} else {
		t.run = 1
	}
	t.last = number
}
