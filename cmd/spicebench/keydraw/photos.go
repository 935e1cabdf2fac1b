package keydraw

import "image"

// photos pans over pictures that are to a codec what photographs are: detail of
// every size, the smaller the weaker, edges between things of another brightness,
// and grain. Every few frames comes another picture. It has grain of its own, so
// that none repeats pixels of an earlier one.
type photos struct {
	area    image.Rectangle
	scene   canvas // what pictures are cut from, without grain
	picture canvas // as large as the area and all steps over it
	step    int    // frames shown of the picture
	random  lcg
	grain   uint64 // state of a xorshift
}

// Sizes in pixels.
const (
	panSteps  = 8  // frames of a picture
	panBy     = 12 // from one frame to the next
	sceneRoom = 256
	grainMask = 0x030303 // two bits of each colour
)

func newPhotos(area image.Rectangle, number uint32) *photos {
	size := area.Size().Add(image.Pt(panSteps*panBy, 0))
	return &photos{
		area:    area,
		scene:   newScene(size.Add(image.Pt(sceneRoom, sceneRoom)), lcg(number)),
		picture: canvas{pix: make([]uint32, size.X*size.Y), stride: size.X, size: size},
		random:  lcg(number),
		grain:   seed,
	}
}

func (p *photos) bounds() image.Rectangle { return p.area }

// paint shows the next part of the picture. It does not allocate.
func (p *photos) paint(c *canvas) {
	if p.step%panSteps == 0 {
		p.develop()
	}
	left := p.step % panSteps * panBy
	for y := range p.area.Dy() {
		copy(c.row(p.area.Min.Y+y, p.area.Min.X, p.area.Max.X), p.picture.row(y, left, left+p.area.Dx()))
	}
	p.step++
}

// develop cuts another picture from the scene and gives it grain.
func (p *photos) develop() {
	at := image.Pt(int(p.random.next())%sceneRoom, int(p.random.next())%sceneRoom)
	for y := range p.picture.size.Y {
		row := p.picture.row(y, 0, p.picture.size.X)
		copy(row, p.scene.row(at.Y+y, at.X, at.X+len(row)))
		for x := range row {
			p.grain ^= p.grain << 13
			p.grain ^= p.grain >> 7
			p.grain ^= p.grain << 17
			row[x] ^= uint32(p.grain) & grainMask
		}
	}
}

// newScene makes a picture without grain.
func newScene(size image.Point, random lcg) canvas {
	c := canvas{pix: make([]uint32, size.X*size.Y), stride: size.X, size: size}
	// The amplitude of detail falls with its size, as in natural pictures: 126 for
	// all together.
	var light []lattice
	for cell := 128; cell >= 4; cell /= 2 {
		light = append(light, newLattice(size, cell, cell/2, &random))
	}
	things := newLattice(size, 64, 256, &random)
	warm, cold := newLattice(size, 128, 48, &random), newLattice(size, 128, 48, &random)
	for y := range size.Y {
		row := c.row(y, 0, size.X)
		for x := range row {
			// All together stay below 3+126+64+48.
			level := 3
			for i := range light {
				level += light[i].at(x, y)
			}
			if things.at(x, y) > 128 {
				level += 64
			}
			row[x] = uint32(level+warm.at(x, y))<<16 | uint32(level+24)<<8 | uint32(level+cold.at(x, y))
		}
	}
	return c
}

// lattice is value noise: random values at the corners of square cells, and
// between them what lies between.
type lattice struct {
	cell    int // side in pixels
	columns int
	values  []int // from 0 up to, and without, the amplitude
}

func newLattice(size image.Point, cell, amplitude int, random *lcg) lattice {
	l := lattice{cell: cell, columns: size.X/cell + 2}
	l.values = make([]int, l.columns*(size.Y/cell+2))
	for i := range l.values {
		l.values[i] = int(random.next()) * amplitude >> 16
	}
	return l
}

// at interpolates between the corners of the cell around (x, y).
func (l *lattice) at(x, y int) int {
	i := y/l.cell*l.columns + x/l.cell
	x, y = x%l.cell, y%l.cell
	above := l.values[i]*(l.cell-x) + l.values[i+1]*x
	below := l.values[i+l.columns]*(l.cell-x) + l.values[i+l.columns+1]*x
	return (above*(l.cell-y) + below*y) / (l.cell * l.cell)
}
