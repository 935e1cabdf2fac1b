package pacer

import (
	"testing"

	"spicepacer/spiceproto"
)

// arrive gives o a whole message and returns its entry.
func arrive(o *Order, name string, m Message) *Entry {
	e := &Entry{Value: name}
	o.Push(e, m, 1000)
	o.Complete(e, 0, 0)
	return e
}

// popAll returns the names in the order in which o lets the messages go.
func popAll(o *Order) (names []string) {
	for e := o.Pop(); e != nil; e = o.Pop() {
		names = append(names, e.Value.(string))
	}
	return names
}

func fill(box spiceproto.Rect) Message {
	body := spiceproto.DrawFill{
		DrawBase: spiceproto.DrawBase{Box: box},
		Brush:    spiceproto.Brush{Type: spiceproto.BrushSolid},
		Rop:      spiceproto.RopPut,
	}.Append(nil)[spiceproto.MiniHeaderSize:]
	op := spiceproto.MsgDisplayDrawFill
	return Message{
		Op: op, Size: uint32(len(body)), Draw: true, Box: box,
		Effect: spiceproto.ParseEffect(op, uint32(len(body)), body),
	}
}

// What is typed beside a video need not wait for its frames; what is drawn on it
// must, and frames keep their order.
func TestOrderStreams(t *testing.T) {
	video := spiceproto.Rect{Left: 100, Top: 100, Right: 300, Bottom: 300}
	frame := Message{Op: spiceproto.MsgDisplayStreamData, Stream: spiceproto.StreamHead{ID: 3}}
	create := Message{Op: spiceproto.MsgDisplayStreamCreate, Stream: spiceproto.StreamHead{ID: 3, Dest: video}}
	destroy := Message{Op: spiceproto.MsgDisplayStreamDestroy, Stream: spiceproto.StreamHead{ID: 3}}
	beside := fill(spiceproto.Rect{Left: 400, Top: 400, Right: 432, Bottom: 432})
	on := fill(spiceproto.Rect{Left: 290, Top: 290, Right: 322, Bottom: 322})
	for _, c := range []struct {
		name   string
		before []Message
		typed  Message
		want   string
	}{
		{"beside", []Message{create}, beside, "typed"},
		{"on it", []Message{create}, on, "first"},
		{"a stream nobody created", nil, beside, "first"},
		{"a stream that ended", []Message{create, destroy}, beside, "first"},
		{"a stream that ended with all", []Message{create, {Op: spiceproto.MsgDisplayStreamDestroyAll}}, beside, "first"},
		{"an id beyond all", nil, beside, "first"},
	} {
		var o Order
		o.Resize(640, 480)
		for _, m := range c.before {
			arrive(&o, "before", m)
			popAll(&o)
		}
		frame := frame
		if c.name == "an id beyond all" {
			frame.Stream.ID = 1 << 31
		}
		o.Sent(100_000, 0) // the place of the video has been sent since
		arrive(&o, "earlier", frame)
		popAll(&o)
		o.Sent(100_000, 0)
		arrive(&o, "first", frame)
		arrive(&o, "second", frame)
		arrive(&o, "typed", c.typed)
		got := popAll(&o)
		if len(got) != 3 || got[0] != c.want {
			t.Errorf("%s: %v, want %s first", c.name, got, c.want)
		}
		if i, j := index(got, "first"), index(got, "second"); i > j {
			t.Errorf("%s: frames out of order: %v", c.name, got)
		}
	}
}

