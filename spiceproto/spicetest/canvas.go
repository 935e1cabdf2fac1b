package spicetest

import "spicepacer/spiceproto"

// canvas is a surface of a Renderer. A pixel is a number that tells all that it
// was made of: two that were made in different ways are never equal, but by
// chance.
type canvas struct {
	width, height int32 // in cells
	value         []uint64
	// writer is the number of the message that each cell shows.
	writer []uint64
}

func newCanvas(width, height int32) *canvas {
	n := int(width) * int(height)
	return &canvas{width: width, height: height, value: make([]uint64, n), writer: make([]uint64, n)}
}

// at returns the cell's value; false outside.
func (c *canvas) at(x, y int32) (uint64, bool) {
	if x < 0 || y < 0 || x >= c.width || y >= c.height {
		return 0, false
	}
	return c.value[int(y)*int(c.width)+int(x)], true
}

func (c *canvas) clone() *canvas {
	d := newCanvas(c.width, c.height)
	copy(d.value, c.value)
	copy(d.writer, c.writer)
	return d
}

// digest is one number for all that the canvas shows.
func (c *canvas) digest() uint64 {
	d := mix(uint64(c.width), uint64(c.height))
	for _, v := range c.value {
		d = mix(d, v)
	}
	return d
}

// mix makes one number of several; their order matters. It is splitmix64's
// output function over a running sum.
func mix(of ...uint64) uint64 {
	var z uint64
	for _, v := range of {
		z = (z ^ v) + 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
	}
	return z
}

// texture is an image to draw with: it gives each of its cells a value, and
// none outside.
type texture struct {
	width, height int32 // in cells
	seed          uint64
	surface       *canvas // of an image that is a surface; then seed is unused
}

func (t texture) at(x, y int32) (uint64, bool) {
	switch {
	case x < 0 || y < 0 || x >= t.width || y >= t.height:
		return 0, false
	case t.surface != nil:
		v, ok := t.surface.at(x, y)
		return mix(v), ok
	}
	return mix(t.seed, uint64(x), uint64(y)), true
}

// tiled repeats the texture in both directions.
func (t texture) tiled(x, y int32) (uint64, bool) {
	if t.width == 0 || t.height == 0 {
		return 0, false
	}
	return t.at(((x%t.width)+t.width)%t.width, ((y%t.height)+t.height)%t.height)
}

// inside tells whether a cell lies in one of the rectangles.
func inside(rects []spiceproto.Rect, x, y int32) bool {
	for _, r := range rects {
		if x >= r.Left && x < r.Right && y >= r.Top && y < r.Bottom {
			return true
		}
	}
	return false
}
