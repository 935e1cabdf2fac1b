package pacer

import "spicepacer/spiceproto"

const (
	// tileSize is the edge of a tile in pixels: QEMU cuts updates in columns
	// of 32 pixels (ui/spice-display.c), so a finer grid tells nothing more.
	tileSize = 32
	// maxTiles bounds the surfaces that are followed at all, whatever size a
	// server announces: 16384×8192 pixels, beyond what spice-server itself accepts.
	maxTiles = 512 * 256
	// mostTiles is how many tiles a surface is divided into at most, and so what
	// one message can cost: two screens of 3840×2160 pixels side by side. On a
	// larger one each tile is larger.
	mostTiles = 16384
)

// tiling divides a surface into squares. The zero value has none.
type tiling struct {
	size          int // edge of a tile in pixels
	columns, rows int
}

// tilesOf returns the tiling of a surface of the given size in pixels, without
// tiles if it is larger than maxTiles.
func tilesOf(width, height uint32) tiling {
	const most = maxTiles * tileSize
	w, h := int(min(width, most)), int(min(height, most))
	g := tiling{size: tileSize}
	across := func(pixels int) int { return (pixels + g.size - 1) / g.size }
	if w == 0 || h == 0 || across(w) > maxTiles/across(h) {
		return tiling{}
	}
	for across(w)*across(h) > mostTiles {
		g.size *= 2
	}
	g.columns, g.rows = across(w), across(h)
	return g
}

// count is how many tiles there are.
func (g tiling) count() int { return g.columns * g.rows }

// span returns the tiles whose centres lie in box, or the one tile under the
// box's own centre if it holds none, cut to the surface.
func (g tiling) span(box spiceproto.Rect) (left, top, right, bottom int) {
	left, right = g.along(box.Left, box.Right, g.columns)
	top, bottom = g.along(box.Top, box.Bottom, g.rows)
	return left, top, right, bottom
}

func (g tiling) along(low, high int32, limit int) (first, end int) {
	if high <= low || high <= 0 || limit == 0 {
		return 0, 0
	}
	a, b, size := int64(max(low, 0)), int64(high), int64(g.size)
	first = int((a + size/2 - 1) / size)
	end = int((b + size/2 - 1) / size)
	if first >= end {
		first = int((a + b) / 2 / size)
		end = first + 1
	}
	return min(first, limit), min(end, limit)
}

// resized returns a slice of n zero values, in the memory of s if that is enough.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
