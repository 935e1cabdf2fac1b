package keydraw

import (
	"fmt"
	"image"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pointerSide = 64 // the size that virtio-gpu and qxl take
	// pointerChanges is how many moves a shape lasts; every pointerHides-th shape is
	// none.
	pointerChanges = 25
	pointerHides   = 4

	// Flags of drmModeCursor (include/uapi/drm/drm_mode.h).
	cursorBO   = 1
	cursorMove = 2
)

// pointer is a mouse pointer that walks over the screen, changes its shape and
// hides now and then.
type pointer struct {
	display *display
	handle  uint32
	pix     []uint32
	moves   int
}

func (d *display) newPointer() (*pointer, error) {
	dumb := drmModeCreateDumb{width: pointerSide, height: pointerSide, bpp: 32}
	if err := drmIoctl(d.card, drmModeCreateDumbNr, &dumb); err != nil {
		return nil, fmt.Errorf("pointer's buffer: %w", err)
	}
	where := drmModeMapDumb{handle: dumb.handle}
	if err := drmIoctl(d.card, drmModeMapDumbNr, &where); err != nil {
		return nil, err
	}
	mapping, err := unix.Mmap(int(d.card.Fd()), int64(where.offset), int(dumb.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map pointer's buffer: %w", err)
	}
	return &pointer{display: d, handle: dumb.handle, pix: unsafe.Slice((*uint32)(unsafe.Pointer(&mapping[0])), len(mapping)/4)}, nil
}

// move does the next step.
func (p *pointer) move() error {
	at := pointerAt(p.moves)
	request := drmModeCursor{flags: cursorMove, crtcID: p.display.crtc, x: int32(at.X), y: int32(at.Y)}
	if p.moves%pointerChanges == 0 {
		request.flags |= cursorBO
		request.width, request.height = pointerSide, pointerSide
		shape := p.moves / pointerChanges
		if shape%pointerHides != pointerHides-1 {
			request.handle = p.handle
			paintPointer(p.pix, shape)
		}
	}
	p.moves++
	return drmIoctl(p.display.card, drmModeCursorNr, &request)
}

// pointerAt is where the pointer is after n moves.
func pointerAt(n int) image.Point { return image.Pt(200+7*n%400, 200+5*n%300) }

// paintPointer paints a triangle in a colour of its own for each shape, the rest
// transparent.
func paintPointer(pix []uint32, shape int) {
	colour := 0xff000000 | uint32(shape)*0x3579bd&0xffffff
	for i := range pix[:pointerSide*pointerSide] {
		pix[i] = 0
		if x, y := i%pointerSide, i/pointerSide; x <= y && y < pointerSide/2 {
			pix[i] = colour
		}
	}
}
