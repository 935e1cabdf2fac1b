package keydraw

import (
	"image"
	"math"
)

// The plasma of Kerbside's guest. For pixel (x, y) of frame f, with a sine table
// S of 1024 entries over one turn,
//
//	v     = S[2x+5f] + S[3y+7f] + S[2(x+y)+11f]
//	red   = 128 + 42v, green = 128 + 42 S[int(170v)+3f], blue = 128 - 42v
//
// and random bits are XORed into the low bits of each.
//
// The guest's processor is emulated, one instruction by many, so the work per
// pixel is kept small: sines are integers in units of 1/unit; the colour of
// every possible v is computed once per frame; two pixels are made and stored
// as one word; and one step of a 64-bit xorshift is noise for both, where
// Kerbside's guest takes a 32-bit step for each.
const (
	sines       = 1024
	unit        = 340  // v ranges over 6*unit+1 = 2041 values
	paletteSize = 2048 // a power of two, so that an index can be masked instead of checked
	seed        = 0x9e3779b97f4a7c15

	bothHalves = 1<<32 | 1 // times this, a value is in both halves of a word
)

// sine holds sin(2πi/sines)+1 in units of 1/unit: a sum of three is never
// negative and is an index into the palette.
var sine = func() (table [sines]uint64) {
	for i := range table {
		table[i] = uint64(math.Round(unit * (1 + math.Sin(2*math.Pi*float64(i)/sines))))
	}
	return table
}()

// plasmaGrain is what the size of a plasma is a multiple of: its pixels are made
// in pairs.
var plasmaGrain = image.Pt(2, 1)

// plasma animates one area, whose width is even.
type plasma struct {
	area    image.Rectangle
	frame   uint32
	random  uint64
	mask    uint64              // noise bits of all three colours
	columns []uint64            // S[2x+5f] of this frame, two columns a word, the first in its low half
	slants  [2][]uint64         // S[2s+11f], two slants s a word, beginning with 0 and with 1
	low     [paletteSize]uint64 // pixel for each v of this frame, in the low half of the word
	high    [paletteSize]uint64 // the same in the high half
}

// newPlasma starts an animation at a frame number. Noise is in bits, 0..8.
func newPlasma(area image.Rectangle, noise int, frame uint32) *plasma {
	p := &plasma{
		area:    area,
		frame:   frame,
		random:  seed * (2*uint64(frame) + 1), // never 0, and not the same for all
		mask:    (1<<noise - 1) * 0x010101 * bothHalves,
		columns: make([]uint64, area.Dx()/2),
	}
	for i := range p.slants {
		p.slants[i] = make([]uint64, (area.Dx()+area.Dy()+1)/2)
	}
	return p
}

func (p *plasma) bounds() image.Rectangle { return p.area }

// paint draws the next frame. It does not allocate.
func (p *plasma) paint(c *canvas) {
	fillSines(p.columns, 5*p.frame)
	for i, slants := range p.slants {
		fillSines(slants, 11*p.frame+2*uint32(i))
	}
	p.fillPalette()
	for y := range p.area.Dy() {
		slants := p.slants[y%2][y/2:]
		vertical := sine[(3*uint32(y)+7*p.frame)%sines] * bothHalves
		p.paintRow(c.pairs(p.area.Min.Y+y, p.area.Min.X, p.area.Max.X), slants, vertical)
	}
	p.frame++
}

// fillSines packs every other sine, beginning with phase, two a word.
func fillSines(dst []uint64, phase uint32) {
	for i := range dst {
		dst[i] = sine[phase%sines] | sine[(phase+2)%sines]<<32
		phase += 4
	}
}

// fillPalette computes the pixel of every v.
func (p *plasma) fillPalette() {
	for i := range 6*unit + 1 {
		v := i - 3*unit
		turn := int(sine[uint32(v*170/unit+3*int(p.frame))%sines]) - unit
		red, green, blue := 128+v*42/unit, 128+turn*42/unit, 128-v*42/unit
		p.low[i] = uint64(red<<16 | green<<8 | blue)
		p.high[i] = p.low[i] << 32
	}
}

// paintRow is the hot loop.
func (p *plasma) paintRow(row, slants []uint64, vertical uint64) {
	random, mask := p.random, p.mask
	columns, slants := p.columns[:len(row)], slants[:len(row)]
	for i := range row {
		v := columns[i] + slants[i] + vertical
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		row[i] = random&mask ^ p.low[v%paletteSize] ^ p.high[v>>32%paletteSize]
	}
	p.random = random
}
