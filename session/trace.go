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
	// Order is a change of the order in which messages came from the hypervisor.
	Order(now time.Time, e OrderEvent)
	// Close ends the trace, and returns when all is written.
	Close(now time.Time)
}

// OrderEvent is what the display queue did with a message.
type OrderEvent struct {
	// Message is its number among those of the hypervisor, from 1.
	Message uint64
	// Other is, for a message that is replaced, the number of the one whose
	// arrival left nothing of it to be seen; else that of the oldest it overtook.
	Other  uint64
	Reason OrderReason
}

// OrderReason is why a message was not sent in its order.
type OrderReason uint8

// The reasons.
const (
	// OrderCovered: newer messages cover it, it is not sent at all.
	OrderCovered OrderReason = iota
	// OrderUrgent: a small update of a place that had been still.
	OrderUrgent
	// OrderTurn: its place was sent longer ago than those before it.
	OrderTurn
)

var orderReasons = [...]string{OrderCovered: "covered", OrderUrgent: "urgent", OrderTurn: "turn"}

// String returns the reason's name.
func (r OrderReason) String() string { return orderReasons[r] }

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
	return func() { t.Close(time.Now()) }
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

// traceReplaced tells the trace of a message that is not sent.
func (d *display) traceReplaced(number, by uint64) {
	if t := d.ch.trace; t != nil {
		t.Order(time.Now(), OrderEvent{Message: number, Other: by, Reason: OrderCovered})
	}
}

// traceOvertook tells the trace of a message that goes before older ones.
func (d *display) traceOvertook(e *pacer.Entry) {
	reason := OrderTurn
	if e.Urgent() {
		reason = OrderUrgent
	}
	d.ch.trace.Order(time.Now(), OrderEvent{Message: e.Number(), Other: e.Overtook(), Reason: reason})
}
