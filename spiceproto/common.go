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
	b = Header{op, 12}.Append(b)
	b = le.AppendUint32(b, m.ID)
	return le.AppendUint64(b, m.Timestamp)
}
