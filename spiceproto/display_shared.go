package spiceproto

// Empty is any message without a body; its type says all. Bytes that follow are
// ignored, as with every message.
type Empty struct{ Opcode uint16 }

// Append appends the header to b.
func (m Empty) Append(b []byte) []byte { return Header{Type: m.Opcode}.Append(b) }

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
