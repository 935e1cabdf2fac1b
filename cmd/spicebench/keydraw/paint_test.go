package keydraw

import (
	"hash/fnv"
	"image"
	"math"
	"testing"
	"unsafe"
)

func newCanvas(size image.Point) *canvas {
	const padding = 8 // rows are not always adjacent
	stride := size.X + padding
	return &canvas{pix: make([]uint32, stride*size.Y), stride: stride, size: size}
}

// hash is a picture in one number.
func (c *canvas) hash() uint64 {
	h := fnv.New64a()
	h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&c.pix[0])), 4*len(c.pix)))
	return h.Sum64()
}

func (c *canvas) at(x, y int) uint32 { return c.pix[y*c.stride+x] }

// Pictures are the same at every run, so that runs can be compared; a change of
// them is a change of what is measured.
func TestPicturesAreKnown(t *testing.T) {
	size := image.Pt(320, 200)
	area := image.Rect(161, 16, 305, 180)
	frames := func(a animation, n int) *canvas {
		c := newCanvas(size)
		c.paintBackground()
		for range n {
			a.paint(c)
		}
		return c
	}
	background := newCanvas(size)
	background.paintBackground()
	for _, tc := range []struct {
		name string
		got  *canvas
		want uint64
	}{
		{"background", background, 0xddcd9fdd2ad34355},
		{"plasma", frames(newPlasma(area, 0, 0), 2), 0x565f8d3d8d9135e8},
		{"noisy plasma", frames(newPlasma(area, 8, 0), 2), 0x99f3e0270c009de},
		{"scroll", frames(newScroll(image.Rect(161, 20, 305, 180)), 20), 0x8cbed80b920f245},
		{"text", frames(newText(image.Rect(161, 16, 305, 176), true), 2), 0x9a34ec0fd6192755},
		{"reading", frames(newText(image.Rect(161, 16, 305, 176), false), 20), 0xae8c8be23ca1ee55},
		{"photos", frames(newPhotos(area, 1), 10), 0x43a2b948257b929a},
		{"windows", frames(newWindows(area, 3), 20), 0x244bc5bb5cb57e25},
	} {
		if got := tc.got.hash(); got != tc.want {
			t.Errorf("%s: hash %#x, want %#x", tc.name, got, tc.want)
		}
	}
}

// The integer plasma is the plasma of the formula, but for rounding.
func TestPlasmaFormula(t *testing.T) {
	const f = 37
	area := image.Rect(16, 2, 116, 62)
	c := newCanvas(image.Pt(130, 70))
	newPlasma(area, 0, f).paint(c)
	s := func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / sines) }
	for y := range area.Dy() {
		for x := range area.Dx() {
			v := s(2*x+5*f) + s(3*y+7*f) + s(2*(x+y)+11*f)
			want := [3]float64{128 + 42*v, 128 + 42*s(int(170*v)+3*f), 128 - 42*v}
			pixel := c.at(area.Min.X+x, area.Min.Y+y)
			for i, colour := range want {
				if got := float64(pixel >> (16 - 8*i) & 0xff); math.Abs(got-colour) > 2 {
					t.Fatalf("pixel (%d,%d) = %06x, colour %d is %.1f off", x, y, pixel, i, got-colour)
				}
			}
		}
	}
}

func TestPlasmaNoiseStaysInItsBits(t *testing.T) {
	area := image.Rect(0, 0, 64, 64)
	plain, noisy := newCanvas(area.Max), newCanvas(area.Max)
	newPlasma(area, 0, 0).paint(plain)
	newPlasma(area, 3, 0).paint(noisy)
	seen := uint32(0)
	for i := range plain.pix {
		seen |= plain.pix[i] ^ noisy.pix[i]
	}
	if seen != 0x070707 {
		t.Errorf("three noise bits change %06x", seen)
	}
}

func TestAnimationsStayInTheirAreas(t *testing.T) {
	for _, a := range []Activity{Plasma, Scroll, Three, Windows, Text, Reading, Photos} {
		c := newCanvas(image.Pt(640, 480))
		animations := newAnimations(Knobs{FPS: 1, Width: 300, Height: 200, Noise: 8, Activity: a}, c.size)
		if len(animations) == 0 {
			t.Fatalf("%s: no animations", a)
		}
		for _, animation := range animations {
			animation.paint(c)
			c.fill(animation.bounds(), 0)
		}
		for i, pixel := range c.pix {
			if pixel != 0 {
				t.Fatalf("%s painted (%d,%d)", a, i%c.stride, i/c.stride)
			}
		}
	}
}

func TestScrollMovesByOneLine(t *testing.T) {
	area := image.Rect(8, 4, 88, 68)
	c := newCanvas(image.Pt(100, 80))
	s := newScroll(area)
	for range area.Dy() / cellHeight {
		s.paint(c)
	}
	before := append([]uint32(nil), c.pix...)
	s.paint(c)
	for y := area.Min.Y; y < area.Max.Y-cellHeight; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if want := before[(y+cellHeight)*c.stride+x]; c.at(x, y) != want {
				t.Fatalf("pixel (%d,%d) = %06x, want %06x from a line below", x, y, c.at(x, y), want)
			}
		}
	}
}

func TestKeyBoxAlternates(t *testing.T) {
	c := newCanvas(image.Pt(200, 200))
	for presses, want := range []uint32{0xff4040, 0x40ff40, 0xff4040} {
		c.paintKeyBox(presses)
		for _, p := range []image.Point{KeyBox.Min, KeyBox.Max.Sub(image.Pt(1, 1))} {
			if got := c.at(p.X, p.Y); got != want {
				t.Errorf("after %d presses %v is %06x, want %06x", presses, p, got, want)
			}
		}
		if got := c.at(KeyBox.Max.X, KeyBox.Max.Y); got != 0 {
			t.Errorf("key box spills to its corner: %06x", got)
		}
	}
}

// Frames must not feed a garbage collector that is switched off.
func TestPaintDoesNotAllocate(t *testing.T) {
	c := newCanvas(image.Pt(640, 480))
	for _, a := range []animation{
		newPlasma(image.Rect(160, 16, 260, 116), 8, 0),
		newScroll(image.Rect(160, 16, 320, 176)),
		newText(image.Rect(160, 16, 320, 176), true),
		newText(image.Rect(160, 16, 320, 176), false),
		newPhotos(image.Rect(160, 16, 320, 176), 0),
	} {
		if n := testing.AllocsPerRun(5, func() { a.paint(c) }); n != 0 {
			t.Errorf("%T: %v allocations a frame", a, n)
		}
	}
}

func BenchmarkPlasma(b *testing.B) {
	c := newCanvas(screen1280)
	p := newPlasma(image.Rect(624, 160, 1264, 640), 8, 0)
	for b.Loop() {
		p.paint(c)
	}
}
