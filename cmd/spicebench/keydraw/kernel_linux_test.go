package keydraw

import (
	"encoding/binary"
	"image"
	"testing"
	"unsafe"
)

// Sizes are part of every request's number, so a wrong one is refused; these are
// the headers' on 64-bit machines.
func TestKernelStructSizes(t *testing.T) {
	for name, size := range map[string][2]uintptr{
		"drm_mode_modeinfo":      {unsafe.Sizeof(drmModeInfo{}), 68},
		"drm_mode_card_res":      {unsafe.Sizeof(drmModeCardRes{}), 64},
		"drm_mode_get_connector": {unsafe.Sizeof(drmModeGetConnector{}), 80},
		"drm_mode_crtc":          {unsafe.Sizeof(drmModeCRTC{}), 104},
		"drm_mode_create_dumb":   {unsafe.Sizeof(drmModeCreateDumb{}), 32},
		"drm_mode_map_dumb":      {unsafe.Sizeof(drmModeMapDumb{}), 16},
		"drm_mode_destroy_dumb":  {unsafe.Sizeof(drmModeDestroyDumb{}), 4},
		"drm_mode_fb_cmd":        {unsafe.Sizeof(drmModeFBCmd{}), 28},
		"drm_mode_fb_dirty_cmd":  {unsafe.Sizeof(drmModeFBDirtyCmd{}), 24},
		"drm_clip_rect":          {unsafe.Sizeof(drmClipRect{}), 8},
	} {
		if size[0] != size[1] {
			t.Errorf("%s is %d bytes, want %d", name, size[0], size[1])
		}
	}
}

func TestCountPresses(t *testing.T) {
	event := func(kind, code uint16, value uint32) []byte {
		b := make([]byte, inputEventSize)
		binary.LittleEndian.PutUint16(b[16:], kind)
		binary.LittleEndian.PutUint16(b[18:], code)
		binary.LittleEndian.PutUint32(b[20:], value)
		return b
	}
	var events []byte
	for _, e := range [][]byte{
		event(4, 4, 57), event(evKey, keySpace, 1), event(0, 0, 0), // press, with scan code and report
		event(evKey, keySpace, 2), event(evKey, keySpace, 0), // repeat, release
		event(evKey, 30, 1), // another key
	} {
		events = append(events, e...)
	}
	if got := countPresses(events); got != 2 {
		t.Errorf("countPresses = %d, want 2", got)
	}
}

func TestSecondMode(t *testing.T) {
	mode := func(w, h uint16) drmModeInfo { return drmModeInfo{hdisplay: w, vdisplay: h} }
	d := &display{modes: []drmModeInfo{mode(1280, 800), mode(1920, 1080), mode(1280, 720), mode(800, 600), mode(1024, 768)}}
	if m := d.secondMode(); m.size() != image.Pt(1024, 768) {
		t.Errorf("second mode is %v", m.size())
	}
	d.modes = d.modes[:3]
	if m := d.secondMode(); m.size() != image.Pt(1280, 800) {
		t.Errorf("without a smaller one the second mode is %v", m.size())
	}
}

func TestFittingModes(t *testing.T) {
	mode := func(w, h uint16) drmModeInfo { return drmModeInfo{hdisplay: w, vdisplay: h} }
	d := &display{modes: []drmModeInfo{mode(1280, 800), mode(1920, 1080), mode(1280, 720), mode(1280, 720), mode(800, 600)}}
	for number, want := range []image.Point{{1280, 800}, {1280, 720}, {800, 600}, {1280, 800}} {
		if m := d.mode(number); m.size() != want {
			t.Errorf("mode %d is %v, want %v", number, m.size(), want)
		}
	}
}
