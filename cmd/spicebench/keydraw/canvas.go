package keydraw

import (
	"image"
	"unsafe"
)

// Colours as the frame buffer stores them: XRGB, eight bits each.
const (
	textColour  = 0xc0c0c0
	paperColour = 0x102040
	evenColour  = 0xff4040 // key box after an even number of presses
	oddColour   = 0x40ff40
)

// A text cell in pixels; its glyph occupies the rows from glyphTop up to
// glyphBottom.
const (
	cellWidth   = 8
	cellHeight  = 16
	glyphTop    = 3
	glyphBottom = 14
)

// canvas is a frame buffer of 32-bit pixels.
type canvas struct {
	pix    []uint32
	stride int // pixels from one row to the next
	size   image.Point
}

// row is the part of row y between columns left and right.
func (c *canvas) row(y, left, right int) []uint32 {
	return c.pix[y*c.stride+left : y*c.stride+right]
}

// pairs is a row of even width, two pixels a word.
func (c *canvas) pairs(y, left, right int) []uint64 {
	row := c.row(y, left, right)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(row))), len(row)/2)
}

func (c *canvas) fill(r image.Rectangle, colour uint32) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.row(y, r.Min.X, r.Max.X)
		for x := range row {
			row[x] = colour
		}
	}
}

// paintBackground covers the canvas with text-like cells, the same at every
// start.
func (c *canvas) paintBackground() {
	c.fill(image.Rectangle{Max: c.size}, paperColour)
	random := lcg(12345)
	for y := 0; y+cellHeight <= c.size.Y; y += cellHeight {
		for x := 0; x+cellWidth <= c.size.X; x += cellWidth {
			c.paintCell(x, y, &random)
		}
	}
}

// paintCell draws a random glyph with its top left corner at (x, y), on paper
// already there. One cell in five stays empty.
func (c *canvas) paintCell(x, y int, random *lcg) {
	if random.next()%5 == 0 {
		return
	}
	for gy := y + glyphTop; gy < y+glyphBottom; gy++ {
		row := c.row(gy, x, x+cellWidth)
		bits := random.next()
		for i := range row {
			if bits>>i&1 != 0 {
				row[i] = textColour
			}
		}
	}
}

// paintKeyBox shows how often a key has been pressed, modulo two.
func (c *canvas) paintKeyBox(presses int) {
	colour := uint32(evenColour)
	if presses%2 != 0 {
		colour = oddColour
	}
	c.fill(KeyBox, colour)
}

// lcg is the linear congruential generator of Kerbside's guest.
type lcg uint32

// next returns the 16 better bits of the next state.
func (s *lcg) next() uint32 {
	*s = *s*1103515245 + 12345
	return uint32(*s) >> 16
}
