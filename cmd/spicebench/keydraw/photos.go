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

const (
	panSteps  = 8        // frames of a picture
	panBy     = 12       // pixels from one frame to the next
	sceneRoom = 256      // pixels that the scene is larger than a picture
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
