package keydraw

import "image"

// scroll is a console whose text moves up by one line per frame.
type scroll struct {
	area   image.Rectangle // whole text cells
	random lcg
}

func newScroll(area image.Rectangle) *scroll {
	return &scroll{area: area, random: 54321}
}

func (s *scroll) bounds() image.Rectangle { return s.area }

// paint moves the text up and writes a new line of random length at the bottom.
// It does not allocate.
func (s *scroll) paint(c *canvas) {
	bottom := s.area.Max.Y - cellHeight
	for y := s.area.Min.Y; y < bottom; y++ {
		copy(c.row(y, s.area.Min.X, s.area.Max.X), c.row(y+cellHeight, s.area.Min.X, s.area.Max.X))
	}
	c.fill(image.Rect(s.area.Min.X, bottom, s.area.Max.X, s.area.Max.Y), paperColour)
	cells := s.area.Dx() / cellWidth
	for i := range 1 + int(s.random.next())%cells {
		c.paintCell(s.area.Min.X+i*cellWidth, bottom, &s.random)
	}
}
