package spiceproto

// portRules check the messages of port and webdav beside the data they carry.
type portRules struct{}

// portEvents is the number of port events (SPICE_PORT_EVENT_* in spice/enums.h).
const portEvents = 3

func (portRules) observe(m *Machine, msg *observed) {
	switch {
	case msg.dir == ServerToClient && msg.Type == MsgPortInit:
		// u32 name_size, ptr name, u8 opened.
		if n, ptr := uint64(msg.u32(0)), uint64(msg.u32(4)); n+ptr > uint64(msg.Size) {
			m.report(RuleMalformed, n+ptr, uint64(msg.Size))
		}
	case msg.dir == ServerToClient && msg.Type == MsgPortEvent,
		msg.dir == ClientToServer && msg.Type == MsgcPortEvent:
		if event := msg.head[0]; event >= portEvents {
			m.report(RuleValue, uint64(event), portEvents)
		}
	}
}

// smartcardRules check the one message of smartcard: u32 type, u32 reader_id,
// u32 length, data.
type smartcardRules struct{}

// smartcardTypes is the highest VSCMsgType; the lowest is 1.
const smartcardTypes = 9

func (smartcardRules) observe(m *Machine, msg *observed) {
	if t := msg.u32(0); t == 0 || t > smartcardTypes {
		m.report(RuleValue, uint64(t), smartcardTypes)
	}
	m.count(msg.Size, specSmartcardSize, 1, uint64(msg.u32(8)))
}
