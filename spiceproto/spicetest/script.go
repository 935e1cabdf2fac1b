package spicetest

import (
	"encoding/binary"

	"spicepacer/spiceproto"
)

// Script makes up what a server might send on a display channel: messages of all
// kinds in an order that a client can follow. It leans to what makes a queue
// work: the same places again and again, columns whose grid shifts, copies of
// what was just drawn. Use NewScript.
type Script struct {
	// Grain is that of a Renderer that can follow.
	Grain int

	pick          func(n int) int
	kinds         []func(*Script) []byte
	width, height int32 // in cells
	places        []spiceproto.Rect
	number        uint32
	ids           uint64
	images        []uint64 // cached, lossless
	palettes      []uint64
	surfaces      []uint32 // beside the primary one
	streams       []uint32
	glz           uint64
	pings         uint32
	opened        bool
}

const (
	scriptWidth, scriptHeight = 24, 16 // cells
	scriptSurfaces            = 3
	scriptStreams             = 3
)

// NewScript returns a script that asks pick for a number from 0 to n-1 whenever
// there is a choice.
func NewScript(pick func(n int) int) *Script {
	s := &Script{pick: pick, width: scriptWidth, height: scriptHeight}
	// One cell of the finder's grid, some, and so many that a large draw is wide.
	s.Grain = []int{1, 8, 40, 40, 48}[pick(5)]
	s.kinds = append(s.kinds, calm...)
	for _, more := range [][]func(*Script) []byte{caching, reading, elsewhere, ordering} {
		if pick(3) == 0 {
			s.kinds = append(s.kinds, more...)
		}
	}
	s.choosePlaces()
	return s
}

// choosePlaces takes a few places that may overlap, or many that do not.
func (s *Script) choosePlaces() {
	if s.pick(2) == 0 {
		for range 4 {
			s.places = append(s.places, s.randomBox())
		}
		return
	}
	const wide, high = 6, 4
	for top := 0; top < scriptHeight; top += high {
		for left := 0; left < scriptWidth; left += wide {
			s.places = append(s.places, s.rect(left, top, left+wide, top+high))
		}
	}
}

// The kinds of messages, by what they do to a queue. Those that come more often
// stand there more than once.
var (
	calm = []func(*Script) []byte{
		(*Script).image, (*Script).image, (*Script).image, (*Script).image, (*Script).image,
		(*Script).column, (*Script).column, (*Script).fill,
	}
	caching = []func(*Script) []byte{
		(*Script).store, (*Script).cached, (*Script).glzImage, (*Script).glzImage, (*Script).palette,
		(*Script).colour, (*Script).forget, (*Script).forgetPalette, (*Script).ping,
	}
	reading = []func(*Script) []byte{
		(*Script).move, (*Script).move, (*Script).move, (*Script).combine, (*Script).combine, (*Script).clipped,
		(*Script).masked, (*Script).partial, (*Script).constant,
	}
	elsewhere = []func(*Script) []byte{
		(*Script).surface, (*Script).closeSurface, (*Script).offScreen, (*Script).offScreen, (*Script).fromSurface,
		(*Script).fromSurface, (*Script).openStream, (*Script).frame, (*Script).frame, (*Script).closeStream,
	}
	ordering = []func(*Script) []byte{(*Script).order, (*Script).image, (*Script).image, (*Script).resize}
)

// Next returns the next message, header and body. The first creates the primary
// surface.
func (s *Script) Next() []byte {
	s.number++
	if !s.opened {
		s.opened = true
		return s.primary()
	}
	if m := s.kinds[s.pick(len(s.kinds))](s); m != nil {
		return m
	}
	return s.image()
}

func (s *Script) primary() []byte {
	grain := uint32(s.Grain)
	return spiceproto.SurfaceCreate{
		Width: uint32(s.width) * grain, Height: uint32(s.height) * grain, Format: 32, Flags: 1,
	}.Append(nil)
}

func (s *Script) resize() []byte {
	s.width, s.height = scriptWidth-int32(s.pick(8)), scriptHeight-int32(s.pick(8))
	return s.primary()
}