// Clients show a frame at its time, which may be seconds after it came, over what
// was drawn there meanwhile, unless STREAM_CLIP or STREAM_DESTROY came too: so a
// draw where frames may still be painted keeps its distance to these.
func TestOrderWhereFramesMayStillBePainted(t *testing.T) {
	video := spiceproto.Rect{Left: 100, Top: 100, Right: 300, Bottom: 300}
	larger := spiceproto.Rect{Left: 100, Top: 100, Right: 400, Bottom: 400}
	smaller := spiceproto.Rect{Left: 100, Top: 100, Right: 200, Bottom: 200}
	corner := spiceproto.Rect{Left: 380, Top: 380, Right: 396, Bottom: 396}
	stream := func(op uint16, dest spiceproto.Rect, hidden bool) Message {
		return Message{Op: op, Stream: spiceproto.StreamHead{ID: 3, Dest: dest, Hidden: hidden}}
	}
	create := stream(spiceproto.MsgDisplayStreamCreate, video, false)
	createHidden := stream(spiceproto.MsgDisplayStreamCreate, video, true)
	sized := stream(spiceproto.MsgDisplayStreamDataSized, larger, false)
	sizedDown := stream(spiceproto.MsgDisplayStreamDataSized, smaller, false)
	rim := spiceproto.Rect{Left: 250, Top: 250, Right: 266, Bottom: 266}
	hide := stream(spiceproto.MsgDisplayStreamClip, spiceproto.Rect{}, true)
	show := stream(spiceproto.MsgDisplayStreamClip, spiceproto.Rect{}, false)
	destroy := stream(spiceproto.MsgDisplayStreamDestroy, spiceproto.Rect{}, false)
	unknown := Message{Op: spiceproto.MsgDisplayStreamClip, Stream: spiceproto.StreamHead{ID: 1 << 31}}
	for _, c := range []struct {
		name   string
		before []Message
		draw   Message
		free   bool
	}{
		{"on a video", []Message{create}, fill(video), false},
		{"beside it", []Message{create}, fill(corner), true},
		{"from it", []Message{create}, copyBits(corner, 120, 120), false},
		{"on larger frames", []Message{create, sized}, fill(corner), false},
		{"on earlier, larger frames", []Message{create, sizedDown}, fill(rim), false},
		{"on one that is hidden", []Message{create, hide}, fill(video), true},
		{"on one that is hidden from the start", []Message{createHidden}, fill(video), true},
		{"on one that is shown again", []Message{create, hide, show}, fill(video), false},
		{"where one was", []Message{create, destroy}, fill(video), true},
		{"where others hide", []Message{create, unknown}, fill(video), false},
	} {
		var o Order
		o.Resize(640, 480)
		for _, m := range c.before {
			arrive(&o, "before", m)
			popAll(&o)
		}
		o.Sent(100_000, 0)
		elsewhere := fill(spiceproto.Rect{Left: 500, Right: 640, Bottom: 480})
		arrive(&o, "earlier", elsewhere)
		popAll(&o)
		o.Sent(100_000, 0)
		arrive(&o, "older", elsewhere) // its turn is late
		arrive(&o, "draw", c.draw)
		if got := popAll(&o); (got[0] == "draw") != c.free {
			t.Errorf("%s: %v", c.name, got)
		}
		arrive(&o, "draw", c.draw)
		arrive(&o, "newer", fill(c.draw.Box))
		if got := popAll(&o); (len(got) == 1) != c.free {
			t.Errorf("%s, and drawn over: %v", c.name, got)
		}
	}
}

// The place of a frame is known from the frame itself or from the stream. It may
// depend on what it is painted on, where it has a clip, and on the frame before.
func TestStreamsFrame(t *testing.T) {
	box, other := spiceproto.Rect{Bottom: 10, Right: 10}, spiceproto.Rect{Top: 20, Bottom: 30, Right: 10}
	at := func(r spiceproto.Rect) footprint {
		return footprint{proved: true, chained: true, writes: r, reads: r}
	}
	var s streams
	s.note(&Message{Op: spiceproto.MsgDisplayStreamCreate, Stream: spiceproto.StreamHead{ID: 3, Dest: box}})
	for _, c := range []struct {
		name string
		head spiceproto.StreamHead
		want footprint
	}{
		{"where the stream is", spiceproto.StreamHead{ID: 3}, at(box)},
		{"where the frame says", spiceproto.StreamHead{ID: 3, Dest: other}, at(other)},
		{"of no stream, where the frame says", spiceproto.StreamHead{ID: maxStreams, Dest: other}, at(other)},
		{"of no stream", spiceproto.StreamHead{ID: 4}, footprint{}},
		{"of a stream that clients do not keep", spiceproto.StreamHead{ID: maxStreams}, footprint{}},
	} {
		if f := s.frame(&Message{Op: spiceproto.MsgDisplayStreamData, Stream: c.head}); f != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, f, c.want)
		}
	}
}

func copyBits(box spiceproto.Rect, x, y int32) Message {
	body := spiceproto.CopyBits{DrawBase: spiceproto.DrawBase{Box: box}, SrcPos: spiceproto.Point{X: x, Y: y}}.Append(nil)[spiceproto.MiniHeaderSize:]
	op := spiceproto.MsgDisplayCopyBits
	return Message{
		Op: op, Size: uint32(len(body)), Draw: true, Box: box,
		Effect: spiceproto.ParseEffect(op, uint32(len(body)), body),
	}
}

func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}
