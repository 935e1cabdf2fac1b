package client

import (
	"encoding/binary"
	"math"
	"time"

	"spicepacer/spiceproto"
)

// lateFrames is how many late frames in a row make spice-gtk report at once
// (channel-display.c).
const lateFrames = 3

// streams are the open video streams by id; all of them paint on surface 0. Of a
// stream only its place matters, and the reports which the server steers its
// encoder by.
type streams map[uint32]*stream

type stream struct {
	dest   spiceproto.Rect
	report *streamReport // nil until the server asks for reports
}

// create opens a stream (STREAM_CREATE: u32 id at 4, Rect dest at 34).
func (s streams) create(m message) error {
	if len(m.head) < 50 {
		return spiceproto.ErrTruncated
	}
	s[u32(m, 4)] = &stream{dest: rectAt(m, 34)}
	return nil
}

// destroy closes a stream (STREAM_DESTROY: u32 id).
func (s streams) destroy(m message) error {
	if len(m.head) < 4 {
		return spiceproto.ErrTruncated
	}
	delete(s, u32(m, 0))
	return nil
}

// activateReport begins the reports of a stream (STREAM_ACTIVATE_REPORT: u32
// stream_id, u32 unique_id, u32 max_window in frames, u32 timeout_ms).
func (s streams) activateReport(m message) error {
	if len(m.head) < 16 {
		return spiceproto.ErrTruncated
	}
	if st := s[u32(m, 0)]; st != nil {
		st.report = &streamReport{
			stream: u32(m, 0), unique: u32(m, 4), window: u32(m, 8),
			timeout: time.Duration(u32(m, 12)) * time.Millisecond,
		}
	}
	return nil
}

// frame returns where a frame paints: the stream's place (STREAM_DATA: u32 id,
// u32 mm_time) or its own (STREAM_DATA_SIZED: Rect dest at 16). A report that has
// become due is appended to the replies.
func (s streams) frame(c *channel, m message, mediaTime uint32) (spiceproto.Rect, error) {
	need := 8
	if m.Type == spiceproto.MsgDisplayStreamDataSized {
		need = 32
	}
	if len(m.head) < need {
		return spiceproto.Rect{}, spiceproto.ErrTruncated
	}
	st := s[u32(m, 0)]
	if st == nil {
		return spiceproto.Rect{}, nil
	}
	if st.report != nil {
		frameTime := u32(m, 4)
		st.report.frame(frameTime, int32(frameTime-mediaTime), m.at)
		if st.report.due(m.at) {
			c.replies = st.report.flush(c.replies)
		}
	}
	if m.Type == spiceproto.MsgDisplayStreamDataSized {
		return rectAt(m, 16), nil
	}
	return st.dest, nil
}

// streamReport collects the STREAM_REPORT of a stream as spice-gtk does
// (display_update_stream_report in channel-display.c).
type streamReport struct {
	stream, unique uint32
	window         uint32 // frames in a report
	timeout        time.Duration

	frames, drops uint32
	late          uint32 // late frames in a row
	first, last   uint32 // media time of the first and last frame
	delay         int32  // of the last frame until its media time, in ms
	began         time.Time
}

// frame counts a frame whose time to be shown is delay milliseconds away.
func (r *streamReport) frame(mediaTime uint32, delay int32, at time.Time) {
	if r.frames == 0 {
		r.first, r.began = mediaTime, at
	}
	r.frames++
	r.last, r.delay = mediaTime, delay
	if delay >= 0 {
		r.late = 0
		return
	}
	r.drops++
	r.late++
}

func (r *streamReport) due(now time.Time) bool {
	return r.frames >= r.window || now.Sub(r.began) >= r.timeout || r.late >= lateFrames
}

// flush appends the report (eight u32 in this order) and begins the next.
func (r *streamReport) flush(b []byte) []byte {
	b = spiceproto.Header{Type: spiceproto.MsgcDisplayStreamReport, Size: 32}.Append(b)
	const noAudio = math.MaxUint32
	for _, v := range [...]uint32{r.stream, r.unique, r.first, r.last, r.frames, r.drops, uint32(r.delay), noAudio} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	r.frames, r.drops, r.late = 0, 0, 0
	return b
}

func u32(m message, offset int) uint32 { return binary.LittleEndian.Uint32(m.head[offset:]) }

func rectAt(m message, offset int) spiceproto.Rect {
	i32 := func(i int) int32 { return int32(u32(m, offset+4*i)) }
	return spiceproto.Rect{Top: i32(0), Left: i32(1), Bottom: i32(2), Right: i32(3)}
}
