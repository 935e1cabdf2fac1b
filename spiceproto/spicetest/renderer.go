package spicetest

import (
	"fmt"
	"maps"
	"slices"

	"spicepacer/spiceproto"
)

// Renderer is a client reduced to what it shows and keeps: it applies whole
// messages of a display channel to a framebuffer, image and palette caches, the
// GLZ window and streams. It knows no codec: the bytes of an image are the seed
// of its pixels. Two Renderers that were given the same messages are equal, and
// those given messages whose order or absence matters are not (Diff).
//
// What would block spice-gtk or make it draw garbage is an error: an image or
// palette that is not in the cache, a GLZ image out of order, a surface or a
// stream that does not exist. So is what no viewer should see: a message that
// paints over a newer one.
//
// Grain makes large screens cheap: that many pixels in each direction are one
// cell, and every coordinate must be a multiple of it. Use NewRenderer.
type Renderer struct {
	grain    int32
	surfaces map[uint32]*canvas
	images   map[uint64]cachedImage
	palettes map[uint64]uint64
	streams  map[uint32]*video
	glz      uint64 // id of the last GLZ image
	anyGLZ   bool
	pinged   uint32
	observed uint64 // what could be seen at each message that orders all others
	number   uint64 // of the message being applied
}

type cachedImage struct {
	texture
	lossy bool
}

// video is a stream; state is that of its decoder.
type video struct {
	dest  spiceproto.Rect
	clip  spiceproto.Clip
	state uint64
}

// NewRenderer returns a renderer without surfaces, whose cells are grain pixels
// wide and high.
func NewRenderer(grain int) *Renderer {
	return &Renderer{
		grain:    int32(grain),
		surfaces: make(map[uint32]*canvas),
		images:   make(map[uint64]cachedImage),
		palettes: make(map[uint64]uint64),
		streams:  make(map[uint32]*video),
	}
}

// Apply draws a message, header and body, that the server sent as the one of the
// given number, from 1.
func (r *Renderer) Apply(number uint64, message []byte) error {
	h, ok := spiceproto.ParseHeader(message)
	if !ok {
		return fmt.Errorf("message %d: no header", number)
	}
	r.number = number
	if err := r.apply(h.Type, message[spiceproto.MiniHeaderSize:]); err != nil {
		name := spiceproto.MessageName(spiceproto.ChannelDisplay, spiceproto.ServerToClient, h.Type)
		return fmt.Errorf("message %d (%s): %w", number, name, err)
	}
	return nil
}

func (r *Renderer) apply(op uint16, body []byte) error {
	switch {
	case spiceproto.IsDraw(op):
		return r.draw(op, body)
	case op >= spiceproto.MsgDisplayStreamCreate && op <= spiceproto.MsgDisplayStreamDestroyAll:
		return r.stream(op, body)
	}
	switch op {
	case spiceproto.MsgPing:
		return r.ping(body)
	case spiceproto.MsgDisplayInvalList:
		return r.invalidate(body)
	case spiceproto.MsgDisplayInvalPalette:
		m, err := spiceproto.ParseInvalPalette(body)
		if _, has := r.palettes[m.ID]; err == nil && !has {
			return fmt.Errorf("palette %d is not in the cache", m.ID)
		}
		delete(r.palettes, m.ID)
		return err
	case spiceproto.MsgDisplaySurfaceCreate:
		m, err := spiceproto.ParseSurfaceCreate(body)
		if err != nil {
			return err
		}
		return r.create(m)
	case spiceproto.MsgDisplaySurfaceDestroy:
		m, err := spiceproto.ParseSurfaceDestroy(body)
		if _, has := r.surfaces[m.ID]; err == nil && !has {
			return fmt.Errorf("surface %d does not exist", m.ID)
		}
		delete(r.surfaces, m.ID)
		return err
	case spiceproto.MsgDisplayInvalAllPixmaps:
		clear(r.images)
	case spiceproto.MsgDisplayInvalAllPalettes:
		clear(r.palettes)
	case spiceproto.MsgDisplayReset, spiceproto.MsgDisplayMode:
		clear(r.palettes)
		if c := r.surfaces[0]; c != nil {
			clear(c.value)
		}
	}
	// Of all others it is only known that their place matters.
	r.observe(op)
	return nil
}

// observe notes what the primary surface shows at this message.
func (r *Renderer) observe(op uint16) {
	r.observed = mix(r.observed, uint64(op), r.number)
	if c := r.surfaces[0]; c != nil {
		r.observed = mix(r.observed, c.digest())
	}
}

func (r *Renderer) ping(body []byte) error {
	m, err := spiceproto.ParsePing(body)
	if err == nil && m.ID <= r.pinged {
		return fmt.Errorf("PING %d comes after PING %d", m.ID, r.pinged)
	}
	r.pinged = m.ID
	return err
}

func (r *Renderer) invalidate(body []byte) error {
	m, err := spiceproto.ParseInvalList(body)
	for _, o := range m.Resources {
		if _, has := r.images[o.ID]; !has {
			return fmt.Errorf("image %d is not in the cache", o.ID)
		}
		delete(r.images, o.ID)
	}
	return err
}

func (r *Renderer) create(m spiceproto.SurfaceCreate) error {
	if r.surfaces[m.ID] != nil && m.ID != 0 {
		return fmt.Errorf("surface %d exists", m.ID)
	}
	width, err := r.cell(int32(m.Width))
	if err != nil {
		return err
	}
	height, err := r.cell(int32(m.Height))
	r.surfaces[m.ID] = newCanvas(width, height)
	r.observe(spiceproto.MsgDisplaySurfaceCreate)
	return err
}

