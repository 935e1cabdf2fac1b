package keydraw

import (
	"image"
	"testing"
)

// Steps from pixel to pixel are small but for edges, and no colour leaves its eight
// bits.
func TestSceneIsLikeAPhotograph(t *testing.T) {
	scene := newScene(image.Pt(400, 300), lcg(3))
	smooth, edges := 0, 0
	for y := range scene.size.Y {
		for x := 1; x < scene.size.X; x++ {
			a, b := int(scene.at(x-1, y)>>8&0xff), int(scene.at(x, y)>>8&0xff)
			switch d := max(a-b, b-a); {
			case d <= 8:
				smooth++
			case d >= 48:
				edges++
			}
			if scene.at(x, y)>>24 != 0 {
				t.Fatalf("pixel (%d,%d) = %08x", x, y, scene.at(x, y))
			}
		}
	}
	all := scene.size.Y * (scene.size.X - 1)
	if smooth+edges < all*99/100 || edges < all/500 || edges > all/20 {
		t.Errorf("of %d steps %d are smooth and %d edges", all, smooth, edges)
	}
}

func TestLatticeInterpolates(t *testing.T) {
	random := lcg(1)
	l := newLattice(image.Pt(64, 64), 16, 200, &random)
	for y := range 48 {
		for x := range 48 {
			if v := l.at(x, y); v < 0 || v >= 200 {
				t.Fatalf("value %d at (%d,%d)", v, x, y)
			}
			if d := l.at(x+1, y) - l.at(x, y); max(d, -d) > 200/16+1 {
				t.Fatalf("step of %d at (%d,%d)", d, x, y)
			}
		}
	}
}
