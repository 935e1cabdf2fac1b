package keydraw

import (
	"image"
	"slices"
	"testing"
)

func TestFilmChangesWhereItSays(t *testing.T) {
	size := image.Pt(640, 480)
	for _, activity := range []Activity{Plasma, Three, Windows, Reading} {
		f := NewFilm(Knobs{FPS: 1, Width: 200, Height: 100, Activity: activity}, size)
		if slices.Min(f.Row(20, KeyBox.Min.X, KeyBox.Max.X)) != evenColour {
			t.Errorf("%s: no key box", activity)
		}
		first := slices.Clone(f.canvas.pix)
		for range 5 {
			before := slices.Clone(f.canvas.pix)
			changed := f.Next()
			for i, pixel := range f.canvas.pix {
				at := image.Pt(i%size.X, i/size.X)
				inside := slices.ContainsFunc(changed, func(r image.Rectangle) bool { return at.In(r) })
				if pixel != before[i] && !inside {
					t.Fatalf("%s: %v changed outside of %v", activity, at, changed)
				}
			}
		}
		if slices.Equal(first, f.canvas.pix) {
			t.Errorf("%s: nothing changed", activity)
		}
	}
}