// rect returns a rectangle of cells in pixels.
func (s *Script) rect(left, top, right, bottom int) spiceproto.Rect {
	g := int32(s.Grain)
	return spiceproto.Rect{
		Top: int32(top) * g, Left: int32(left) * g, Bottom: int32(bottom) * g, Right: int32(right) * g,
	}
}

func (s *Script) randomBox() spiceproto.Rect {
	left, top := s.pick(scriptWidth), s.pick(scriptHeight)
	right, bottom := left+1+s.pick(12), top+1+s.pick(8)
	return s.rect(left, top, right, bottom)
}

// box returns where the next draw goes.
func (s *Script) box() spiceproto.Rect {
	p := s.places[s.pick(len(s.places))]
	g := int32(s.Grain)
	switch s.pick(12) {
	case 0:
		return s.randomBox()
	case 1: // the whole screen and more
		return s.rect(-2, -1, scriptWidth+3, scriptHeight)
	case 2: // the left half
		p.Right = p.Left + max((p.Right-p.Left)/g/2, 1)*g
	case 3: // the right half
		p.Left = p.Right - max((p.Right-p.Left+g)/g/2, 1)*g
	case 4: // one row of it
		p.Bottom = p.Top + g
	case 5: // a little more
		p.Top, p.Right = p.Top-g, p.Right+g
	}
	return p
}

func (s *Script) base() spiceproto.DrawBase { return spiceproto.DrawBase{Box: s.box()} }

// data are bytes that no other message has.
func (s *Script) data() []byte {
	s.ids++
	return binary.LittleEndian.AppendUint64(make([]byte, 0, 8), s.ids)
}

// picture returns an image as large as box.
func (s *Script) picture(box spiceproto.Rect) *spiceproto.Picture {
	kind := []spiceproto.ImageType{
		spiceproto.ImageLZRGB, spiceproto.ImageQUIC, spiceproto.ImageLZ4, spiceproto.ImageJPEG,
	}[s.pick(4)]
	return &spiceproto.Picture{
		Image:   spiceproto.Image{ID: s.ids, Type: kind, Width: uint32(box.Width()), Height: uint32(box.Height())},
		Payload: spiceproto.EncodedData{Data: s.data()},
	}
}

// draw puts an image to its place as it is.
func draw(base spiceproto.DrawBase, p *spiceproto.Picture) spiceproto.DrawCopy {
	return spiceproto.DrawCopy{
		DrawBase: base, Src: p, Rop: spiceproto.RopPut,
		SrcArea: spiceproto.Rect{Bottom: int32(base.Box.Height()), Right: int32(base.Box.Width())},
	}
}

func (s *Script) image() []byte {
	base := s.base()
	return draw(base, s.picture(base.Box)).Append(nil)
}

// column is one of a grid that begins anywhere, as QEMU's does.
func (s *Script) column() []byte {
	p := s.places[0]
	wide := 1 + s.pick(3)
	left := int(p.Left)/s.Grain - s.pick(2) + wide*s.pick(4)
	base := spiceproto.DrawBase{Box: s.rect(left, int(p.Top)/s.Grain, left+wide, int(p.Bottom)/s.Grain)}
	return draw(base, s.picture(base.Box)).Append(nil)
}

func (s *Script) fill() []byte {
	s.ids++
	return spiceproto.DrawFill{
		DrawBase: s.base(), Rop: spiceproto.RopPut,
		Brush: spiceproto.Brush{Type: spiceproto.BrushSolid, Color: uint32(s.ids)},
	}.Append(nil)
}

func (s *Script) store() []byte {
	base := s.base()
	p := s.picture(base.Box)
	p.Type = spiceproto.ImageLZRGB
	p.Flags = []uint8{spiceproto.ImageCacheMe, spiceproto.ImageCacheReplaceMe}[s.pick(2)]
	s.images = append(s.images, p.ID)
	return draw(base, p).Append(nil)
}

