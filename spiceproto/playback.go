package spiceproto

import "strconv"

// AudioMode is the encoding of sound (SPICE_AUDIO_DATA_MODE_* in spice/enums.h).
type AudioMode uint16

// The audio modes.
const (
	AudioRaw  AudioMode = 1
	AudioCELT AudioMode = 2
	AudioOpus AudioMode = 3
)

// String returns the mode's name, or "audio-N" for a number that has none.
func (m AudioMode) String() string {
	switch m {
	case AudioRaw:
		return "raw"
	case AudioCELT:
		return "celt"
	case AudioOpus:
		return "opus"
	}
	return "audio-" + strconv.Itoa(int(m))
}

// AudioS16 is the only sample format: 16 bit, signed, little-endian.
const AudioS16 = 1

// playbackBody begins to decode a message of the playback channel.
func playbackBody(op uint16, b []byte) body {
	return body{b: b, channel: ChannelPlayback, direction: ServerToClient, opcode: op}
}

// PlaybackData is a piece of sound (MSG_PLAYBACK_DATA): u32 time, the data.
type PlaybackData struct {
	// Time is when to play it, on the clock of MultiMediaTime, in milliseconds.
	Time uint32
	// Data is in the current mode. It aliases the parsed body.
	Data []byte
}

// ParsePlaybackData decodes the body of MsgPlaybackData. The error is a
// *DecodeError.
func ParsePlaybackData(b []byte) (PlaybackData, error) {
	d := playbackBody(MsgPlaybackData, b)
	m := PlaybackData{Time: d.u32("time"), Data: d.rest("data")}
	return m, d.err
}

// Append appends header and body to b.
func (m PlaybackData) Append(b []byte) []byte {
	return appendTimed(b, MsgPlaybackData, m.Time, m.Data)
}

func appendTimed(b []byte, op uint16, time uint32, data []byte) []byte {
	b = Header{op, uint32(4 + len(data))}.Append(b)
	return append(le.AppendUint32(b, time), data...)
}

// PlaybackMode changes the encoding (MSG_PLAYBACK_MODE): u32 time, u16 mode, then
// data that no codec in use has.
type PlaybackMode struct {
	// Time is on the clock of MultiMediaTime, in milliseconds.
	Time uint32
	Mode AudioMode
	// Data aliases the parsed body.
	Data []byte
}

// ParsePlaybackMode decodes the body of MsgPlaybackMode. The error is a
// *DecodeError.
func ParsePlaybackMode(b []byte) (PlaybackMode, error) {
	d := playbackBody(MsgPlaybackMode, b)
	m := PlaybackMode{
		Time: d.u32("time"), Mode: AudioMode(d.u16("mode")), Data: d.rest("data"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m PlaybackMode) Append(b []byte) []byte { return appendAudioMode(b, MsgPlaybackMode, m) }

func appendAudioMode(b []byte, op uint16, m PlaybackMode) []byte {
	b = Header{op, uint32(6 + len(m.Data))}.Append(b)
	b = le.AppendUint32(b, m.Time)
	b = le.AppendUint16(b, uint16(m.Mode))
	return append(b, m.Data...)
}

// PlaybackStart begins a stream of sound (MSG_PLAYBACK_START): u32 channels, u16
// format, u32 frequency, u32 time.
type PlaybackStart struct {
	Channels uint32
	// Format is AudioS16.
	Format uint16
	// Frequency is in samples a second.
	Frequency uint32
	// Time is on the clock of MultiMediaTime, in milliseconds.
	Time uint32
}

// ParsePlaybackStart decodes the body of MsgPlaybackStart. The error is a
// *DecodeError.
func ParsePlaybackStart(b []byte) (PlaybackStart, error) {
	d := playbackBody(MsgPlaybackStart, b)
	m := PlaybackStart{
		Channels: d.u32("channels"), Format: d.u16("format"), Frequency: d.u32("frequency"),
		Time: d.u32("time"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m PlaybackStart) Append(b []byte) []byte {
	b = Header{MsgPlaybackStart, 14}.Append(b)
	b = le.AppendUint32(b, m.Channels)
	b = le.AppendUint16(b, m.Format)
	return appendU32s(b, m.Frequency, m.Time)
}

// PlaybackVolume sets the volume (MSG_PLAYBACK_VOLUME), for clients with
// CapPlaybackVolume: u8 nchannels, u16 of each channel.
type PlaybackVolume struct {
	// Volume is up to 65535, the loudest.
	Volume []uint16
}

// ParsePlaybackVolume decodes the body of MsgPlaybackVolume. The error is a
// *DecodeError.
func ParsePlaybackVolume(b []byte) (PlaybackVolume, error) {
	d := playbackBody(MsgPlaybackVolume, b)
	m := PlaybackVolume{Volume: d.volume()}
	return m, d.err
}

// Append appends header and body to b. It holds at most 255 channels.
func (m PlaybackVolume) Append(b []byte) []byte {
	return appendVolume(b, MsgPlaybackVolume, m.Volume)
}

func (d *body) volume() []uint16 { return d.u16s("volume", uint32(d.u8("nchannels"))) }

func appendVolume(b []byte, op uint16, volume []uint16) []byte {
	b = Header{op, uint32(1 + 2*len(volume))}.Append(b)
	return appendU16s(append(b, uint8(len(volume))), volume)
}

// PlaybackMute mutes the sound (MSG_PLAYBACK_MUTE), for clients with
// CapPlaybackVolume: u8 mute.
type PlaybackMute struct {
	// Mute is 0 for sound.
	Mute uint8
}

// ParsePlaybackMute decodes the body of MsgPlaybackMute. The error is a
// *DecodeError.
func ParsePlaybackMute(b []byte) (PlaybackMute, error) {
	d := playbackBody(MsgPlaybackMute, b)
	m := PlaybackMute{Mute: d.u8("mute")}
	return m, d.err
}

// Append appends header and body to b.
func (m PlaybackMute) Append(b []byte) []byte {
	return append(Header{MsgPlaybackMute, 1}.Append(b), m.Mute)
}

// PlaybackLatency asks for a smaller or larger buffer (MSG_PLAYBACK_LATENCY), for
// clients with CapPlaybackLatency: u32 latency_ms.
type PlaybackLatency struct {
	// Latency is in milliseconds.
	Latency uint32
}

// ParsePlaybackLatency decodes the body of MsgPlaybackLatency. The error is a
// *DecodeError.
func ParsePlaybackLatency(b []byte) (PlaybackLatency, error) {
	d := playbackBody(MsgPlaybackLatency, b)
	m := PlaybackLatency{Latency: d.u32("latency_ms")}
	return m, d.err
}

// Append appends header and body to b.
func (m PlaybackLatency) Append(b []byte) []byte {
	return appendU32(b, MsgPlaybackLatency, m.Latency)
}
