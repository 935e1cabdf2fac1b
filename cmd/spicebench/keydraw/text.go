package keydraw

import "image"

// text is a document in a proportional font: the same letters and the same words
// again and again, as people write.
type text struct {
	area   image.Rectangle // whole lines
	turned bool            // a page a frame; else it moves up by a line
	shown  bool            // a page is on the screen
	font   *font
	words  [vocabulary][]uint8 // letters of each
	random lcg
}

const (
	vocabulary = 250
	paragraph  = 40              // words on average
	lineHeight = glyphHeight + 4 // pixels
	spaceWidth = 4               // pixels
)

func newText(area image.Rectangle, turned bool) *text {
	t := &text{area: area, turned: turned, font: newFont(), random: 777}
	for i := range t.words {
		t.words[i] = make([]uint8, 2+t.random.next()%9)
		for j := range t.words[i] {
			// The smaller of two, for some letters and words are frequent.
			t.words[i][j] = uint8(min(t.random.next()%glyphs, t.random.next()%glyphs))
		}
	}
	return t
}

func (t *text) bounds() image.Rectangle { return t.area }

// paint turns the page, or moves the text up by a line and writes another at the
// bottom. It does not allocate.
func (t *text) paint(c *canvas) {
	first := t.area.Min.Y
	if t.shown && !t.turned {
		first = t.area.Max.Y - lineHeight
		for y := t.area.Min.Y; y < first; y++ {
			copy(c.row(y, t.area.Min.X, t.area.Max.X), c.row(y+lineHeight, t.area.Min.X, t.area.Max.X))
		}
	}
	for y := first; y < t.area.Max.Y; y += lineHeight {
		t.paintLine(c, y)
	}
	t.shown = true
}

// paintLine fills a line with words, or with the end of a paragraph.
func (t *text) paintLine(c *canvas, y int) {
	c.fill(image.Rect(t.area.Min.X, y, t.area.Max.X, y+lineHeight), shades[0])
	for x := t.area.Min.X; ; x += spaceWidth {
		word := t.words[min(t.random.next()%vocabulary, t.random.next()%vocabulary)]
		for _, letter := range word {
			g := &t.font[letter]
			if x+g.width > t.area.Max.X {
				return
			}
			g.paint(c, x, y)
			x += g.width
		}
		if t.random.next()%paragraph == 0 {
			return
		}
	}
}
