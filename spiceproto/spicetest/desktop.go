package spicetest

import (
	"slices"

	"spicepacer/spiceproto"
)

// Geometry of the desktop: that of the measuring guest (a key box, and beside
// it an animation QEMU slices in columns of 32 pixels).
const (
	screenWidth, screenHeight = 1280, 800

	keyLeft, keyTop, keyEdge = 16, 16, 96

	columnWidth               = 32
	activityLeft, activityTop = 624, 160
	activityHeight            = 480
)

// Desktop models a guest and QEMU's path for displays that are not QXL
// (ui/spice-display.c): what changed collects in dirty regions, and only when
// the server has fetched the last batch of drawings does a refresh turn them
// into the next one, columns left to right, then the key box.
type Desktop struct {
	columns []region
	key     region
	batch   []Draw
}

// region is a part of the screen that changes as a whole.
type region struct {
	box     spiceproto.Rect
	size    int // of its draw's body
	base    uint64
	content uint32 // how often it changed
	dirty   bool
}

func (r *region) change() {
	r.content++
	r.dirty = true
}

func (r *region) id() uint64 { return r.base | uint64(r.content) }

// NewDesktop returns a desktop whose animation has one column for each given
// size of a draw's body, and a key box of the given size.
func NewDesktop(columns []int, key int) *Desktop {
	d := &Desktop{key: region{
		box: spiceproto.Rect{
			Top: keyTop, Left: keyLeft, Bottom: keyTop + keyEdge, Right: keyLeft + keyEdge,
		},
		size: key,
	}}
	for i, size := range columns {
		left := int32(activityLeft + i*columnWidth)
		d.columns = append(d.columns, region{
			box: spiceproto.Rect{
				Top: activityTop, Left: left,
				Bottom: activityTop + activityHeight, Right: left + columnWidth,
			},
			size: size,
			base: uint64(i+1) << 32,
		})
	}
	return d
}

// Animate draws the next frame: every column changes.
func (d *Desktop) Animate() {
	for i := range d.columns {
		d.columns[i].change()
	}
}

// Press draws the answer to a key press, and returns its number: the image ID
// under which it, or a later one that replaced it, shows in the key box.
func (d *Desktop) Press() uint64 {
	d.key.change()
	return d.key.id()
}

// Refresh is QEMU's display timer.
func (d *Desktop) Refresh() {
	if len(d.batch) > 0 {
		return
	}
	for i := range d.columns {
		d.emit(&d.columns[i])
	}
	d.emit(&d.key)
}

func (d *Desktop) emit(r *region) {
	if r.dirty {
		r.dirty = false
		d.batch = append(d.batch, Draw{Box: r.box, ID: r.id(), Size: r.size})
	}
}

// Dirty tells whether a refresh has something to do, now or once the last batch
// is fetched.
func (d *Desktop) Dirty() bool {
	return d.key.dirty || slices.ContainsFunc(d.columns, func(r region) bool { return r.dirty })
}

// Next fetches one drawing command, false when there is none.
func (d *Desktop) Next() (Draw, bool) {
	if len(d.batch) == 0 {
		return Draw{}, false
	}
	next := d.batch[0]
	d.batch = d.batch[1:]
	return next, true
}

// Columns returns the boxes of the animation.
func (d *Desktop) Columns() []spiceproto.Rect {
	boxes := make([]spiceproto.Rect, len(d.columns))
	for i := range d.columns {
		boxes[i] = d.columns[i].box
	}
	return boxes
}

// KeyBox returns the box in which key presses show.
func (d *Desktop) KeyBox() spiceproto.Rect { return d.key.box }

// Shows returns the image ID of what the guest has drawn last in each region
// that ever changed: the picture a client must end with.
func (d *Desktop) Shows() map[spiceproto.Rect]uint64 {
	picture := make(map[spiceproto.Rect]uint64)
	for _, r := range append([]region{d.key}, d.columns...) {
		if r.content > 0 {
			picture[r.box] = r.id()
		}
	}
	return picture
}

// Heavy returns the columns of the measured activity that is hard to compress:
// 640×480 pixels of noise, 44 kB a column.
func Heavy() []int { return slices.Repeat([]int{44_000}, 20) }

// Busy returns the columns of the measured activity with little noise: as
// large, 2.1 kB a column.
func Busy() []int { return slices.Repeat([]int{2_100}, 20) }
