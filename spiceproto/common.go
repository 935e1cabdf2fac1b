package spiceproto

// SetAck opens an acknowledgement window (MSG_SET_ACK): u32 generation, u32
// window. The client answers AckSync with the generation, then one ACK for
// every Window messages.
type SetAck struct {
	Generation uint32
	// Window counts messages; 0 means that no ACK is wanted.
	Window uint32
}

// ParseSetAck decodes the body of MsgSetAck. The error is a *DecodeError.
func ParseSetAck(b []byte) (SetAck, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgSetAck}
	m := SetAck{Generation: d.u32("generation"), Window: d.u32("window")}
	return m, d.err
}

// Append appends header and body to b.
func (m SetAck) Append(b []byte) []byte {
	b = Header{MsgSetAck, 8}.Append(b)
	b = le.AppendUint32(b, m.Generation)
	return le.AppendUint32(b, m.Window)
}

// AckSync answers a SetAck (MSGC_ACK_SYNC): u32 generation.
type AckSync struct{ Generation uint32 }

// ParseAckSync decodes the body of MsgcAckSync. The error is a *DecodeError.
func ParseAckSync(b []byte) (AckSync, error) {
	d := body{b: b, direction: ClientToServer, opcode: MsgcAckSync}
	m := AckSync{Generation: d.u32("generation")}
	return m, d.err
}

// Append appends header and body to b.
func (m AckSync) Append(b []byte) []byte {
	b = Header{MsgcAckSync, 4}.Append(b)
	return le.AppendUint32(b, m.Generation)
}

// AppendAck appends a MsgcAck, which has no body, to b.
func AppendAck(b []byte) []byte { return Header{Type: MsgcAck}.Append(b) }

const pingSize = 12

// Ping asks for a Pong (MSG_PING): u32 id, u64 timestamp, then padding that is
// not echoed, 256 000 bytes of it in the main channel's net test.
type Ping struct {
	ID uint32
	// Timestamp is the server's clock: nanoseconds in the latency probes,
	// microseconds in the net test.
	Timestamp uint64
}

// ParsePing decodes the first 12 bytes of the body of MsgPing, so the head of
// the message is enough. The error is a *DecodeError.
func ParsePing(b []byte) (Ping, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgPing}
	m := Ping{ID: d.u32("id"), Timestamp: d.u64("timestamp")}
	return m, d.err
}

// Append appends header and body, without padding, to b.
func (m Ping) Append(b []byte) []byte { return appendPing(b, MsgPing, m) }

// Pong answers a Ping with its two fields (MSGC_PONG).
type Pong struct {
	ID        uint32
	Timestamp uint64
}

// ParsePong decodes the body of MsgcPong. The error is a *DecodeError.
func ParsePong(b []byte) (Pong, error) {
	d := body{b: b, direction: ClientToServer, opcode: MsgcPong}
	m := Pong{ID: d.u32("id"), Timestamp: d.u64("timestamp")}
	return m, d.err
}

// Append appends header and body to b.
func (m Pong) Append(b []byte) []byte { return appendPing(b, MsgcPong, Ping(m)) }

func appendPing(b []byte, op uint16, m Ping) []byte {
	b = Header{op, pingSize}.Append(b)
	b = le.AppendUint32(b, m.ID)
	return le.AppendUint64(b, m.Timestamp)
}

// PaddedPing is a Ping with its padding, for the net test of the main channel.
type PaddedPing struct {
	Ping
	// Padding aliases the parsed body.
	Padding []byte
}

// ParsePaddedPing decodes the whole body of MsgPing. The error is a
// *DecodeError.
func ParsePaddedPing(b []byte) (PaddedPing, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgPing}
	m := PaddedPing{Ping: Ping{ID: d.u32("id"), Timestamp: d.u64("timestamp")}}
	m.Padding = d.rest("data")
	return m, d.err
}

