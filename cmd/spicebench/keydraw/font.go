package keydraw

import "image"

// Sizes of letters in pixels. The last column of each is empty.
const (
	glyphs      = 52
	glyphWidth  = 8 // of the widest
	glyphHeight = 12
	smallTop    = 4 // where letters without an ascender begin
)

// shades are the colours of text on paper, from none to full ink.
var shades = [...]uint32{0xffffff, 0xb8b8b8, 0x686868, 0x202020}

// font is an alphabet of stems and bars with soft edges. It spells nothing, but
// is as regular as letters are.
type font [glyphs]glyph

type glyph struct {
	width int
	ink   [glyphHeight][glyphWidth]uint8 // index into shades
}

func newFont() *font {
	var f font
	random := lcg(4711)
	for i := range f {
		f[i] = newGlyph(&random)
	}
	return &f
}

func newGlyph(random *lcg) glyph {
	g := glyph{width: 4 + int(random.next()%(glyphWidth-3))}
	top := smallTop * int(random.next()%2)
	right := g.width - 2
	g.stroke(image.Rect(0, top, 1, glyphHeight), image.Pt(1, 0))
	if random.next()%2 == 0 {
		g.stroke(image.Rect(right, top, right+1, glyphHeight), image.Pt(-1, 0))
	}
	for _, y := range []int{top, (top + glyphHeight) / 2, glyphHeight - 2} {
		if random.next()%2 == 0 {
			g.stroke(image.Rect(0, y, right+1, y+1), image.Pt(0, 1))
		}
	}
	return g
}

// stroke inks a line, and fainter what lies beside it in one direction.
func (g *glyph) stroke(line image.Rectangle, soft image.Point) {
	const full, faint = 3, 1
	for y := line.Min.Y; y < line.Max.Y; y++ {
		for x := line.Min.X; x < line.Max.X; x++ {
			g.ink[y][x] = full
			beside := &g.ink[y+soft.Y][x+soft.X]
			*beside = min(*beside+faint, full)
		}
	}
}

// paint draws a letter with its top left corner at (x, y), paper and all.
func (g *glyph) paint(c *canvas, x, y int) {
	for row, ink := range g.ink {
		pixels := c.row(y+row, x, x+g.width)
		for i := range pixels {
			pixels[i] = shades[ink[i]]
		}
	}
}