// cached draws with an image of the client's cache: as source, brush or mask.
func (s *Script) cached() []byte {
	if len(s.images) == 0 {
		return s.store()
	}
	base := s.base()
	p := &spiceproto.Picture{Image: spiceproto.Image{
		ID: s.images[s.pick(len(s.images))], Type: spiceproto.ImageFromCache,
		Width: uint32(base.Box.Width()), Height: uint32(base.Box.Height()),
	}}
	if s.pick(2) == 0 {
		p.Type = spiceproto.ImageFromCacheLossless
	}
	switch s.pick(3) {
	case 0:
		m := draw(base, s.picture(base.Box))
		m.Mask = spiceproto.Mask{Bitmap: p}
		return m.Append(nil)
	case 1:
		return spiceproto.DrawAlphaBlend{DrawBase: base, Alpha: 255, Src: p}.Append(nil)
	}
	// The image may have another size than the box: it is tiled then.
	return spiceproto.DrawBlend(draw(base, p)).Append(nil)
}

func (s *Script) glzImage() []byte {
	s.glz++
	base := s.base()
	p := s.picture(base.Box)
	p.Type, p.Payload = spiceproto.ImageGLZRGB, spiceproto.EncodedData{Data: spiceproto.GLZHeader{ID: s.glz}.Append(nil)}
	if s.pick(3) == 0 {
		p.Type = spiceproto.ImageZlibGLZRGB
		p.Payload = spiceproto.ZlibGLZData{Data: spiceproto.GLZHeader{ID: s.glz}.Append(nil)}
	}
	return draw(base, p).Append(nil)
}

func (s *Script) indexed(base spiceproto.DrawBase, m spiceproto.LZPLTData) []byte {
	p := s.picture(base.Box)
	m.Data = s.data()
	p.Type, p.Payload = spiceproto.ImageLZPLT, m
	return draw(base, p).Append(nil)
}

// palette draws with one that is stored.
func (s *Script) palette() []byte {
	base := s.base()
	s.ids++
	s.palettes = append(s.palettes, s.ids)
	return s.indexed(base, spiceproto.LZPLTData{
		Flags:   spiceproto.BitmapPaletteCacheMe,
		Palette: &spiceproto.Palette{ID: s.ids, Entries: []uint32{uint32(s.ids)}},
	})
}

// colour draws with a stored palette.
func (s *Script) colour() []byte {
	if len(s.palettes) == 0 {
		return s.palette()
	}
	return s.indexed(s.base(), spiceproto.LZPLTData{
		Flags: spiceproto.BitmapPaletteFromCache, PaletteID: s.palettes[s.pick(len(s.palettes))],
	})
}

func (s *Script) forget() []byte {
	if len(s.images) == 0 {
		return spiceproto.InvalList{}.Append(nil)
	}
	var id uint64
	id, s.images = s.removed(s.images)
	return spiceproto.InvalList{Resources: []spiceproto.Resource{{Type: spiceproto.ResourcePixmap, ID: id}}}.Append(nil)
}

func (s *Script) removed(from []uint64) (uint64, []uint64) {
	i := s.pick(len(from))
	id := from[i]
	return id, append(from[:i:i], from[i+1:]...)
}

func (s *Script) forgetPalette() []byte {
	if len(s.palettes) == 0 {
		return nil
	}
	var id uint64
	id, s.palettes = s.removed(s.palettes)
	return spiceproto.InvalPalette{ID: id}.Append(nil)
}

func (s *Script) ping() []byte {
	s.pings++
	return spiceproto.Ping{ID: s.pings}.Append(nil)
}

// move copies a place to another, itself or its neighbour.
func (s *Script) move() []byte {
	m := spiceproto.CopyBits{DrawBase: s.base()}
	g := int32(s.Grain)
	m.SrcPos = spiceproto.Point{X: m.Box.Left + int32(s.pick(3)-1)*g, Y: m.Box.Top + int32(s.pick(3)-1)*g}
	if s.pick(2) == 0 {
		from := s.box()
		m.SrcPos = spiceproto.Point{X: from.Left, Y: from.Top}
	}
	return m.Append(nil)
}

