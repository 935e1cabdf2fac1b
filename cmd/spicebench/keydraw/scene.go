package keydraw

import "image"

// newScene makes a photograph without grain.
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
