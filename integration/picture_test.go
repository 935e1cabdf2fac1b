package integration

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"testing"
)

// Colours of the key box after an even and after an odd number of key presses.
var (
	evenBox = color.RGBA{0xff, 0x40, 0x40, 0xff}
	oddBox  = color.RGBA{0x40, 0xff, 0x40, 0xff}
)

// decodePPM reads the format that QEMU, spicy-screenshot and ImageMagick all write
// (netpbm's ppm(5), raw, eight bits).
func decodePPM(in io.Reader) (*image.RGBA, error) {
	r := bufio.NewReader(in)
	var width, height, most int
	if _, err := fmt.Fscanf(r, "P6\n%d %d\n%d\n", &width, &height, &most); err != nil {
		return nil, fmt.Errorf("header of a PPM: %w", err)
	}
	if most != 255 {
		return nil, fmt.Errorf("PPM with values up to %d", most)
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for p := picture.Pix; len(p) > 0; p = p[4:] {
		if _, err := io.ReadFull(r, p[:3]); err != nil {
			return nil, fmt.Errorf("pixels of a PPM: %w", err)
		}
		p[3] = 0xff
	}
	return picture, nil
}

func loadPPM(t *testing.T, path string) *image.RGBA {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	picture, err := decodePPM(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return picture
}

// savePNG keeps a picture for people to look at.
func savePNG(t *testing.T, path string, picture image.Image) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, picture), f.Close()); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// differing counts the pixels in which two pictures of one size differ, outside of
// the areas left out.
func differing(a, b *image.RGBA, leftOut ...image.Rectangle) (n int) {
	for p := range points(a.Rect) {
		if a.RGBAAt(p.X, p.Y) != b.RGBAAt(p.X, p.Y) && !inside(p, leftOut) {
			n++
		}
	}
	return n
}

func inside(p image.Point, areas []image.Rectangle) bool {
	for _, a := range areas {
		if p.In(a) {
			return true
		}
	}
	return false
}

// solid finds where a picture has one rectangle of a colour: empty if the pixels of
// that colour do not fill one.
func solid(picture *image.RGBA, colour color.RGBA) image.Rectangle {
	var box image.Rectangle
	count := 0
	for p := range points(picture.Rect) {
		if picture.RGBAAt(p.X, p.Y) == colour {
			box = box.Union(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))})
			count++
		}
	}
	if count < box.Dx()*box.Dy() {
		return image.Rectangle{}
	}
	return box
}

// points are the pixels of a rectangle, row by row.
func points(r image.Rectangle) func(yield func(image.Point) bool) {
	return func(yield func(image.Point) bool) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if !yield(image.Pt(x, y)) {
					return
				}
			}
		}
	}
}
