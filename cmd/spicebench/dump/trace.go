package dump

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"spicepacer/session/observe"
	"spicepacer/spiceproto"
)

// maxTraceLine bounds a line of a trace in bytes; the proxy writes a few hundred.
const maxTraceLine = 1 << 20

// traceMessage is what a trace tells of a message beside name and size.
type traceMessage struct {
	Surface       *uint32
	Box           *spiceproto.Rect
	Image         *spiceproto.ImageType
	Width, Height *uint32 // the image's or the new surface's
}

// image returns the source image of a draw.
func (m traceMessage) image() (spiceproto.Image, bool) {
	if m.Image == nil {
		return spiceproto.Image{}, false
	}
	return spiceproto.Image{Type: *m.Image, Width: *m.Width, Height: *m.Height}, true
}

// errNoTrace is what a file is told that begins like JSON and is no trace.
var errNoTrace = errors.New("neither a capture nor a trace of the proxy")

// readTrace reads a trace of the proxy: its head, then an event a line.
func readTrace(in io.Reader, visit Visit) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxTraceLine)
	if !lines.Scan() {
		return cmp.Or(lines.Err(), errNoTrace)
	}
	t := traceReader{visit: visit}
	if err := json.Unmarshal(lines.Bytes(), &t.head); err != nil || t.head.Trace != observe.TraceFormat {
		return errNoTrace
	}
	t.channel = channelByName(t.head.Channel)
	if err := t.begin(); err != nil {
		return err
	}
	for number := 2; lines.Scan(); number++ {
		var e observe.TraceEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return t.notice(fmt.Sprintf("line %d of the trace is damaged or cut off; its end is not shown: %v", number, err))
		}
		if err := t.event(e); err != nil {
			return err
		}
	}
	return lines.Err()
}

// channelByName is the inverse of ChannelType.String; 0 if there is none.
func channelByName(name string) spiceproto.ChannelType {
	for t := spiceproto.ChannelMain; t.Valid(); t++ {
		if t.String() == name {
			return t
		}
	}
	return 0
}

// traceReader turns the lines of a trace into records.
type traceReader struct {
	visit   Visit
	head    observe.TraceHead
	channel spiceproto.ChannelType
	at      time.Time
}

// begin tells whose trace it is.
func (t *traceReader) begin() error {
	t.at = t.head.Start
	r := t.record(Event)
	r.Name = "trace"
	fields := map[string]any{"connection_ref": t.head.Ref, "mode": t.head.Mode, "part": t.head.Part}
	if t.head.FullHeaders {
		fields["full_headers"] = true
	}
	r.Fields = fields
	return t.visit(&r)
}

func (t *traceReader) event(e observe.TraceEvent) error {
	t.at = t.head.Start.Add(time.Duration(e.Millis))
	switch {
	case e.Event == observe.EventMessage && e.TraceMessage != nil:
		return t.message(*e.TraceMessage)
	case e.Event == observe.EventDropped:
		return t.notice(fmt.Sprintf("%d events are missing: the trace was written too slowly", e.Count))
	}
	r := t.record(Event)
	r.Name = string(e.Event)
	if e.TraceState != nil {
		r.Fields = *e.TraceState
	}
	return t.visit(&r)
}

func (t *traceReader) message(m observe.TraceMessage) error {
	r := t.record(Message)
	if m.Direction == up.String() {
		r.Direction = up
	}
	r.Opcode, r.Name, r.Size = m.Opcode, m.Name, int(m.Size)
	r.Header = spiceproto.MiniHeaderSize
	if t.head.FullHeaders {
		r.Header = spiceproto.FullHeaderSize
	}
	fields := traceMessage{Surface: m.Surface}
	if b := m.Box; b != nil {
		fields.Box = &spiceproto.Rect{Top: b[0], Left: b[1], Bottom: b[2], Right: b[3]}
	}
	switch {
	case m.Image != nil:
		kind := spiceproto.ImageType(m.Image.Number)
		fields.Image, fields.Width, fields.Height = &kind, &m.Image.Width, &m.Image.Height
	case m.Width != 0:
		fields.Width, fields.Height = &m.Width, &m.Height
	}
	r.Fields = fields
	return t.visit(&r)
}

func (t *traceReader) notice(text string) error {
	r := t.record(Notice)
	r.Text = text
	return t.visit(&r)
}

func (t *traceReader) record(k Kind) Record {
	return Record{Kind: k, Time: t.at, Channel: t.channel, ID: t.head.ID}
}
