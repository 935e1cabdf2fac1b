package keydraw

import "image"

// Film is what the guest shows, without a machine that shows it.
type Film struct {
	canvas     canvas
	animations []animation
}

// NewFilm begins an activity on a screen of a size in pixels.
func NewFilm(k Knobs, size image.Point) *Film {
	f := &Film{canvas: canvas{pix: make([]uint32, size.X*size.Y), stride: size.X, size: size}}
	f.canvas.paintBackground()
	f.canvas.paintKeyBox(0)
	f.animations = newAnimations(k, size)
	return f
}

// Next draws a frame and returns the parts that may have changed, each of which
// the guest flushes on its own.
func (f *Film) Next() (changed []image.Rectangle) {
	for _, a := range f.animations {
		a.paint(&f.canvas)
		changed = append(changed, a.bounds())
	}
	return changed
}

// Row returns the pixels of a row from column left up to, and without, right: 0xRRGGBB
// each. They are valid until the next frame.
func (f *Film) Row(y, left, right int) []uint32 { return f.canvas.row(y, left, right) }
