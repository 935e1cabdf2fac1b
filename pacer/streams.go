package pacer

import "spicepacer/spiceproto"

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
type streams [maxStreams]stream

// stream is a video stream; one without a place does not exist.
type stream struct {
	// dest is where its frames are painted: the place it was created for, and
	// those of larger frames since.
	dest   spiceproto.Rect
	hidden bool // by its clip, as a whole
}

// note follows what messages do to the streams.
func (s *streams) note(m *Message) {
	if m.Op == spiceproto.MsgDisplayStreamDestroyAll {
		*s = streams{}
		return
	}
	if m.Stream.ID >= maxStreams {
		return
	}
	of := &s[m.Stream.ID]
	switch m.Op {
	case spiceproto.MsgDisplayStreamCreate:
		*of = stream{m.Stream.Dest, m.Stream.Hidden}
	case spiceproto.MsgDisplayStreamDataSized:
		of.dest = of.dest.Union(m.Stream.Dest)
	case spiceproto.MsgDisplayStreamClip:
		of.hidden = m.Stream.Hidden
	case spiceproto.MsgDisplayStreamDestroy:
		*of = stream{}
	}
}

// mayPaint tells that a frame that has come may still be painted into box.
func (s *streams) mayPaint(box spiceproto.Rect) bool {
	for i := range s {
		if of := &s[i]; !of.hidden && of.dest.Intersects(box) {
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
		dest = s[m.Stream.ID].dest
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
