package spiceproto

// recordBody begins to decode a message of the record channel.
func recordBody(dir Direction, op uint16, b []byte) body {
	return body{b: b, channel: ChannelRecord, direction: dir, opcode: op}
}

// RecordStart asks for sound (MSG_RECORD_START): u32 channels, u16 format, u32
// frequency.
type RecordStart struct {
	Channels uint32
	// Format is AudioS16.
	Format uint16
	// Frequency is in samples a second.
	Frequency uint32
}

// ParseRecordStart decodes the body of MsgRecordStart. The error is a
// *DecodeError.
func ParseRecordStart(b []byte) (RecordStart, error) {
	d := recordBody(ServerToClient, MsgRecordStart, b)
	m := RecordStart{
		Channels: d.u32("channels"), Format: d.u16("format"), Frequency: d.u32("frequency"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m RecordStart) Append(b []byte) []byte {
	b = Header{MsgRecordStart, 10}.Append(b)
	b = le.AppendUint32(b, m.Channels)
	b = le.AppendUint16(b, m.Format)
	return le.AppendUint32(b, m.Frequency)
}

// RecordVolume sets the volume (MSG_RECORD_VOLUME), for clients with
// CapRecordVolume: u8 nchannels, u16 of each channel.
type RecordVolume struct {
	// Volume is up to 65535, the loudest.
	Volume []uint16
}

// ParseRecordVolume decodes the body of MsgRecordVolume. The error is a
// *DecodeError.
func ParseRecordVolume(b []byte) (RecordVolume, error) {
	d := recordBody(ServerToClient, MsgRecordVolume, b)
	m := RecordVolume{Volume: d.volume()}
	return m, d.err
}

// Append appends header and body to b. It holds at most 255 channels.
func (m RecordVolume) Append(b []byte) []byte { return appendVolume(b, MsgRecordVolume, m.Volume) }

// RecordMute mutes the sound (MSG_RECORD_MUTE), for clients with
// CapRecordVolume: u8 mute.
type RecordMute struct {
	// Mute is 0 for sound.
	Mute uint8
}

// ParseRecordMute decodes the body of MsgRecordMute. The error is a
// *DecodeError.
func ParseRecordMute(b []byte) (RecordMute, error) {
	d := recordBody(ServerToClient, MsgRecordMute, b)
	m := RecordMute{Mute: d.u8("mute")}
	return m, d.err
}

// Append appends header and body to b.
func (m RecordMute) Append(b []byte) []byte {
	return append(Header{MsgRecordMute, 1}.Append(b), m.Mute)
}

// RecordData is a piece of sound (MSGC_RECORD_DATA): u32 time, the data.
type RecordData struct {
	// Time is when it was taken, on the clock of MultiMediaTime, in milliseconds.
	Time uint32
	// Data is in the current mode. It aliases the parsed body.
	Data []byte
}

// ParseRecordData decodes the body of MsgcRecordData. The error is a
// *DecodeError.
func ParseRecordData(b []byte) (RecordData, error) {
	d := recordBody(ClientToServer, MsgcRecordData, b)
	m := RecordData{Time: d.u32("time"), Data: d.rest("data")}
	return m, d.err
}

// Append appends header and body to b.
func (m RecordData) Append(b []byte) []byte { return appendTimed(b, MsgcRecordData, m.Time, m.Data) }

// RecordMode changes the encoding (MSGC_RECORD_MODE), as PlaybackMode does.
type RecordMode struct {
	// Time is on the clock of MultiMediaTime, in milliseconds.
	Time uint32
	Mode AudioMode
	// Data aliases the parsed body.
	Data []byte
}

// ParseRecordMode decodes the body of MsgcRecordMode. The error is a
// *DecodeError.
func ParseRecordMode(b []byte) (RecordMode, error) {
	d := recordBody(ClientToServer, MsgcRecordMode, b)
	m := RecordMode{
		Time: d.u32("time"), Mode: AudioMode(d.u16("mode")), Data: d.rest("data"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m RecordMode) Append(b []byte) []byte {
	return appendAudioMode(b, MsgcRecordMode, PlaybackMode(m))
}

// RecordStartMark tells when the first sound was taken (MSGC_RECORD_START_MARK):
// u32 time.
type RecordStartMark struct {
	// Time is on the clock of MultiMediaTime, in milliseconds.
	Time uint32
}

// ParseRecordStartMark decodes the body of MsgcRecordStartMark. The error is a
// *DecodeError.
func ParseRecordStartMark(b []byte) (RecordStartMark, error) {
	d := recordBody(ClientToServer, MsgcRecordStartMark, b)
	m := RecordStartMark{Time: d.u32("time")}
	return m, d.err
}

// Append appends header and body to b.
func (m RecordStartMark) Append(b []byte) []byte {
	return appendU32(b, MsgcRecordStartMark, m.Time)
}
