package keydraw

import (
	"errors"
	"fmt"
	"image"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's mode-setting interface, as laid out in include/uapi/drm/drm.h and
// drm_mode.h. Field names follow those headers.
type (
	drmModeInfo struct {
		clock                                         uint32
		hdisplay, hsyncStart, hsyncEnd, htotal, hskew uint16
		vdisplay, vsyncStart, vsyncEnd, vtotal, vscan uint16
		vrefresh, flags, kind                         uint32
		name                                          [32]byte
	}
	drmModeCardRes struct {
		fbIDPtr, crtcIDPtr, connectorIDPtr, encoderIDPtr     uint64
		countFBs, countCRTCs, countConnectors, countEncoders uint32
		minWidth, maxWidth, minHeight, maxHeight             uint32
	}
	drmModeGetConnector struct {
		encodersPtr, modesPtr, propsPtr, propValuesPtr         uint64
		countModes, countProps, countEncoders                  uint32
		encoderID, connectorID, connectorType, connectorTypeID uint32
		connection, mmWidth, mmHeight, subpixel, pad           uint32
	}
	drmModeCRTC struct {
		setConnectorsPtr                                          uint64
		countConnectors, crtcID, fbID, x, y, gammaSize, modeValid uint32
		mode                                                      drmModeInfo
	}
	drmModeCreateDumb struct {
		height, width, bpp, flags, handle, pitch uint32
		size                                     uint64
	}
	drmModeMapDumb struct {
		handle, pad uint32
		offset      uint64
	}
	drmModeDestroyDumb struct{ handle uint32 }
	drmModeFBCmd       struct{ fbID, width, height, pitch, bpp, depth, handle uint32 }
	drmModeFBDirtyCmd  struct {
		fbID, flags, color, numClips uint32
		clipsPtr                     uint64
	}
	drmClipRect   struct{ x1, y1, x2, y2 uint16 }
	drmModeCursor struct {
		flags, crtcID         uint32
		x, y                  int32
		width, height, handle uint32
	}
)

// Numbers of the requests; each reads and writes its argument.
const (
	drmModeGetResourcesNr = 0xa0
	drmModeSetCRTCNr      = 0xa2
	drmModeCursorNr       = 0xa3
	drmModeGetConnectorNr = 0xa7
	drmModeAddFBNr        = 0xae
	drmModeRmFBNr         = 0xaf
	drmModeDirtyFBNr      = 0xb1
	drmModeCreateDumbNr   = 0xb2
	drmModeMapDumbNr      = 0xb3
	drmModeDestroyDumbNr  = 0xb4
)

// drmIoctl issues a DRM request (_IOWR('d', nr, T), include/uapi/asm-generic/ioctl.h).
func drmIoctl[T any](card *os.File, nr uintptr, arg *T) error {
	request := uintptr(3)<<30 | unsafe.Sizeof(*arg)<<16 | 'd'<<8 | nr
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, card.Fd(), request, uintptr(unsafe.Pointer(arg)))
		switch {
		case errno == 0:
			return nil
		case errno != unix.EINTR && errno != unix.EAGAIN:
			return fmt.Errorf("drm request %#x: %w", nr, errno)
		}
	}
}

// display is the first connector of a card and the controller that drives it.
type display struct {
	card      *os.File
	crtc      uint32
	connector uint32
	modes     []drmModeInfo // the preferred one first
}

func openDisplay(card *os.File) (*display, error) {
	var ids struct{ crtcs, connectors [8]uint32 }
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&ids)
	res := drmModeCardRes{
		crtcIDPtr:       address(&ids.crtcs[0]),
		connectorIDPtr:  address(&ids.connectors[0]),
		countCRTCs:      uint32(len(ids.crtcs)),
		countConnectors: uint32(len(ids.connectors)),
	}
	if err := drmIoctl(card, drmModeGetResourcesNr, &res); err != nil {
		return nil, err
	}
	if res.countCRTCs == 0 || res.countConnectors == 0 {
		return nil, errors.New("graphics card has no output")
	}
	d := &display{card: card, crtc: ids.crtcs[0], connector: ids.connectors[0]}
	return d, d.readModes()
}

// readModes asks for the connector's modes: how many, then which.
func (d *display) readModes() error {
	ask := drmModeGetConnector{connectorID: d.connector}
	if err := drmIoctl(d.card, drmModeGetConnectorNr, &ask); err != nil {
		return err
	}
	if ask.countModes == 0 {
		return errors.New("graphics connector has no modes")
	}
	modes := make([]drmModeInfo, ask.countModes)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&modes[0])
	get := drmModeGetConnector{connectorID: d.connector, modesPtr: address(&modes[0]), countModes: ask.countModes}
	if err := drmIoctl(d.card, drmModeGetConnectorNr, &get); err != nil {
		return err
	}
	d.modes = modes[:min(get.countModes, ask.countModes)]
	return nil
}