// Append appends header and body to b.
func (m PaddedPing) Append(b []byte) []byte {
	b = Header{MsgPing, uint32(pingSize + len(m.Padding))}.Append(b)
	b = le.AppendUint32(b, m.ID)
	b = le.AppendUint64(b, m.Timestamp)
	return append(b, m.Padding...)
}

// Empty is any message without a body; its type says all. Bytes that follow are
// ignored, as with every message.
type Empty struct{ Opcode uint16 }

// Append appends the header to b.
func (m Empty) Append(b []byte) []byte { return Header{Type: m.Opcode}.Append(b) }

// Flags of a Migrate (SPICE_MIGRATE_* in spice/enums.h).
const (
	// MigrateNeedFlush: the client sends MIGRATE_FLUSH_MARK.
	MigrateNeedFlush = 1 << 0
	// MigrateNeedDataTransfer: a MigrateData follows, for the new server.
	MigrateNeedDataTransfer = 1 << 1
)

// Migrate hands the channel over to the migration target (MSG_MIGRATE): u32
// flags. Only a MigrateData may follow from this server.
type Migrate struct {
	// Flags are the Migrate… bits.
	Flags uint32
}

// ParseMigrate decodes the body of MsgMigrate. The error is a *DecodeError.
func ParseMigrate(b []byte) (Migrate, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgMigrate}
	m := Migrate{Flags: d.u32("flags")}
	return m, d.err
}

// Append appends header and body to b.
func (m Migrate) Append(b []byte) []byte { return appendU32(b, MsgMigrate, m.Flags) }

// MigrateData carries a channel's state to the new server by way of the client
// (MSG_MIGRATE_DATA). It is opaque to all but servers.
type MigrateData struct {
	// Data aliases the parsed body.
	Data []byte
}

// ParseMigrateData takes the body of MsgMigrateData, whatever it holds.
func ParseMigrateData(b []byte) (MigrateData, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgMigrateData}
	return MigrateData{Data: d.rest("data")}, d.err
}

// Append appends header and body to b.
func (m MigrateData) Append(b []byte) []byte { return appendRest(b, MsgMigrateData, m.Data) }

// ClientMigrateData is a MigrateData on its way to the new server
// (MSGC_MIGRATE_DATA).
type ClientMigrateData struct {
	// Data aliases the parsed body.
	Data []byte
}

// ParseClientMigrateData takes the body of MsgcMigrateData, whatever it holds.
func ParseClientMigrateData(b []byte) (ClientMigrateData, error) {
	d := body{b: b, direction: ClientToServer, opcode: MsgcMigrateData}
	return ClientMigrateData{Data: d.rest("data")}, d.err
}

// Append appends header and body to b.
func (m ClientMigrateData) Append(b []byte) []byte { return appendRest(b, MsgcMigrateData, m.Data) }

// ChannelWait names a message of another channel that is to be processed first:
// u8 channel_type, u8 channel_id, u64 message_serial.
type ChannelWait struct {
	Type ChannelType
	ID   uint8
	// Serial is the message's number on its channel. With mini headers it counts
	// the messages since the link, from 1.
	Serial uint64
}

const channelWaitSize = 10

// channelWaits reads a u8 count and as many ChannelWaits.
func (d *body) channelWaits(field string) []ChannelWait {
	all := make([]ChannelWait, d.count(field, uint64(d.u8(field)), channelWaitSize))
	for i := range all {
		all[i] = ChannelWait{
			Type: ChannelType(d.u8("channel_type")), ID: d.u8("channel_id"),
			Serial: d.u64("message_serial"),
		}
	}
	return all
}

func appendChannelWaits(b []byte, all []ChannelWait) []byte {
	b = append(b, uint8(len(all)))
	for _, w := range all {
		b = append(b, byte(w.Type), w.ID)
		b = le.AppendUint64(b, w.Serial)
	}
	return b
}

// WaitForChannels holds this channel until others have come far enough
// (MSG_WAIT_FOR_CHANNELS): u8 count, then the ChannelWaits.
type WaitForChannels struct{ Waits []ChannelWait }

