package keydraw

import (
	"image"
	"testing"
)

// Frames of one picture are the same but for the pan; the next picture has no row
// of pixels of an earlier one, which a codec with a memory would find.
func TestPhotosPanAndChange(t *testing.T) {
	area := image.Rect(0, 0, 64, 48)
	c := newCanvas(area.Max)
	p := newPhotos(area, 5)
	seen := map[[16]uint32]int{}
	for frame := range 4 * panSteps {
		before := append([]uint32(nil), c.pix...)
		p.paint(c)
		for y := range area.Dy() {
			for x := 0; x+16 <= area.Dx(); x++ {
				run := [16]uint32(c.row(y, x, x+16))
				if picture, ok := seen[run]; ok && picture != frame/panSteps {
					t.Fatalf("frame %d repeats pixels of picture %d at (%d,%d)", frame, picture, x, y)
				}
				seen[run] = frame / panSteps
			}
			if frame%panSteps == 0 {
				continue
			}
			for x := range area.Dx() - panBy {
				if want := before[y*c.stride+x+panBy]; c.at(x, y) != want {
					t.Fatalf("frame %d: pixel (%d,%d) = %06x, want %06x from the right", frame, x, y, c.at(x, y), want)
				}
			}
		}
	}
}
