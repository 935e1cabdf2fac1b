package keydraw

import "image"

// animation is something that moves in an area of its own.
type animation interface {
	bounds() image.Rectangle
	paint(*canvas) // draws the next frame
}

// newAnimations makes the animations the knobs ask for on a screen.
func newAnimations(k Knobs, screen image.Point) []animation {
	var all []animation
	for i, area := range Areas(k, screen) {
		if k.Activity == Scroll {
			all = append(all, newScroll(area))
		} else {
			// Different phases, so that no two plasmas look alike.
			all = append(all, newPlasma(area, k.Noise, uint32(i*sines/3)))
		}
	}
	return all
}