// ParseWaitForChannels decodes the body of MsgWaitForChannels. The error is a
// *DecodeError.
func ParseWaitForChannels(b []byte) (WaitForChannels, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgWaitForChannels}
	m := WaitForChannels{Waits: d.channelWaits("wait_count")}
	return m, d.err
}

// Append appends header and body to b. It holds at most 255 waits.
func (m WaitForChannels) Append(b []byte) []byte {
	b = Header{MsgWaitForChannels, uint32(1 + channelWaitSize*len(m.Waits))}.Append(b)
	return appendChannelWaits(b, m.Waits)
}

// Disconnecting announces the end of a channel (MSG_DISCONNECTING): u64
// time_stamp, u32 reason.
type Disconnecting struct {
	// TimeStamp is the sender's clock; spice.proto leaves its unit open.
	TimeStamp uint64
	Reason    LinkError
}

// ParseDisconnecting decodes the body of MsgDisconnecting. The error is a
// *DecodeError.
func ParseDisconnecting(b []byte) (Disconnecting, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgDisconnecting}
	m := Disconnecting{TimeStamp: d.u64("time_stamp"), Reason: LinkError(d.u32("reason"))}
	return m, d.err
}

// Append appends header and body to b.
func (m Disconnecting) Append(b []byte) []byte {
	return appendDisconnecting(b, MsgDisconnecting, m)
}

// ClientDisconnecting is the client's Disconnecting (MSGC_DISCONNECTING).
type ClientDisconnecting struct {
	// TimeStamp is the sender's clock; spice.proto leaves its unit open.
	TimeStamp uint64
	Reason    LinkError
}

// ParseClientDisconnecting decodes the body of MsgcDisconnecting. The error is a
// *DecodeError.
func ParseClientDisconnecting(b []byte) (ClientDisconnecting, error) {
	d := body{b: b, direction: ClientToServer, opcode: MsgcDisconnecting}
	m := ClientDisconnecting{TimeStamp: d.u64("time_stamp"), Reason: LinkError(d.u32("reason"))}
	return m, d.err
}

// Append appends header and body to b.
func (m ClientDisconnecting) Append(b []byte) []byte {
	return appendDisconnecting(b, MsgcDisconnecting, Disconnecting(m))
}

func appendDisconnecting(b []byte, op uint16, m Disconnecting) []byte {
	b = Header{op, 12}.Append(b)
	b = le.AppendUint64(b, m.TimeStamp)
	return le.AppendUint32(b, uint32(m.Reason))
}

// Notify is a text for the user (MSG_NOTIFY): u64 time_stamp, u32 severity, u32
// visibility, u32 what, u32 message_len, the text.
type Notify struct {
	// TimeStamp is the server's clock, in nanoseconds.
	TimeStamp uint64
	// Severity: 0 information, 1 warning, 2 error.
	Severity uint32
	// Visibility: 0 low, 1 medium, 2 high.
	Visibility uint32
	// What is a code from spice/enums.h that depends on Severity.
	What    uint32
	Message string
}

const notifySize = 24

// ParseNotify decodes the body of MsgNotify. The error is a *DecodeError.
func ParseNotify(b []byte) (Notify, error) {
	d := body{b: b, direction: ServerToClient, opcode: MsgNotify}
	m := Notify{
		TimeStamp: d.u64("time_stamp"), Severity: d.u32("severity"),
		Visibility: d.u32("visibilty"), What: d.u32("what"),
	}
	m.Message = string(d.counted("message", d.u32("message_len")))
	return m, d.err
}

// Append appends header and body to b, with the NUL that spice-server appends
// beyond message_len.
func (m Notify) Append(b []byte) []byte {
	b = Header{MsgNotify, uint32(notifySize + len(m.Message) + 1)}.Append(b)
	b = le.AppendUint64(b, m.TimeStamp)
	b = appendU32s(b, m.Severity, m.Visibility, m.What, uint32(len(m.Message)))
	return append(append(b, m.Message...), 0)
}
