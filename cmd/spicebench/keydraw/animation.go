package keydraw

import "image"

// animation is something that moves in an area of its own.
type animation interface {
	paint(*canvas)           // draws the next frame
	bounds() image.Rectangle // what the last frame changed
}

// newAnimations makes the animations the knobs ask for on a screen.
func newAnimations(k Knobs, screen image.Point) []animation {
	var all []animation
	for i, area := range Areas(k, screen) {
		switch k.Activity {
		case Scroll:
			all = append(all, newScroll(area))
		case Windows:
			all = append(all, newWindows(area, uint32(k.Seed)))
		case Text, Reading:
			all = append(all, newText(area, k.Activity == Text))
		case Photos:
			all = append(all, newPhotos(area, uint32(k.Seed)))
		default:
			// Different phases, so that no two plasmas look alike.
			all = append(all, newPlasma(area, k.Noise, uint32(i*sines/3)))
		}
	}
	return all
}
