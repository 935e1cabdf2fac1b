package spiceproto

// StreamHead is what the first bytes of a stream's message tell: which stream,
// and where its frames go, if the message says so.
type StreamHead struct {
	ID uint32
	// Dest is where frames are painted; empty in messages that do not say.
	Dest Rect
	// Hidden tells that the message's clip leaves no pixel of it.
	Hidden bool
}

// ParseStreamHead reads the head of STREAM_CREATE, STREAM_DATA,
// STREAM_DATA_SIZED, STREAM_CLIP or STREAM_DESTROY. It reports false for other
// messages and for a head that is too short.
func ParseStreamHead(op uint16, head []byte) (StreamHead, bool) {
	// Offsets of id, destination and clip by spice.proto; 0: the message has none.
	id, dest, clip := 0, 0, 0
	switch op {
	case MsgDisplayStreamCreate:
		id, dest, clip = 4, 34, 50
	case MsgDisplayStreamDataSized:
		dest = 16
	case MsgDisplayStreamClip:
		clip = 4
	case MsgDisplayStreamData, MsgDisplayStreamDestroy:
	default:
		return StreamHead{}, false
	}
	h := effectHead{b: head, size: uint64(len(head)), off: uint64(id)}
	s := StreamHead{ID: h.u32()}
	if dest > 0 {
		h.off = uint64(dest)
		s.Dest = h.rect()
	}
	if clip > 0 {
		h.off = uint64(clip)
		s.Hidden = ClipType(h.u8()) == ClipRects && h.u32() == 0 && h.doubt == DoubtUnread
	}
	return s, h.doubt == DoubtUnread
}
