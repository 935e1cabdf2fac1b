package keydraw

import (
	"image"
	"testing"
)

func TestReadingMovesByOneLine(t *testing.T) {
	area := image.Rect(8, 4, 88, 68)
	c := newCanvas(image.Pt(100, 80))
	r := newText(area, false)
	r.paint(c)
	before := append([]uint32(nil), c.pix...)
	r.paint(c)
	for y := area.Min.Y; y < area.Max.Y-lineHeight; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if want := before[(y+lineHeight)*c.stride+x]; c.at(x, y) != want {
				t.Fatalf("pixel (%d,%d) = %06x, want %06x from a line below", x, y, c.at(x, y), want)
			}
		}
	}
}