// address is a pointer as the kernel's structures carry it. What it points to
// must be pinned.
func address[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

func (m *drmModeInfo) size() image.Point { return image.Pt(int(m.hdisplay), int(m.vdisplay)) }

// framebuffer is a dumb buffer, mapped and ready to be shown.
type framebuffer struct {
	canvas
	display *display
	id      uint32
	handle  uint32
	mapping []byte
	clip    *drmClipRect // pinned: the kernel reads it through dirty
	dirty   drmModeFBDirtyCmd
	pin     runtime.Pinner
}

// newFramebuffer makes a buffer of 32 bits per pixel, 24 of them colour.
func (d *display) newFramebuffer(size image.Point) (*framebuffer, error) {
	dumb := drmModeCreateDumb{width: uint32(size.X), height: uint32(size.Y), bpp: 32}
	if err := drmIoctl(d.card, drmModeCreateDumbNr, &dumb); err != nil {
		return nil, fmt.Errorf("frame buffer of %v: %w", size, err)
	}
	fb := drmModeFBCmd{width: dumb.width, height: dumb.height, pitch: dumb.pitch, bpp: 32, depth: 24, handle: dumb.handle}
	if err := drmIoctl(d.card, drmModeAddFBNr, &fb); err != nil {
		return nil, err
	}
	where := drmModeMapDumb{handle: dumb.handle}
	if err := drmIoctl(d.card, drmModeMapDumbNr, &where); err != nil {
		return nil, err
	}
	mapping, err := unix.Mmap(int(d.card.Fd()), int64(where.offset), int(dumb.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map frame buffer: %w", err)
	}
	f := &framebuffer{display: d, id: fb.fbID, handle: dumb.handle, mapping: mapping, clip: new(drmClipRect)}
	f.canvas = canvas{
		pix:    unsafe.Slice((*uint32)(unsafe.Pointer(&mapping[0])), len(mapping)/4),
		stride: int(dumb.pitch) / 4,
		size:   size,
	}
	f.pin.Pin(f.clip)
	f.dirty = drmModeFBDirtyCmd{fbID: f.id, numClips: 1, clipsPtr: address(f.clip)}
	return f, nil
}

// show makes the display scan out this buffer in a mode of its size.
func (f *framebuffer) show(mode drmModeInfo) error {
	connector := f.display.connector
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&connector)
	return drmIoctl(f.display.card, drmModeSetCRTCNr, &drmModeCRTC{
		setConnectorsPtr: address(&connector),
		countConnectors:  1,
		crtcID:           f.display.crtc,
		fbID:             f.id,
		modeValid:        1,
		mode:             mode,
	})
}

// flush hands one changed rectangle to the host. It does not allocate.
func (f *framebuffer) flush(r image.Rectangle) error {
	*f.clip = drmClipRect{uint16(r.Min.X), uint16(r.Min.Y), uint16(r.Max.X), uint16(r.Max.Y)}
	return drmIoctl(f.display.card, drmModeDirtyFBNr, &f.dirty)
}

// close frees a buffer that is no longer shown.
func (f *framebuffer) close() error {
	f.pin.Unpin()
	return errors.Join(
		unix.Munmap(f.mapping),
		drmIoctl(f.display.card, drmModeRmFBNr, &f.id),
		drmIoctl(f.display.card, drmModeDestroyDumbNr, &drmModeDestroyDumb{handle: f.handle}),
	)
}

// secondMode is the largest mode that is smaller than the preferred one in both
// directions, or the preferred one if there is none.
func (d *display) secondMode() drmModeInfo {
	best, first := image.Point{}, d.modes[0].size()
	second := d.modes[0]
	for _, m := range d.modes {
		size := m.size()
		if size.X < first.X && size.Y < first.Y && size.X*size.Y > best.X*best.Y {
			best, second = size, m
		}
	}
	return second
}

// mode returns one of the modes that fit into the preferred one, each size once,
// the preferred one first. Numbers beyond the last begin anew.
func (d *display) mode(number int) drmModeInfo {
	var fitting []drmModeInfo
	first := d.modes[0].size()
	for _, m := range d.modes {
		size := m.size()
		known := slices.ContainsFunc(fitting, func(f drmModeInfo) bool { return f.size() == size })
		if !known && size.X <= first.X && size.Y <= first.Y {
			fitting = append(fitting, m)
		}
	}
	return fitting[number%len(fitting)]
}
