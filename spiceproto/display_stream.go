package spiceproto

import "strconv"

// VideoCodec is how the frames of a stream are encoded
// (SPICE_VIDEO_CODEC_TYPE_* in spice/enums.h).
type VideoCodec uint8

// The video codecs.
const (
	VideoMJPEG VideoCodec = 1
	VideoVP8   VideoCodec = 2
	VideoH264  VideoCodec = 3
	VideoVP9   VideoCodec = 4
	VideoH265  VideoCodec = 5
)

var videoCodecNames = [...]string{
	VideoMJPEG: "mjpeg", VideoVP8: "vp8", VideoH264: "h264", VideoVP9: "vp9", VideoH265: "h265",
}

// String returns the codec's name, or "codec-N" for a number that has none.
func (v VideoCodec) String() string {
	if v >= VideoMJPEG && int(v) < len(videoCodecNames) {
		return videoCodecNames[v]
	}
	return "codec-" + strconv.Itoa(int(v))
}

// StreamTopDown is the flag of a StreamCreate whose frames begin with the top
// row.
const StreamTopDown = 1 << 0

// StreamCreate opens a video stream (MSG_DISPLAY_STREAM_CREATE), in the order of
// the fields below: u32, u32, u8, u8, u64, four u32, Rect, Clip.
type StreamCreate struct {
	// SurfaceID is 0 from every spice-server.
	SurfaceID uint32
	// ID is below 50 from spice-server; clients keep 64.
	ID    uint32
	Flags uint8
	Codec VideoCodec
	Stamp uint64
	// StreamWidth and StreamHeight are the size of the frames.
	StreamWidth, StreamHeight uint32
	// SrcWidth and SrcHeight are the size of what the guest draws.
	SrcWidth, SrcHeight uint32
	Dest                Rect
	Clip                Clip
}

