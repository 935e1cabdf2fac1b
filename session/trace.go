package session

import (
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// Tracer makes the traces of channels.
type Tracer interface {
	// Trace returns the trace of a channel whose relay starts now, nil for none.
	Trace(ChannelInfo) ChannelTrace
}

// ChannelTrace is told what happens on one channel. Calls must not block, and
// come from several goroutines, except that those of State do not overlap and
// Close is the last.
type ChannelTrace interface {
	// Message is a message whose header and head have arrived: from the hypervisor
	// before it is queued, from the client before it is forwarded or kept. head is
	// valid during the call and must not be written down on any channel but
	// display: it may hold what the user types.
	Message(now time.Time, d spiceproto.Direction, h spiceproto.Header, head []byte)
	// State is how the pacer of a display channel stands after something that
	// may have changed it.
	State(now time.Time, s pacer.Trace)
	Close()
}

// startTrace starts the trace of a channel; the result ends it.
func (s *Server) startTrace(ch *channel, info ChannelInfo) (end func()) {
	if s.tracer == nil {
		return func() {}
	}
	t := s.tracer.Trace(info)
	if t == nil {
		return func() {}
	}
	ch.trace = t
	return t.Close
}

// traced returns what looks at the messages of one direction: observe, which may
// be nil, and before it the trace, if there is one.
func (ch *channel) traced(d spiceproto.Direction, observe func(spiceproto.Header, []byte)) func(spiceproto.Header, []byte) {
	if ch.trace == nil {
		return observe
	}
	return func(h spiceproto.Header, head []byte) {
		ch.trace.Message(time.Now(), d, h, head)
		if observe != nil {
			observe(h, head)
		}
	}
}

// traceMessage tells the trace of a message of a paced display channel.
func (d *display) traceMessage(direction spiceproto.Direction, f *spiceproto.Framer) {
	if t := d.ch.trace; t != nil {
		t.Message(time.Now(), direction, f.Header(), f.Head())
	}
}

// traceState tells the trace how the pacer stands. The caller holds mu.
func (d *display) traceState() {
	if t := d.ch.trace; t != nil {
		t.State(time.Now(), d.pace.Trace())
	}
}