// combine is a draw whose result depends on what is there.
func (s *Script) combine() []byte {
	base := s.base()
	p := s.picture(base.Box)
	brush := spiceproto.Brush{Type: spiceproto.BrushSolid, Color: uint32(s.ids)}
	switch s.pick(10) {
	case 0:
		return spiceproto.DrawBlend(draw(base, p)).Append(nil)
	case 1:
		return spiceproto.DrawInvers{DrawBase: base}.Append(nil)
	case 2:
		return spiceproto.DrawROP3{DrawBase: base, Src: p, Brush: brush, ROP3: 0x5a}.Append(nil)
	case 3:
		return spiceproto.DrawStroke{
			DrawBase: base, Brush: brush, ForeMode: spiceproto.RopPut, BackMode: spiceproto.RopPut,
			Path: spiceproto.Path{
				Segments: []spiceproto.PathSegment{{Flags: spiceproto.PathBegin | spiceproto.PathEnd, Count: 2}},
				Points:   []spiceproto.FixPoint{{}, {X: 160, Y: int32(s.ids)}},
			},
		}.Append(nil)
	case 4:
		return spiceproto.DrawText{
			DrawBase: base, ForeBrush: brush, ForeMode: spiceproto.RopPut, BackMode: spiceproto.RopPut,
			String: spiceproto.RasterString{
				Flags:  spiceproto.StringRasterA8,
				Glyphs: []spiceproto.Glyph{{Width: 1, Height: 1, Data: []byte{byte(s.ids)}}},
			},
		}.Append(nil)
	case 5:
		return spiceproto.DrawTransparent{DrawBase: base, Src: p}.Append(nil)
	case 6:
		return spiceproto.DrawAlphaBlend{DrawBase: base, Alpha: 100, Src: p}.Append(nil)
	case 7:
		return spiceproto.DrawComposite{DrawBase: base, Src: p}.Append(nil)
	case 8:
		m := draw(base, p)
		m.Rop = []spiceproto.Rop{spiceproto.RopXor, spiceproto.RopAnd, spiceproto.RopPut | spiceproto.RopInversDest}[s.pick(3)]
		return m.Append(nil)
	}
	return spiceproto.DrawFill{DrawBase: base, Brush: brush, Rop: spiceproto.RopXor}.Append(nil)
}

// clipped is an image of which only some rectangles are painted.
func (s *Script) clipped() []byte {
	base := s.base()
	base.Clip.Type = spiceproto.ClipRects
	for range s.pick(3) {
		base.Clip.Rects = append(base.Clip.Rects, s.box())
	}
	return draw(base, s.picture(base.Box)).Append(nil)
}

func (s *Script) masked() []byte {
	base := s.base()
	m := draw(base, s.picture(base.Box))
	m.Mask = spiceproto.Mask{Bitmap: s.picture(base.Box)}
	return m.Append(nil)
}

// partial is a draw that leaves cells of its box as they are, or takes what it
// paints there from them: an image that is too small, a brush that is none.
func (s *Script) partial() []byte {
	base := s.base()
	p := s.picture(base.Box)
	switch s.pick(3) {
	case 0:
		m := draw(base, p)
		m.Src.Width -= uint32(s.Grain)
		return m.Append(nil)
	case 1:
		return spiceproto.DrawFill{DrawBase: base, Rop: spiceproto.RopPut}.Append(nil)
	}
	m := draw(base, p)
	return spiceproto.DrawOpaque{
		DrawBase: base, Src: p, SrcArea: m.SrcArea, Rop: spiceproto.RopPut,
		Brush: spiceproto.Brush{Type: spiceproto.BrushType(s.pick(2)), Color: uint32(s.ids)},
	}.Append(nil)
}

func (s *Script) constant() []byte {
	m := spiceproto.DrawBlackness{DrawBase: s.base()}
	if s.pick(3) == 0 {
		m.Mask.Bitmap = s.picture(m.Box)
	}
	if s.pick(2) == 0 {
		return m.Append(nil)
	}
	return spiceproto.DrawWhiteness(m).Append(nil)
}

