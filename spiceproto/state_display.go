package spiceproto

// displayRules follow surfaces, streams, caches and GL draws.
type displayRules struct {
	surfaces surfaceSet
	// streams exist now; streamsEver did at some time.
	streams, streamsEver uint64
	cache                displayCache
	glDraws              uint64 // not answered yet
}

// maxStreams is the number of stream ids. spice-server uses 50 of them.
const maxStreams = 64

func (r *displayRules) observe(m *Machine, msg *observed) {
	if msg.dir == ClientToServer {
		r.client(m, msg)
		return
	}
	if IsDraw(msg.Type) {
		r.draw(m, msg)
		return
	}
	switch msg.Type {
	case MsgDisplayMode:
		r.surfaces.create(0)
	case MsgDisplaySurfaceCreate:
		r.createSurface(m, msg)
	case MsgDisplaySurfaceDestroy:
		r.useSurface(m, msg.u32(0))
		r.surfaces.destroy(msg.u32(0))
	case MsgDisplayMonitorsConfig:
		n := uint64(le.Uint16(msg.head))
		m.count(msg.Size, 4, monitorSize, n)
		if allowed := uint64(le.Uint16(msg.head[2:])); n > allowed {
			m.report(RuleMonitors, n, allowed)
		}
	case MsgDisplayGLDraw:
		r.glDraws++
	case MsgDisplayGLScanout2Unix:
		// u8 num_planes behind four u32; {u32 offset, u32 stride} behind a u64.
		m.count(msg.Size, 25, 8, uint64(msg.head[16]))
	case MsgDisplayInvalAllPixmaps:
		m.count(msg.Size, 1, specWaitSize, uint64(msg.head[0]))
		r.cache.images.clear()
	case MsgDisplayInvalList:
		r.cache.invalidate(m, msg)
	case MsgDisplayInvalAllPalettes:
		r.cache.palettes = false
	default:
		r.stream(m, msg)
	}
}

func (r *displayRules) client(m *Machine, msg *observed) {
	switch msg.Type {
	case MsgcDisplayGLDrawDone:
		if r.glDraws == 0 {
			m.report(RuleGLDone, 0, 0)
			return
		}
		r.glDraws--
	case MsgcDisplayStreamReport:
		// The stream may have ended while the report was under way.
		if id, ok := r.streamID(m, msg.u32(0)); ok && r.streamsEver&id == 0 && !m.target {
			m.report(RuleUnknownStream, uint64(msg.u32(0)), 0)
		}
	case MsgcDisplayPreferredCompression:
		c := Compression(msg.head[0])
		if c < CompressionOff || c > CompressionLZ4 {
			m.report(RuleValue, uint64(c), uint64(CompressionLZ4))
		}
	case MsgcDisplayPreferredVideoCodecType:
		m.count(msg.Size, 1, 1, uint64(msg.head[0]))
	}
}

// stream applies the messages about video streams.
func (r *displayRules) stream(m *Machine, msg *observed) {
	switch msg.Type {
	case MsgDisplayStreamCreate:
		r.createStream(m, msg)
	case MsgDisplayStreamData, MsgDisplayStreamDataSized, MsgDisplayStreamActivateReport:
		r.useStream(m, msg.u32(0))
	case MsgDisplayStreamClip:
		r.clip(m, msg, 4)
		r.useStream(m, msg.u32(0))
	case MsgDisplayStreamDestroy:
		r.streams &^= r.useStream(m, msg.u32(0))
	case MsgDisplayStreamDestroyAll:
		r.streams = 0
	}
}

// Offsets in STREAM_CREATE.
const (
	streamIDOffset    = 4
	streamCodecOffset = 9
	streamClipOffset  = 50
)

func (r *displayRules) createStream(m *Machine, msg *observed) {
	r.useSurface(m, msg.u32(0))
	r.clip(m, msg, streamClipOffset)
	codec := msg.head[streamCodecOffset]
	if bit := codecCap(codec); bit != 0 && m.client&bit == 0 {
		m.report(RuleCapability, uint64(m.client), uint64(bit))
	}
	bit, ok := r.streamID(m, msg.u32(streamIDOffset))
	if ok && r.streams&bit != 0 {
		m.report(RuleDuplicateStream, uint64(msg.u32(streamIDOffset)), 0)
	}
	r.streams |= bit
	r.streamsEver |= bit
}