func (r *Renderer) stream(op uint16, body []byte) error {
	if op != spiceproto.MsgDisplayStreamData {
		r.observe(op)
	}
	switch op {
	case spiceproto.MsgDisplayStreamCreate:
		m, err := spiceproto.ParseStreamCreate(body)
		r.streams[m.ID] = &video{dest: m.Dest, clip: m.Clip}
		return err
	case spiceproto.MsgDisplayStreamData:
		m, err := spiceproto.ParseStreamData(body)
		if err != nil {
			return err
		}
		return r.frame(m)
	case spiceproto.MsgDisplayStreamClip:
		m, err := spiceproto.ParseStreamClip(body)
		if err != nil {
			return err
		}
		v, has := r.streams[m.ID]
		if !has {
			return fmt.Errorf("stream %d does not exist", m.ID)
		}
		v.clip = m.Clip
	case spiceproto.MsgDisplayStreamDestroy:
		m, err := spiceproto.ParseStreamDestroy(body)
		if _, has := r.streams[m.ID]; err == nil && !has {
			return fmt.Errorf("stream %d does not exist", m.ID)
		}
		delete(r.streams, m.ID)
		return err
	case spiceproto.MsgDisplayStreamDestroyAll:
		clear(r.streams)
	}
	return nil
}

// frame shows a frame at once. Each depends on all before it.
func (r *Renderer) frame(m spiceproto.StreamData) error {
	v, has := r.streams[m.ID]
	if !has {
		return fmt.Errorf("stream %d does not exist", m.ID)
	}
	v.state = mix(v.state, seedOf(m.Data))
	base := spiceproto.DrawBase{Box: v.dest, Clip: v.clip}
	return r.paint(base, func(x, y int32, _ uint64) (uint64, bool) {
		return mix(v.state, uint64(x), uint64(y)), true
	})
}

// cell converts a coordinate.
func (r *Renderer) cell(pixel int32) (int32, error) {
	if pixel%r.grain != 0 {
		return 0, fmt.Errorf("coordinate %d is no multiple of %d", pixel, r.grain)
	}
	return pixel / r.grain, nil
}

func (r *Renderer) cells(p spiceproto.Rect) (spiceproto.Rect, error) {
	for _, v := range [...]*int32{&p.Top, &p.Left, &p.Bottom, &p.Right} {
		c, err := r.cell(*v)
		if err != nil {
			return p, err
		}
		*v = c
	}
	return p, nil
}

// paint gives the cells of a draw their values: of takes the cell relative to
// the box, and what it shows; false leaves it.
func (r *Renderer) paint(base spiceproto.DrawBase, of func(x, y int32, old uint64) (uint64, bool)) error {
	c := r.surfaces[base.Surface]
	if c == nil {
		return fmt.Errorf("surface %d does not exist", base.Surface)
	}
	box, err := r.cells(base.Box)
	if err != nil {
		return err
	}
	clip := make([]spiceproto.Rect, len(base.Clip.Rects))
	for i, p := range base.Clip.Rects {
		if clip[i], err = r.cells(p); err != nil {
			return err
		}
	}
	for y := max(box.Top, 0); y < min(box.Bottom, c.height); y++ {
		for x := max(box.Left, 0); x < min(box.Right, c.width); x++ {
			if base.Clip.Type == spiceproto.ClipRects && !inside(clip, x, y) {
				continue
			}
			at := int(y)*int(c.width) + int(x)
			v, paints := of(x-box.Left, y-box.Top, c.value[at])
			if !paints {
				continue
			}
			if c.writer[at] > r.number {
				return fmt.Errorf("paints over message %d at cell %d, %d", c.writer[at], x, y)
			}
			c.value[at], c.writer[at] = v, r.number
		}
	}
	return nil
}

// Diff tells in what two renderers differ, "" if in nothing.
func (r *Renderer) Diff(o *Renderer) string {
	if d := r.diffSurfaces(o); d != "" {
		return d
	}
	for id, s := range r.streams {
		if t := o.streams[id]; t == nil || s.state != t.state {
			return fmt.Sprintf("stream %d differs", id)
		}
	}
	switch {
	case !maps.Equal(r.images, o.images):
		return fmt.Sprintf("image caches hold %v and %v", r.images, o.images)
	case !maps.Equal(r.palettes, o.palettes):
		return fmt.Sprintf("palette caches hold %v and %v", r.palettes, o.palettes)
	case r.glz != o.glz:
		return fmt.Sprintf("the last GLZ images are %d and %d", r.glz, o.glz)
	case r.pinged != o.pinged:
		return fmt.Sprintf("the last PINGs are %d and %d", r.pinged, o.pinged)
	case len(r.streams) != len(o.streams):
		return fmt.Sprintf("there are %d and %d streams", len(r.streams), len(o.streams))
	case r.observed != o.observed:
		return "at some message that orders all others the pictures differed"
	}
	return ""
}

func (r *Renderer) diffSurfaces(o *Renderer) string {
	ids, others := slices.Sorted(maps.Keys(r.surfaces)), slices.Sorted(maps.Keys(o.surfaces))
	if !slices.Equal(ids, others) {
		return fmt.Sprintf("there are surfaces %v and %v", ids, others)
	}
	for _, id := range ids {
		a, b := r.surfaces[id], o.surfaces[id]
		if a.width != b.width || a.height != b.height {
			return fmt.Sprintf("surface %d has %d × %d and %d × %d cells", id, a.width, a.height, b.width, b.height)
		}
		for i := range a.value {
			if a.value[i] != b.value[i] || a.writer[i] != b.writer[i] {
				return fmt.Sprintf("surface %d shows messages %d and %d at cell %d, %d",
					id, a.writer[i], b.writer[i], i%int(a.width), i/int(a.width))
			}
		}
	}
	return ""
}
