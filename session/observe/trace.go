package observe

import (
	"bufio"
	"encoding/json"
	"os"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/spiceproto"
)

const (
	// traceBacklog is how many events may wait to be written: a quarter of a second
	// of a saturated display channel.
	traceBacklog = 2048
	// stateInterval is the least time between two state events.
	stateInterval = 10 * time.Millisecond
	traceFileSize = 16 << 20
	traceFiles    = 4 // of one channel, the oldest go
)

// channelTrace implements session.ChannelTrace. What happens is handed to a
// goroutine that writes it down; if that cannot keep up, it is counted instead.
type channelTrace struct {
	traces  *Traces
	kind    spiceproto.ChannelType
	head    TraceHead
	events  chan traceEntry
	dropped atomic.Uint64
	written chan struct{} // closed when the goroutine has ended

	last   pacer.Trace // of State, whose caller owns it
	lastAt time.Time

	arrived uint64 // messages of the hypervisor, whose reader owns it
	ended   time.Time
}

// traceEntry is an event on its way to the file. Head is not shared with the
// relay: it was parsed into message.
type traceEntry struct {
	at      time.Time
	event   Event
	message TraceMessage
	state   pacer.Trace
	order   session.OrderEvent
}

func newChannelTrace(ts *Traces, c session.ChannelInfo, now time.Time) *channelTrace {
	return &channelTrace{
		traces: ts, kind: c.Type, head: headOf(c, now),
		events:  make(chan traceEntry, traceBacklog),
		written: make(chan struct{}),
	}
}

// Message implements session.ChannelTrace.
func (t *channelTrace) Message(now time.Time, d spiceproto.Direction, h spiceproto.Header, head []byte) {
	m := describeMessage(t.kind, d, h, head)
	if d == spiceproto.ServerToClient {
		t.arrived++
		m.Number = t.arrived
	}
	t.put(traceEntry{at: now, event: EventMessage, message: m})
}

// State implements session.ChannelTrace. It finds the transitions: the valve's and
// the ledger's are events of their own, the rest is sampled.
func (t *channelTrace) State(now time.Time, s pacer.Trace) {
	event := EventState
	switch {
	case s.Reading != t.last.Reading:
		event = EventValve
	case s.Acked != t.last.Acked || s.Generation != t.last.Generation || s.Window != t.last.Window:
		event = EventAck
	case s == t.last || now.Sub(t.lastAt) < stateInterval:
		return
	}
	t.last, t.lastAt = s, now
	t.put(traceEntry{at: now, event: event, state: s})
}

// Order implements session.ChannelTrace.
func (t *channelTrace) Order(now time.Time, e session.OrderEvent) {
	event := EventOvertook
	if e.Reason == session.OrderCovered {
		event = EventReplaced
	}
	t.put(traceEntry{at: now, event: event, order: e})
}

func (t *channelTrace) put(e traceEntry) {
	select {
	case t.events <- e:
	default:
		t.dropped.Add(1)
	}
}

// Close implements session.ChannelTrace.
func (t *channelTrace) Close(now time.Time) {
	t.ended = now
	close(t.events)
	<-t.written
	t.traces.closed(t)
}

// run writes until Close. A file that cannot be written ends the trace, not the
// channel.
func (t *channelTrace) run(f *os.File) {
	defer close(t.written)
	w := &traceWriter{trace: t}
	err := w.begin(f)
	for e := range t.events {
		if err == nil {
			err = w.entry(e)
		}
		if err == nil && len(t.events) == 0 {
			err = w.out.Flush()
		}
	}
	if err == nil {
		err = w.end()
	}
	if err != nil {
		t.traces.log.Warn("trace ended early", zap.String("connection_ref", t.head.Ref), zap.Error(err))
	}
	w.file.Close()
}

// traceWriter is the file under way.
type traceWriter struct {
	trace *channelTrace
	file  *os.File
	out   *bufio.Writer
	size  int64
	last  time.Time
}

// begin starts a file with its head.
func (w *traceWriter) begin(f *os.File) error {
	w.file, w.size = f, 0
	if w.out == nil {
		w.out = bufio.NewWriterSize(f, 64<<10)
	}
	w.out.Reset(f)
	w.trace.head.Part++
	return w.line(w.trace.head)
}

// entry writes an event, behind the number of those before it that are missing.
func (w *traceWriter) entry(e traceEntry) error {
	w.last = e.at
	if n := w.trace.dropped.Swap(0); n > 0 {
		if err := w.event(TraceEvent{Event: EventDropped, Count: n}); err != nil {
			return err
		}
	}
	switch e.event {
	case EventMessage:
		return w.event(TraceEvent{Event: e.event, TraceMessage: &e.message})
	case EventReplaced, EventOvertook:
		return w.event(TraceEvent{Event: e.event, TraceOrder: &TraceOrder{
			Message: e.order.Message, Other: e.order.Other, Reason: e.order.Reason.String(),
		}})
	}
	return w.event(TraceEvent{Event: e.event, TraceState: stateOf(e.state)})
}

// end says that the channel has ended.
func (w *traceWriter) end() error {
	w.last = w.trace.ended
	if err := w.event(TraceEvent{Event: EventEnd, Count: w.trace.dropped.Load()}); err != nil {
		return err
	}
	return w.out.Flush()
}

func (w *traceWriter) event(e TraceEvent) error {
	e.Millis = Millis(w.last.Sub(w.trace.head.Start))
	return w.line(e)
}

// line writes a line, in a new file if the one under way is full.
func (w *traceWriter) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	length := int64(len(b)) + 1
	if w.size > 0 && w.size+length > w.trace.traces.fileSize {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	w.size += length
	w.out.Write(b)
	return w.out.WriteByte('\n')
}

func (w *traceWriter) rotate() error {
	if err := w.out.Flush(); err != nil {
		return err
	}
	f, err := w.trace.traces.rotate(w.trace)
	if err != nil {
		return err
	}
	w.file.Close()
	return w.begin(f)
}

func stateOf(s pacer.Trace) *TraceState {
	return &TraceState{
		Reading: s.Reading, Full: s.Full, Waiting: s.Waiting, Queue: s.QueueBytes, Budget: s.BudgetBytes, Rate: int(s.Rate),
		RTT: Millis(s.Base), Delay: Millis(s.Delay), Sweeps: s.Sweeps,
		Generation: s.Generation, Window: s.Window, Framed: s.Framed, Delivered: s.Delivered,
		Acked: s.Acked, ClientAcks: s.ClientAcks,
	}
}