// codecCap returns the capability a client needs for a codec
// (SPICE_VIDEO_CODEC_TYPE_* in spice/enums.h), 0 for MJPEG, which every client
// plays, and for a codec nobody defined.
func codecCap(codec uint8) uint32 {
	switch codec {
	case 2:
		return 1 << CapDisplayCodecVP8
	case 3:
		return 1 << CapDisplayCodecH264
	case 4:
		return 1 << CapDisplayCodecVP9
	case 5:
		return 1 << CapDisplayCodecH265
	}
	return 0
}

// streamID returns the bit of a stream.
func (r *displayRules) streamID(m *Machine, id uint32) (uint64, bool) {
	if id >= maxStreams {
		m.report(RuleStreamLimit, uint64(id), maxStreams)
		return 0, false
	}
	return 1 << id, true
}

// useStream reports a stream that does not exist, and returns its bit. A guest
// stream's server is at fault with each client that links while it runs: frames
// go to all clients, the STREAM_CREATE went to those before (send_data in
// stream-channel.cpp).
func (r *displayRules) useStream(m *Machine, id uint32) uint64 {
	bit, ok := r.streamID(m, id)
	if ok && r.streams&bit == 0 && (r.streamsEver&bit != 0 || !m.target) {
		m.report(RuleUnknownStream, uint64(id), 0)
	}
	return bit
}

// clip checks the clip list at off.
func (r *displayRules) clip(m *Machine, msg *observed, off uint64) {
	switch t := ClipType(msg.head[off]); t {
	case ClipNone:
	case ClipRects:
		n, ok := msg.u32At(off + 1)
		switch {
		case ok:
			m.count(msg.Size, off+5, rectSize, uint64(n))
		case uint64(msg.Size) < off+5:
			m.report(RuleMalformed, uint64(msg.Size), off+5)
		}
	default:
		m.report(RuleMalformed, uint64(t), uint64(ClipRects))
	}
}

func (r *displayRules) createSurface(m *Machine, msg *observed) {
	switch format := msg.u32(12); format {
	case 1, 8, 16, 32, 80, 96:
	default:
		m.report(RuleValue, uint64(format), 0)
	}
	id := msg.u32(0)
	switch {
	case id >= maxSurfaces:
		m.report(RuleSurfaceLimit, uint64(id), maxSurfaces)
	case r.surfaces.exists(id):
		m.report(RuleDuplicateSurface, uint64(id), 0)
	}
	r.surfaces.create(id)
}

// useSurface reports a surface that does not exist. On a migration target one
// may have been made on the source, unless it was destroyed since.
func (r *displayRules) useSurface(m *Machine, id uint32) {
	if id >= maxSurfaces || r.surfaces.exists(id) || m.target && !r.surfaces.destroyed(id) {
		return
	}
	m.report(RuleDeadSurface, uint64(id), 0)
}

func (r *displayRules) draw(m *Machine, msg *observed) {
	h, err := ParseDrawHead(msg.Type, msg.Size, msg.head)
	if err != nil {
		m.report(RuleMalformed, 0, 0)
		r.cache.forget()
		return
	}
	r.useSurface(m, h.Surface)
	r.images(m, msg, &h)
}

// maxSurfaces is four times what spice-server and QEMU hand out (NUM_SURFACES).
const maxSurfaces = 4096

// surfaceSet is which surfaces exist, and which were destroyed. Ids from
// maxSurfaces on are not followed.
type surfaceSet struct {
	alive, dead [maxSurfaces / 64]uint64
}

func (s *surfaceSet) exists(id uint32) bool {
	return s.alive[id/64]&(1<<(id%64)) != 0
}

func (s *surfaceSet) destroyed(id uint32) bool {
	return s.dead[id/64]&(1<<(id%64)) != 0
}

func (s *surfaceSet) create(id uint32) {
	if id < maxSurfaces {
		s.alive[id/64] |= 1 << (id % 64)
		s.dead[id/64] &^= 1 << (id % 64)
	}
}

func (s *surfaceSet) destroy(id uint32) {
	if id < maxSurfaces {
		s.alive[id/64] &^= 1 << (id % 64)
		s.dead[id/64] |= 1 << (id % 64)
	}
}
