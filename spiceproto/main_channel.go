package spiceproto

// MainInit is the first message of a session (MSG_MAIN_INIT), eight u32 in the
// order of the fields below.
type MainInit struct {
	// SessionID is the connection_id of every further link of the session.
	SessionID uint32
	// DisplayChannelsHint is the expected number of display channels; 0 means
	// that the server does not know.
	DisplayChannelsHint uint32
	// SupportedMouseModes and CurrentMouseMode are bits: 1 server, 2 client.
	SupportedMouseModes uint32
	CurrentMouseMode    uint32
	// AgentConnected is 1 when a guest agent runs.
	AgentConnected uint32
	// AgentTokens is how many agent messages the client may send at first.
	AgentTokens uint32
	// MultiMediaTime is the server's clock, in milliseconds.
	MultiMediaTime uint32
	// RAMHint is the guest's video memory in bytes, as a hint for caches.
	RAMHint uint32
}

const mainInitSize = 32

// ParseMainInit decodes the body of MsgMainInit. The error is a *DecodeError.
func ParseMainInit(b []byte) (MainInit, error) {
	d := body{b: b, channel: ChannelMain, direction: ServerToClient, opcode: MsgMainInit}
	m := MainInit{
		SessionID:           d.u32("session_id"),
		DisplayChannelsHint: d.u32("display_channels_hint"),
		SupportedMouseModes: d.u32("supported_mouse_modes"),
		CurrentMouseMode:    d.u32("current_mouse_mode"),
		AgentConnected:      d.u32("agent_connected"),
		AgentTokens:         d.u32("agent_tokens"),
		MultiMediaTime:      d.u32("multi_media_time"),
		RAMHint:             d.u32("ram_hint"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m MainInit) Append(b []byte) []byte {
	b = Header{MsgMainInit, mainInitSize}.Append(b)
	for _, v := range [...]uint32{
		m.SessionID, m.DisplayChannelsHint, m.SupportedMouseModes, m.CurrentMouseMode,
		m.AgentConnected, m.AgentTokens, m.MultiMediaTime, m.RAMHint,
	} {
		b = le.AppendUint32(b, v)
	}
	return b
}

// ChannelID names one channel of a session.
type ChannelID struct {
	Type ChannelType
	ID   uint8
}

// ChannelsList tells which channels may be linked (MSG_MAIN_CHANNELS_LIST): u32
// count, then u8 type and u8 id of each. It may come again later.
type ChannelsList struct{ Channels []ChannelID }

// ParseChannelsList decodes the body of MsgMainChannelsList. The error is a
// *DecodeError.
func ParseChannelsList(b []byte) (ChannelsList, error) {
	d := body{b: b, channel: ChannelMain, direction: ServerToClient, opcode: MsgMainChannelsList}
	n := d.count("num_of_channels", uint64(d.u32("num_of_channels")), 2)
	var m ChannelsList
	for range n {
		m.Channels = append(m.Channels, ChannelID{Type: ChannelType(d.u8("type")), ID: d.u8("id")})
	}
	return m, d.err
}

// Append appends header and body to b.
func (m ChannelsList) Append(b []byte) []byte {
	b = Header{MsgMainChannelsList, uint32(4 + 2*len(m.Channels))}.Append(b)
	b = le.AppendUint32(b, uint32(len(m.Channels)))
	for _, c := range m.Channels {
		b = append(b, byte(c.Type), c.ID)
	}
	return b
}

// AppendAttachChannels appends a MsgcMainAttachChannels, which has no body and
// asks for the ChannelsList, to b.
func AppendAttachChannels(b []byte) []byte { return Header{Type: MsgcMainAttachChannels}.Append(b) }
