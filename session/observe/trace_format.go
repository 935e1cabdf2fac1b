package observe

import (
	"encoding/json"
	"fmt"
	"time"

	"spicepacer/session"
	"spicepacer/spiceproto"
)

// TraceFormat is TraceHead.Trace of the format described here.
const TraceFormat = "spicepacer-trace-1"

// TraceHead is the first line of each file of a trace.
type TraceHead struct {
	Trace string `json:"trace"`
	// Ref is the connection's reference in the log.
	Ref     string `json:"connection_ref"`
	Channel string `json:"channel"`
	ID      uint8  `json:"id"`
	Mode    string `json:"mode"`
	// Start is the time that TraceEvent.Millis counts from, the same in all parts
	// of a trace.
	Start time.Time `json:"start"`
	// FullHeaders: messages have headers of 18 bytes instead of 6.
	FullHeaders bool `json:"full_headers,omitempty"`
	// Part counts the files of a trace from 1. The oldest ones may be gone.
	Part int `json:"part"`
}

// TraceEvent is any other line.
type TraceEvent struct {
	// Millis is the time since the start in milliseconds.
	Millis Millis `json:"t"`
	Event  Event  `json:"event"`
	// Of EventMessage.
	*TraceMessage
	// Of EventState, EventValve and EventAck.
	*TraceState
	// Of EventReplaced and EventOvertook.
	*TraceOrder
	// Of EventDropped: how many events are missing here.
	Count uint64 `json:"count,omitempty"`
}

// Event is what a line is about.
type Event string

// The events.
const (
	// EventMessage: a message has arrived at the proxy.
	EventMessage Event = "message"
	// EventState: figures of the pacer have changed.
	EventState Event = "state"
	// EventValve: the read valve has opened or shut; likewise figures.
	EventValve Event = "valve"
	// EventAck: the proxy has booked ACKs to send to the hypervisor, or begun to
	// count anew after a SET_ACK.
	EventAck Event = "ack"
	// EventReplaced: a message is not sent, because newer ones cover it.
	EventReplaced Event = "replaced"
	// EventOvertook: a message is sent before older ones.
	EventOvertook Event = "overtook"
	// EventDropped: events came faster than they could be written.
	EventDropped Event = "dropped"
	// EventEnd: the channel has ended.
	EventEnd Event = "end"
)

// TraceMessage is the head of a message. What follows Size is known for draws
// and surfaces only.
type TraceMessage struct {
	Direction string `json:"dir"`
	// Number counts the hypervisor's messages on the channel from 1.
	Number  uint64  `json:"n,omitempty"`
	Opcode  uint16  `json:"op"`
	Name    string  `json:"name"`
	Size    uint32  `json:"size"`
	Surface *uint32 `json:"surface,omitempty"`
	// Box is what a draw may write: top, left, bottom, right.
	Box   *[4]int32   `json:"box,omitempty"`
	Image *TraceImage `json:"image,omitempty"`
	// Width and Height are a new surface's, in pixels.
	Width  uint32 `json:"width,omitempty"`
	Height uint32 `json:"height,omitempty"`
}

// TraceImage describes the source image of a draw.
type TraceImage struct {
	Type   string `json:"type"`
	Number uint8  `json:"number"` // of the type on the wire
	Width  uint32 `json:"width"`
	Height uint32 `json:"height"`
}

// TraceOrder is a change of the order in which messages came.
type TraceOrder struct {
	// Message is the number of the message, and Other that of the one which covered
	// the last of it, or of the oldest that it overtook.
	Message uint64 `json:"message"`
	Other   uint64 `json:"other"`
	// Reason is covered, urgent or turn.
	Reason string `json:"reason"`
}

// TraceState is how a paced display channel stands.
type TraceState struct {
	Reading bool `json:"reading"` // the read valve is open
	Full    bool `json:"full"`    // the client's link is the limit
	Waiting bool `json:"waiting"` // the link is kept free for an answer to the user
	Queue   int  `json:"queue"`   // bytes in the display queue
	Budget  int  `json:"budget"`  // bytes that may stand in the client's socket
	Rate    int  `json:"rate"`    // bytes per second, 0: unknown
	// RTT is the base round trip, Delay what queues add to it.
	RTT        Millis `json:"rtt"`
	Delay      Millis `json:"delay"`
	Sweeps     uint64 `json:"sweeps"`
	Generation uint32 `json:"generation"`
	Window     uint32 `json:"window"`
	Framed     uint64 `json:"framed"`    // messages of the generation begun by the hypervisor
	Delivered  uint64 `json:"delivered"` // of these, sent to the client
	Acked      uint64 `json:"acked"`     // ACKs to the hypervisor
	ClientAcks uint64 `json:"client_acks"`
}

// Millis is a duration that is written as milliseconds with a resolution of 1 µs.
type Millis time.Duration

// String returns the duration as Go writes it.
func (m Millis) String() string { return time.Duration(m).String() }

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", float64(m)/float64(time.Millisecond)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Millis) UnmarshalJSON(b []byte) error {
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*m = Millis(v * float64(time.Millisecond))
	return nil
}

// describeMessage takes from the head what a trace shows. It looks into display
// messages only, and there into nothing but geometry.
func describeMessage(t spiceproto.ChannelType, d spiceproto.Direction, h spiceproto.Header, head []byte) TraceMessage {
	m := TraceMessage{
		Direction: d.String(), Opcode: h.Type, Size: h.Size,
		Name: spiceproto.MessageName(t, d, h.Type),
	}
	if t != spiceproto.ChannelDisplay || d != spiceproto.ServerToClient {
		return m
	}
	switch {
	case h.Type == spiceproto.MsgDisplaySurfaceCreate:
		if s, err := spiceproto.ParseSurfaceCreate(head); err == nil {
			m.Surface, m.Width, m.Height = &s.ID, s.Width, s.Height
		}
	case spiceproto.IsDraw(h.Type):
		if draw, err := spiceproto.ParseDrawHead(h.Type, h.Size, head); err == nil {
			m.addDraw(draw)
		}
	}
	return m
}

func (m *TraceMessage) addDraw(draw spiceproto.DrawHead) {
	b := draw.Box
	m.Surface, m.Box = &draw.Surface, &[4]int32{b.Top, b.Left, b.Bottom, b.Right}
	if draw.ImageKnown {
		i := draw.Image
		m.Image = &TraceImage{Type: i.Type.String(), Number: uint8(i.Type), Width: i.Width, Height: i.Height}
	}
}

// headOf describes a channel that is about to be traced.
func headOf(c session.ChannelInfo, start time.Time) TraceHead {
	return TraceHead{
		Trace: TraceFormat, Ref: c.Ref, Channel: c.Type.String(), ID: c.ID, Mode: c.Mode.String(), Start: start,
		FullHeaders: c.FullHeaders,
	}
}
