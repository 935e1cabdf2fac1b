package pacer

import (
	"math/bits"

	"spicepacer/spiceproto"
)

// maxStreams is how many video streams clients keep (spice-gtk,
// channel-display.c: NUM_STREAMS is 64 from the protocol's first version on).
const maxStreams = 64

// streams knows where the frames of each video stream are painted, on the
// primary surface.
//
// Clients paint a frame at its time, up to seconds after it came, and over what
// was drawn there meanwhile (spice-gtk, channel-display-mjpeg.c). Only STREAM_CLIP
// and STREAM_DESTROY keep them from it. spice-server sends these before what it
// draws on a video, but after a frame that it sends as a draw because the video
// has ended.
type streams struct {
	// places are where the frames of each stream are painted: what it was created
	// for, and where larger frames went since. An empty one is a stream that does
	// not exist.
	places [maxStreams]spiceproto.Rect
	// visible has a bit for each stream that its clip does not hide as a whole.
	visible uint64
}

// note follows what messages do to the streams.
func (s *streams) note(m *Message) {
	if m.Op == spiceproto.MsgDisplayStreamDestroyAll {
		*s = streams{}
		return
	}
	id := m.Stream.ID
	if id >= maxStreams {
		return
	}
	switch m.Op {
	case spiceproto.MsgDisplayStreamCreate:
		s.places[id] = m.Stream.Dest
		s.clip(m)
	case spiceproto.MsgDisplayStreamDataSized:
		s.places[id] = s.places[id].Union(m.Stream.Dest)
	case spiceproto.MsgDisplayStreamClip:
		s.clip(m)
	case spiceproto.MsgDisplayStreamDestroy:
		s.places[id] = spiceproto.Rect{}
		s.visible &^= 1 << id
	}
}

func (s *streams) clip(m *Message) {
	bit := uint64(1) << m.Stream.ID
	s.visible |= bit
	if m.Stream.Hidden {
		s.visible &^= bit
	}
}

// mayPaint tells that a frame that has come may still be painted into box.
func (s *streams) mayPaint(box spiceproto.Rect) bool {
	for left := s.visible; left != 0; left &= left - 1 {
		if s.places[bits.TrailingZeros64(left)].Intersects(box) {
			return true
		}
	}
	return false
}

// frame returns the footprint of a stream's frame. Each may depend on the one
// before, and the client shows it later than it comes: it keeps its place among
// all that change what the client keeps, and is never left out.
func (s *streams) frame(m *Message) footprint {
	dest := m.Stream.Dest
	if dest.Empty() && m.Stream.ID < maxStreams {
		dest = s.places[m.Stream.ID]
	}
	if dest.Empty() {
		return footprint{}
	}
	return footprint{proved: true, chained: true, writes: dest, reads: dest}
}

// draw returns the footprint of a message that is no frame. Where frames may still
// be painted, when it is painted is not all that matters: it keeps its place among
// all.
func (s *streams) draw(m *Message) footprint {
	f := footprintOf(*m)
	if s.mayPaint(f.writes) || s.mayPaint(f.reads) {
		return footprint{}
	}
	return f
}
