package integration

import (
	"bufio"
	"encoding/binary"
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/keydraw"
)

// filmScreen is the guest's.
var filmScreen = image.Pt(1280, 800)

// writeFilm computes an activity's frames and writes them as qxlplay reads them.
func writeFilm(t *testing.T, activity string, frames int) (path string) {
	t.Helper()
	options, err := guest.Activity(activity)
	if err != nil {
		t.Fatal(err)
	}
	knobs, err := keydraw.ParseKnobs(options.Knobs().CommandLine())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "film")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	film := keydraw.NewFilm(knobs, filmScreen)
	cut := newCutter(film, filmScreen)
	for range frames {
		var dirty image.Rectangle
		for _, part := range film.Next() {
			dirty = dirty.Union(part)
		}
		cut.pieces(dirty, func(piece image.Rectangle) { writePiece(out, film, piece) })
		writeNumbers(out, 0, 0, 0, 0)
	}
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeNumbers and writePiece write a record of qxlplay's film; Flush tells errors.
func writeNumbers(out *bufio.Writer, numbers ...int) {
	for _, n := range numbers {
		binary.Write(out, binary.NativeEndian, int32(n))
	}
}

func writePiece(out *bufio.Writer, film *keydraw.Film, r image.Rectangle) {
	writeNumbers(out, r.Min.X, r.Min.Y, r.Dx(), r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		binary.Write(out, binary.NativeEndian, film.Row(y, r.Min.X, r.Max.X))
	}
}

// cutter cuts updates as QEMU does for a display that is no QXL device
// (ui/spice-display.c, qemu_spice_create_update): in columns of 32 pixels from the
// left edge of what is dirty, and of these the runs of rows that have changed.
type cutter struct {
	film   *keydraw.Film
	mirror [][]uint32 // what was sent
}

func newCutter(film *keydraw.Film, size image.Point) *cutter {
	c := &cutter{film: film}
	for y := range size.Y {
		c.mirror = append(c.mirror, slices.Clone(film.Row(y, 0, size.X)))
	}
	return c
}

// pieces visits the pieces of an update in QEMU's order.
func (c *cutter) pieces(dirty image.Rectangle, visit func(image.Rectangle)) {
	const side = 32
	tops := map[int]int{} // where a run began, by its column
	end := func(x, y int) {
		if top, open := tops[x]; open {
			visit(image.Rect(x, top, min(x+side, dirty.Max.X), y))
			delete(tops, x)
		}
	}
	for y := dirty.Min.Y; y < dirty.Max.Y; y++ {
		for x := dirty.Min.X; x < dirty.Max.X; x += side {
			right := min(x+side, dirty.Max.X)
			seen, now := c.mirror[y][x:right], c.film.Row(y, x, right)
			if slices.Equal(seen, now) {
				end(x, y)
				continue
			}
			copy(seen, now)
			if _, open := tops[x]; !open {
				tops[x] = y
			}
		}
	}
	for x := dirty.Min.X; x < dirty.Max.X; x += side {
		end(x, dirty.Max.Y)
	}
}