func (s *Script) surface() []byte {
	if len(s.surfaces) == scriptSurfaces {
		return s.closeSurface()
	}
	id := uint32(1)
	for s.hasSurface(id) {
		id++
	}
	s.surfaces = append(s.surfaces, id)
	grain := uint32(s.Grain)
	return spiceproto.SurfaceCreate{ID: id, Width: scriptWidth * grain, Height: scriptHeight * grain, Format: 32}.Append(nil)
}

func (s *Script) hasSurface(id uint32) bool {
	for _, o := range s.surfaces {
		if o == id {
			return true
		}
	}
	return false
}

func (s *Script) closeSurface() []byte {
	if len(s.surfaces) == 0 {
		return s.surface()
	}
	i := s.pick(len(s.surfaces))
	id := s.surfaces[i]
	s.surfaces = append(s.surfaces[:i:i], s.surfaces[i+1:]...)
	return spiceproto.SurfaceDestroy{ID: id}.Append(nil)
}

func (s *Script) offScreen() []byte {
	if len(s.surfaces) == 0 {
		return s.surface()
	}
	base := s.base()
	base.Surface = s.surfaces[s.pick(len(s.surfaces))]
	return draw(base, s.picture(base.Box)).Append(nil)
}

// fromSurface draws what a surface shows, perhaps the one it is drawn on.
func (s *Script) fromSurface() []byte {
	base := s.base()
	p := &spiceproto.Picture{
		Image: spiceproto.Image{Type: spiceproto.ImageSurface, Width: uint32(base.Box.Width()), Height: uint32(base.Box.Height())},
	}
	id := uint32(0)
	if len(s.surfaces) > 0 && s.pick(3) > 0 {
		id = s.surfaces[s.pick(len(s.surfaces))]
	}
	p.Payload = spiceproto.SurfaceData{Surface: id}
	return draw(base, p).Append(nil)
}

func (s *Script) openStream() []byte {
	if len(s.streams) == scriptStreams {
		return s.closeStream()
	}
	s.ids++
	id := uint32(s.ids)
	s.streams = append(s.streams, id)
	box := s.box()
	return spiceproto.StreamCreate{ID: id, Codec: spiceproto.VideoMJPEG, Dest: box}.Append(nil)
}

func (s *Script) closeStream() []byte {
	if len(s.streams) == 0 {
		return s.openStream()
	}
	i := s.pick(len(s.streams))
	id := s.streams[i]
	s.streams = append(s.streams[:i:i], s.streams[i+1:]...)
	return spiceproto.StreamDestroy{ID: id}.Append(nil)
}

func (s *Script) frame() []byte {
	if len(s.streams) == 0 {
		return s.openStream()
	}
	id := s.streams[s.pick(len(s.streams))]
	if s.pick(4) == 0 {
		clip := spiceproto.Clip{Type: spiceproto.ClipRects, Rects: []spiceproto.Rect{s.box()}}
		return spiceproto.StreamClip{ID: id, Clip: clip}.Append(nil)
	}
	return spiceproto.StreamData{ID: id, Data: s.data()}.Append(nil)
}

// order is a message that must keep its place among all.
func (s *Script) order() []byte {
	switch s.pick(8) {
	case 0:
		return spiceproto.SetAck{Generation: s.number, Window: 20}.Append(nil)
	case 1:
		return spiceproto.Empty{Opcode: spiceproto.MsgDisplayMark}.Append(nil)
	case 2:
		return spiceproto.MonitorsConfig{MaxAllowed: 1}.Append(nil)
	case 3:
		s.images = nil
		return spiceproto.InvalAllPixmaps{}.Append(nil)
	case 4:
		s.palettes = nil
		return spiceproto.Empty{Opcode: spiceproto.MsgDisplayInvalAllPalettes}.Append(nil)
	case 5:
		s.palettes = nil
		return spiceproto.Empty{Opcode: spiceproto.MsgDisplayReset}.Append(nil)
	case 6:
		return append(spiceproto.Header{Type: spiceproto.MsgWaitForChannels, Size: 1}.Append(nil), 0)
	}
	return spiceproto.Header{Type: 999}.Append(nil)
}
