package spiceproto

// MaxSubMessages bounds the entries of a sub-message list. Servers send two at
// most (dcc-send.cpp: WAIT_FOR_CHANNELS and INVAL_LIST).
const MaxSubMessages = 64

// SubMessage is one message within another: u16 type, u32 size, body.
type SubMessage struct {
	Type uint16
	// Size is the declared size of the body. spice-server declares too much: the
	// sizes of its own structures instead of the bytes it writes.
	Size uint32
	// Body aliases the enclosing body. Its length is the true one: of
	// WAIT_FOR_CHANNELS and of the display's INVAL_LIST what the count within
	// asks for, else Size, but not beyond the enclosing body.
	Body []byte
}

// List is a message of nothing but sub-messages (MSG_LIST), which peers with
// mini headers use in place of FullHeader.SubList.
type List struct{ Messages []SubMessage }

// ParseList decodes the body of MsgList on a channel of type t. The error is a
// *DecodeError.
func ParseList(t ChannelType, b []byte) (List, error) {
	messages, err := parseSubList(body{b: b, channel: t, opcode: MsgList})
	return List{messages}, err
}

// ParseSubList decodes the sub-messages of a message of type op from server to
// client on a channel of type t, in the order in which they take effect, which
// is before the message itself. b is the whole body, at the header's SubList.
// Offsets within a sub-message count from its own first body byte. The error is
// a *DecodeError.
func ParseSubList(t ChannelType, op uint16, b []byte, at uint32) ([]SubMessage, error) {
	d := body{b: b, channel: t, opcode: op}
	if uint64(at) >= uint64(len(b)) {
		d.fail("sub_list", 0, ErrPointer)
		return nil, d.err
	}
	d.off = int(at)
	return parseSubList(d)
}

func parseSubList(d body) ([]SubMessage, error) {
	at := d.off
	n := d.count("size", uint64(d.u16("size")), 4)
	if n > MaxSubMessages {
		d.fail("size", at, ErrLimit)
	}
	if d.err != nil {
		return nil, d.err
	}
	all := make([]SubMessage, n)
	for i := range all {
		all[i] = d.subMessage()
	}
	return all, d.err
}

// subMessage reads the next offset of the list, and the message there.
func (d *body) subMessage() SubMessage {
	at := d.off
	ptr := d.u32("sub_messages")
	if d.err != nil {
		return SubMessage{}
	}
	if ptr == 0 || uint64(ptr)+MiniHeaderSize > uint64(len(d.b)) {
		d.fail("sub_messages", at, ErrPointer)
		return SubMessage{}
	}
	h, _ := ParseHeader(d.b[ptr:])
	m := SubMessage{Type: h.Type, Size: h.Size, Body: d.b[ptr+MiniHeaderSize:]}
	n, ok := countedSize(d.channel, m.Type, m.Body)
	if !ok {
		n = min(uint64(m.Size), uint64(len(m.Body)))
	}
	if n > uint64(len(m.Body)) {
		d.fail("sub_messages.count", int(ptr)+MiniHeaderSize, ErrCount)
		return SubMessage{}
	}
	m.Body = m.Body[:n:n]
	return m
}

// countedSize returns the size of the body at the start of b for the two types
// whose declared size is wrong; false for others. It is more than len(b) when
// the body is incomplete.
func countedSize(t ChannelType, op uint16, b []byte) (uint64, bool) {
	switch {
	case op == MsgWaitForChannels && len(b) > 0:
		return 1 + channelWaitSize*uint64(b[0]), true
	case op == MsgWaitForChannels:
		return 1, true
	case op == MsgDisplayInvalList && t == ChannelDisplay && len(b) > 1:
		return 2 + resourceIDSize*uint64(le.Uint16(b)), true
	case op == MsgDisplayInvalList && t == ChannelDisplay:
		return 2, true
	}
	return 0, false
}

// resourceIDSize is the size of an entry of INVAL_LIST: u8 type, u64 id.
const resourceIDSize = 9

// Append appends header and body to b: the list, then its messages in the same
// order, with Size as it stands. It holds at most 65535 messages.
func (m List) Append(b []byte) []byte {
	at := 2 + 4*len(m.Messages)
	size := at
	for _, s := range m.Messages {
		size += MiniHeaderSize + len(s.Body)
	}
	b = Header{MsgList, uint32(size)}.Append(b)
	b = le.AppendUint16(b, uint16(len(m.Messages)))
	for _, s := range m.Messages {
		b = le.AppendUint32(b, uint32(at))
		at += MiniHeaderSize + len(s.Body)
	}
	for _, s := range m.Messages {
		b = append(Header{s.Type, s.Size}.Append(b), s.Body...)
	}
	return b
}
