package keydraw

import "image"

// windows are overlapping windows that a restless user drags over each other,
// raises, scrolls and types into: one such act per frame, the same for the same
// seed.
type windows struct {
	area    image.Rectangle
	stack   []*window // the uppermost last
	random  lcg
	changed image.Rectangle // by the last act, empty before the first
}

// window is one window: what it shows and where its top left corner is.
type window struct {
	canvas
	at     image.Point
	typed  int // characters
	random lcg
	spare  []uint32 // rows that are being scrolled
}

// windowCount is how many windows there are; their sizes are from a sixth to a
// half of the area in each direction.
const windowCount = 6

func newWindows(area image.Rectangle, seed uint32) *windows {
	w := &windows{area: area, random: lcg(seed)}
	for i := range windowCount {
		size := image.Pt(1+w.between(area.Dx()/6, area.Dx()/2), 1+w.between(area.Dy()/6, area.Dy()/2))
		at := area.Min.Add(image.Pt(w.between(0, area.Dx()-size.X), w.between(0, area.Dy()-size.Y)))
		w.stack = append(w.stack, newWindow(size, at, i, lcg(seed+uint32(i))))
	}
	return w
}

// between returns a random number from least to most.
func (w *windows) between(least, most int) int {
	return least + int(w.random.next())%(max(most-least, 0)+1)
}

// Contents of windows, by their number.
const (
	contentText = iota
	contentPhoto
	contentNoise
	contentSolid
	contents
)

func newWindow(size, at image.Point, number int, random lcg) *window {
	w := &window{canvas: canvas{pix: make([]uint32, size.X*size.Y), stride: size.X, size: size}, at: at, random: random}
	for y := range size.Y {
		row := w.row(y, 0, size.X)
		for x := range row {
			row[x] = w.pixel(number, x, y)
		}
	}
	if number%contents == contentText {
		w.paintText()
	}
	return w
}

// pixel is the colour of a window's content before anything happens to it.
func (w *window) pixel(number, x, y int) uint32 {
	const frame, framed = 0x808080, 2
	if x < framed || y < framed || x >= w.size.X-framed || y >= w.size.Y-framed {
		return frame
	}
	switch number % contents {
	case contentPhoto: // gradients with grain
		return uint32(x*255/w.size.X)<<16 | uint32(y*255/w.size.Y)<<8 | uint32((x+y)&0xf0) ^ w.random.next()&0x030303
	case contentNoise:
		return w.random.next()<<8 ^ w.random.next()
	}
	return 0x102030 * uint32(number%7+1)
}

func (w *window) paintText() {
	for y := cellHeight; y+cellHeight < w.size.Y; y += cellHeight {
		for x := cellWidth; x+cellWidth < w.size.X; x += cellWidth {
			w.paintCell(x, y, &w.random)
		}
	}
}

// bounds is where the window is on the screen.
func (w *window) bounds() image.Rectangle { return image.Rectangle{Max: w.size}.Add(w.at) }

func (s *windows) bounds() image.Rectangle { return s.changed }

// paint does one act and repaints what that changes; the first time, everything.
func (s *windows) paint(c *canvas) {
	if s.changed.Empty() {
		s.changed = s.area
	} else {
		s.changed = s.act().Intersect(s.area)
	}
	s.compose(c, s.changed)
}

// act does something with the uppermost window, or makes another that, and returns
// where the screen changes.
func (s *windows) act() image.Rectangle {
	top := s.stack[len(s.stack)-1]
	switch s.random.next() % 10 {
	case 0:
		return s.raise(int(s.random.next()) % len(s.stack))
	case 1, 2, 3:
		return top.scroll(s.between(1, 24))
	case 4, 5:
		return top.write()
	}
	return s.drag(top, image.Pt(s.between(-24, 24), s.between(-24, 24)))
}

// raise brings a window to the top.
func (s *windows) raise(i int) image.Rectangle {
	w := s.stack[i]
	s.stack = append(append(s.stack[:i], s.stack[i+1:]...), w)
	return w.bounds()
}

// drag moves a window as far as the area allows.
func (s *windows) drag(w *window, by image.Point) image.Rectangle {
	old := w.bounds()
	room := s.area.Max.Sub(w.size)
	w.at.X = min(max(w.at.X+by.X, s.area.Min.X), room.X)
	w.at.Y = min(max(w.at.Y+by.Y, s.area.Min.Y), room.Y)
	return old.Union(w.bounds())
}

// scroll moves the content up by some rows; what was at the top comes in at the
// bottom.
func (w *window) scroll(rows int) image.Rectangle {
	n := rows % w.size.Y * w.stride
	above := append(w.spare[:0], w.pix[:n]...)
	copy(w.pix, w.pix[n:])
	copy(w.pix[len(w.pix)-n:], above)
	w.spare = above
	return w.bounds()
}

// write types a character behind the last one. A window too small for one scrolls.
func (w *window) write() image.Rectangle {
	columns, lines := w.size.X/cellWidth, w.size.Y/cellHeight
	if columns == 0 || lines == 0 {
		return w.scroll(1)
	}
	at := image.Pt(w.typed%columns*cellWidth, w.typed/columns%lines*cellHeight)
	w.typed++
	cell := image.Rectangle{Min: at, Max: at.Add(image.Pt(cellWidth, cellHeight))}
	w.fill(cell, paperColour)
	w.paintCell(at.X, at.Y, &w.random)
	return cell.Add(w.at)
}

// compose paints what is seen of the desktop and of all windows in a part of the
// screen.
func (s *windows) compose(c *canvas, part image.Rectangle) {
	c.fill(part, paperColour)
	for _, w := range s.stack {
		seen := w.bounds().Intersect(part)
		for y := seen.Min.Y; y < seen.Max.Y; y++ {
			copy(c.row(y, seen.Min.X, seen.Max.X), w.row(y-w.at.Y, seen.Min.X-w.at.X, seen.Max.X-w.at.X))
		}
	}
}
