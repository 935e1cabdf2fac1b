package keydraw

import (
	"image"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever happens, what is on the screen is what all windows together show, and
// each frame says where it changed that.
func TestWindowsAreRepainted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := image.Pt(rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 150).Draw(t, "height"))
		area := image.Rectangle{Max: size}.Add(image.Pt(20, 10))
		c, all := newCanvas(image.Pt(240, 170)), newCanvas(image.Pt(240, 170))
		w := newWindows(area, rapid.Uint32().Draw(t, "seed"))
		for range rapid.IntRange(1, 40).Draw(t, "frames") {
			before := slices.Clone(c.pix)
			w.paint(c)
			if !w.bounds().In(area) || w.bounds().Empty() {
				t.Fatalf("a frame changed %v, not inside of %v", w.bounds(), area)
			}
			for i, pixel := range c.pix {
				if at := image.Pt(i%c.stride, i/c.stride); pixel != before[i] && !at.In(w.bounds()) {
					t.Fatalf("%v changed outside of %v", at, w.bounds())
				}
			}
			w.compose(all, area)
			if !slices.Equal(c.pix, all.pix) {
				t.Fatal("the picture is not that of all windows")
			}
		}
	})
}