// ParseStreamCreate decodes the body of MsgDisplayStreamCreate. The error is a
// *DecodeError.
func ParseStreamCreate(b []byte) (StreamCreate, error) {
	d := serverDisplayBody(MsgDisplayStreamCreate, b)
	m := StreamCreate{
		SurfaceID: d.u32("surface_id"), ID: d.u32("id"), Flags: d.u8("flags"),
		Codec: VideoCodec(d.u8("codec_type")), Stamp: d.u64("stamp"),
		StreamWidth: d.u32("stream_width"), StreamHeight: d.u32("stream_height"),
		SrcWidth: d.u32("src_width"), SrcHeight: d.u32("src_height"),
		Dest: d.rect("dest"), Clip: d.clip(),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m StreamCreate) Append(b []byte) []byte {
	return compose(b, MsgDisplayStreamCreate, func(c *composer) {
		c.u32(m.SurfaceID, m.ID)
		c.u8(m.Flags)
		c.u8(uint8(m.Codec))
		c.u64(m.Stamp)
		c.u32(m.StreamWidth, m.StreamHeight, m.SrcWidth, m.SrcHeight)
		c.rect(m.Dest)
		c.clip(m.Clip)
	})
}

// StreamData is one frame (MSG_DISPLAY_STREAM_DATA): u32 id, u32
// multi_media_time, u32 data_size, the bytes.
type StreamData struct {
	ID uint32
	// MultiMediaTime is when to show the frame, in the milliseconds of MainInit.
	MultiMediaTime uint32
	// Data aliases the message.
	Data []byte
}

// ParseStreamData decodes the body of MsgDisplayStreamData. The error is a
// *DecodeError.
func ParseStreamData(b []byte) (StreamData, error) {
	d := serverDisplayBody(MsgDisplayStreamData, b)
	m := StreamData{ID: d.u32("base.id"), MultiMediaTime: d.u32("base.multi_media_time")}
	m.Data = d.data("data", uint64(d.u32("data_size")))
	return m, d.err
}

// Append appends header and body to b.
func (m StreamData) Append(b []byte) []byte {
	return compose(b, MsgDisplayStreamData, func(c *composer) {
		c.u32(m.ID, m.MultiMediaTime, uint32(len(m.Data)))
		c.bytes(m.Data)
	})
}

// StreamDataSized is a frame with a size and a place of its own
// (MSG_DISPLAY_STREAM_DATA_SIZED, sent to clients with the SIZED_STREAM
// capability): u32 id, u32 multi_media_time, u32 width, u32 height, Rect dest,
// u32 data_size, the bytes.
type StreamDataSized struct {
	ID uint32
	// MultiMediaTime is when to show the frame, in the milliseconds of MainInit.
	MultiMediaTime uint32
	Width, Height  uint32
	Dest           Rect
	// Data aliases the message.
	Data []byte
}

// ParseStreamDataSized decodes the body of MsgDisplayStreamDataSized. The error
// is a *DecodeError.
func ParseStreamDataSized(b []byte) (StreamDataSized, error) {
	d := serverDisplayBody(MsgDisplayStreamDataSized, b)
	m := StreamDataSized{
		ID: d.u32("base.id"), MultiMediaTime: d.u32("base.multi_media_time"),
		Width: d.u32("width"), Height: d.u32("height"), Dest: d.rect("dest"),
	}
	m.Data = d.data("data", uint64(d.u32("data_size")))
	return m, d.err
}

// Append appends header and body to b.
func (m StreamDataSized) Append(b []byte) []byte {
	return compose(b, MsgDisplayStreamDataSized, func(c *composer) {
		c.u32(m.ID, m.MultiMediaTime, m.Width, m.Height)
		c.rect(m.Dest)
		c.u32(uint32(len(m.Data)))
		c.bytes(m.Data)
	})
}

// StreamClip changes what of a stream is to be seen (MSG_DISPLAY_STREAM_CLIP):
// u32 id, Clip.
type StreamClip struct {
	ID   uint32
	Clip Clip
}

// ParseStreamClip decodes the body of MsgDisplayStreamClip. The error is a
// *DecodeError.
func ParseStreamClip(b []byte) (StreamClip, error) {
	d := serverDisplayBody(MsgDisplayStreamClip, b)
	m := StreamClip{ID: d.u32("id"), Clip: d.clip()}
	return m, d.err
}

// Append appends header and body to b.
func (m StreamClip) Append(b []byte) []byte {
	return compose(b, MsgDisplayStreamClip, func(c *composer) {
		c.u32(m.ID)
		c.clip(m.Clip)
	})
}

// StreamDestroy closes a stream (MSG_DISPLAY_STREAM_DESTROY): u32 id.
type StreamDestroy struct{ ID uint32 }

// ParseStreamDestroy decodes the body of MsgDisplayStreamDestroy. The error is a
// *DecodeError.
func ParseStreamDestroy(b []byte) (StreamDestroy, error) {
	d := serverDisplayBody(MsgDisplayStreamDestroy, b)
	m := StreamDestroy{ID: d.u32("id")}
	return m, d.err
}

// Append appends header and body to b.
func (m StreamDestroy) Append(b []byte) []byte {
	return compose(b, MsgDisplayStreamDestroy, func(c *composer) { c.u32(m.ID) })
}

// StreamActivateReport asks for StreamReports
// (MSG_DISPLAY_STREAM_ACTIVATE_REPORT, sent to clients with the STREAM_REPORT
// capability), four u32 in the order of the fields below.
type StreamActivateReport struct {
	StreamID uint32
	// UniqueID goes back in every report.
	UniqueID uint32
	// MaxWindow is after how many frames a report is due.
	MaxWindow uint32
	// Timeout is after how many milliseconds a report is due.
	Timeout uint32
}

// ParseStreamActivateReport decodes the body of MsgDisplayStreamActivateReport.
// The error is a *DecodeError.
func ParseStreamActivateReport(b []byte) (StreamActivateReport, error) {
	d := serverDisplayBody(MsgDisplayStreamActivateReport, b)
	m := StreamActivateReport{
		StreamID: d.u32("stream_id"), UniqueID: d.u32("unique_id"),
		MaxWindow: d.u32("max_window_size"), Timeout: d.u32("timeout_ms"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m StreamActivateReport) Append(b []byte) []byte {
	return compose(b, MsgDisplayStreamActivateReport, func(c *composer) {
		c.u32(m.StreamID, m.UniqueID, m.MaxWindow, m.Timeout)
	})
}

// StreamReport tells how the client keeps up with a stream
// (MSGC_DISPLAY_STREAM_REPORT), eight 32 bit fields in the order below.
type StreamReport struct {
	StreamID, UniqueID uint32
	// StartTime and EndTime are the MultiMediaTimes of the first and last frame
	// the report is about.
	StartTime, EndTime uint32
	// Frames arrived, and Drops of them were not shown. No frames and
	// StreamReportCannotDecode drops mean that the client cannot decode it.
	Frames, Drops uint32
	// LastFrameDelay is how long before its time the last frame came, in
	// milliseconds; negative when it was late.
	LastFrameDelay int32
	// AudioDelay is the sound's latency in milliseconds.
	AudioDelay uint32
}

// StreamReportCannotDecode is StreamReport.Drops of a client without the codec.
const StreamReportCannotDecode = 0xffffffff

// ParseStreamReport decodes the body of MsgcDisplayStreamReport. The error is a
// *DecodeError.
func ParseStreamReport(b []byte) (StreamReport, error) {
	d := clientDisplayBody(MsgcDisplayStreamReport, b)
	m := StreamReport{
		StreamID: d.u32("stream_id"), UniqueID: d.u32("unique_id"),
		StartTime: d.u32("start_frame_mm_time"), EndTime: d.u32("end_frame_mm_time"),
		Frames: d.u32("num_frames"), Drops: d.u32("num_drops"),
		LastFrameDelay: d.i32("last_frame_delay"), AudioDelay: d.u32("audio_delay"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m StreamReport) Append(b []byte) []byte {
	return compose(b, MsgcDisplayStreamReport, func(c *composer) {
		c.u32(m.StreamID, m.UniqueID, m.StartTime, m.EndTime, m.Frames, m.Drops)
		c.i32(m.LastFrameDelay)
		c.u32(m.AudioDelay)
	})
}

// PreferredVideoCodecs lists the codecs a client decodes, best first
// (MSGC_DISPLAY_PREFERRED_VIDEO_CODEC_TYPE, for servers with the
// PREF_VIDEO_CODEC_TYPE capability): u8 num_of_codecs, u8 each.
type PreferredVideoCodecs struct{ Codecs []VideoCodec }

// ParsePreferredVideoCodecs decodes the body of
// MsgcDisplayPreferredVideoCodecType. The error is a *DecodeError.
func ParsePreferredVideoCodecs(b []byte) (PreferredVideoCodecs, error) {
	d := clientDisplayBody(MsgcDisplayPreferredVideoCodecType, b)
	n := d.elements("num_of_codecs", uint64(d.u8("num_of_codecs")), 1, 1)
	m := PreferredVideoCodecs{make([]VideoCodec, n)}
	for i := range m.Codecs {
		m.Codecs[i] = VideoCodec(d.u8("codecs"))
	}
	return m, d.err
}

// Append appends header and body to b. It holds at most 255 codecs.
func (m PreferredVideoCodecs) Append(b []byte) []byte {
	return compose(b, MsgcDisplayPreferredVideoCodecType, func(c *composer) {
		c.u8(uint8(len(m.Codecs)))
		for _, v := range m.Codecs {
			c.u8(uint8(v))
		}
	})
}
