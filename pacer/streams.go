package pacer

import "spicepacer/spiceproto"

// maxStreams is how many video streams clients keep (spice-gtk,
// channel-display.c: NUM_STREAMS is 64 from the protocol's first version on).
const maxStreams = 64

// streams knows where the frames of each video stream are painted, on the
// primary surface. An empty rectangle is a stream that does not exist.
type streams [maxStreams]spiceproto.Rect

// note follows the streams that messages create and destroy.
func (s *streams) note(m *Message) {
	switch m.Op {
	case spiceproto.MsgDisplayStreamDestroyAll:
		*s = streams{}
	case spiceproto.MsgDisplayStreamCreate:
		if m.Stream.ID < maxStreams {
			s[m.Stream.ID] = m.Stream.Dest
		}
	case spiceproto.MsgDisplayStreamDestroy:
		if m.Stream.ID < maxStreams {
			s[m.Stream.ID] = spiceproto.Rect{}
		}
	}
}

// frame returns the footprint of a stream's frame. Each may depend on the one
// before, and the client shows it later than it comes: it keeps its place among
// all that change what the client keeps, and is never left out.
func (s *streams) frame(m *Message) footprint {
	dest := m.Stream.Dest
	if dest.Empty() && m.Stream.ID < maxStreams {
		dest = s[m.Stream.ID]
	}
	if dest.Empty() {
		return footprint{}
	}
	return footprint{proved: true, chained: true, writes: dest, reads: dest}
}
