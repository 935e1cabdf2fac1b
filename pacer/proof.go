package pacer

import "spicepacer/spiceproto"

// footprint is what is proved about a message's effect on the client. Its zero
// value proves nothing: such a message keeps its place among all others.
type footprint struct {
	// proved: the other fields are the whole truth.
	proved bool
	// writes is where the primary surface changes, reads what of it matters for
	// that; empty: nowhere.
	writes, reads spiceproto.Rect
	// overwrites: every pixel of writes gets a value of its own.
	overwrites bool
	// chained: the message changes what the client keeps, or depends on it:
	// images, palettes, the GLZ window, a stream. It keeps its place among all
	// that do.
	chained bool
}

// footprintOf derives a message's footprint. What is not named here proves
// nothing: SET_ACK begins a generation of ACKs; MARK, MODE, RESET, SURFACE_* and
// MONITORS_CONFIG change what the picture is; INVAL_ALL_* and WAIT_FOR_CHANNELS
// are points all channels agree on; STREAM_CREATE, STREAM_CLIP and
// STREAM_DESTROY* change where frames go.
func footprintOf(m Message) footprint {
	switch {
	case m.Effect.Doubt == spiceproto.DoubtNone:
		return drawFootprint(&m.Effect)
	case m.Op == spiceproto.MsgPing,
		m.Op == spiceproto.MsgDisplayInvalList,
		m.Op == spiceproto.MsgDisplayInvalPalette:
		// No pixel changes. Among themselves and against draws that use the
		// caches they keep their order.
		return footprint{proved: true, chained: true}
	}
	return footprint{}
}

func drawFootprint(e *spiceproto.Effect) footprint {
	if e.Surface != 0 || e.Uses&spiceproto.UsesSurface != 0 {
		// Off-screen surfaces are not followed.
		return footprint{}
	}
	f := footprint{
		proved: true, writes: e.Box, reads: e.CopyFrom,
		chained: e.Uses != 0,
		// With a clip only a part of the box is written.
		overwrites: e.Overwrites && e.Clip == spiceproto.ClipNone,
	}
	if e.ReadsDest && f.reads.Empty() {
		f.reads = e.Box
	}
	return f
}

// commutes tells that two messages may change places without a trace. All of
// this must hold:
//   - both are proved;
//   - at most one of them is chained: caches, the GLZ window and streams hold
//     what came in order;
//   - neither writes a pixel that the other writes: the later one must win;
//   - neither reads a pixel that the other writes: COPY_BITS, and every draw
//     whose result depends on what was there.
func commutes(a, b *footprint) bool {
	return a.proved && b.proved &&
		!(a.chained && b.chained) &&
		!a.writes.Intersects(b.writes) &&
		!a.reads.Intersects(b.writes) &&
		!a.writes.Intersects(b.reads)
}

// droppable tells that a message leaves no trace but its pixels, so that it may
// go once newer ones cover all of these:
//   - it is proved, and a draw;
//   - it is not chained: the client's caches, its GLZ window and its decoders
//     would miss it.
//
// That nothing reads the pixels in between is the queue's to know (Entry.pinned).
func droppable(x *footprint) bool {
	return x.proved && !x.chained && !x.writes.Empty()
}

// covers tells that the newer n hides what x writes in n's own area: n is proved
// and gives each of its pixels a value that does not depend on x. Whether
// nothing of x is left is for the remainder to say.
func covers(n, x *footprint) bool {
	return n.proved && n.overwrites && droppable(x) && n.writes.Intersects(x.writes)
}
