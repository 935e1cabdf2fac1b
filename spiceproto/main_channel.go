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
	m := ChannelsList{Channels: make([]ChannelID, n)}
	for i := range m.Channels {
		m.Channels[i] = ChannelID{Type: ChannelType(d.u8("type")), ID: d.u8("id")}
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

// Mouse modes, as bits.
const (
	// MouseModeServer: the client sends motions, the guest moves the pointer.
	MouseModeServer = 1 << 0
	// MouseModeClient: the client sends positions, for the guest's tablet or agent.
	MouseModeClient = 1 << 1
)

// mainBody begins to decode a message of the main channel.
func mainBody(dir Direction, op uint16, b []byte) body {
	return body{b: b, channel: ChannelMain, direction: dir, opcode: op}
}

// MouseMode tells the mouse mode (MSG_MAIN_MOUSE_MODE): u16 supported, u16
// current.
type MouseMode struct {
	// Supported and Current are the MouseMode… bits.
	Supported, Current uint16
}

// ParseMouseMode decodes the body of MsgMainMouseMode. The error is a
// *DecodeError.
func ParseMouseMode(b []byte) (MouseMode, error) {
	d := mainBody(ServerToClient, MsgMainMouseMode, b)
	m := MouseMode{Supported: d.u16("supported_modes"), Current: d.u16("current_mode")}
	return m, d.err
}

// Append appends header and body to b.
func (m MouseMode) Append(b []byte) []byte {
	b = Header{MsgMainMouseMode, 4}.Append(b)
	b = le.AppendUint16(b, m.Supported)
	return le.AppendUint16(b, m.Current)
}

// MouseModeRequest asks for a mouse mode (MSGC_MAIN_MOUSE_MODE_REQUEST): u16.
type MouseModeRequest struct {
	// Mode is one of the MouseMode… bits.
	Mode uint16
}

// ParseMouseModeRequest decodes the body of MsgcMainMouseModeRequest. The error
// is a *DecodeError.
func ParseMouseModeRequest(b []byte) (MouseModeRequest, error) {
	d := mainBody(ClientToServer, MsgcMainMouseModeRequest, b)
	m := MouseModeRequest{Mode: d.u16("mode")}
	return m, d.err
}

// Append appends header and body to b.
func (m MouseModeRequest) Append(b []byte) []byte {
	return le.AppendUint16(Header{MsgcMainMouseModeRequest, 2}.Append(b), m.Mode)
}

// MultiMediaTime sets the clock that stream frames and sound are played by
// (MSG_MAIN_MULTI_MEDIA_TIME): u32 time.
type MultiMediaTime struct {
	// Time is the server's clock, in milliseconds.
	Time uint32
}

// ParseMultiMediaTime decodes the body of MsgMainMultiMediaTime. The error is a
// *DecodeError.
func ParseMultiMediaTime(b []byte) (MultiMediaTime, error) {
	d := mainBody(ServerToClient, MsgMainMultiMediaTime, b)
	m := MultiMediaTime{Time: d.u32("time")}
	return m, d.err
}

// Append appends header and body to b.
func (m MultiMediaTime) Append(b []byte) []byte {
	return appendU32(b, MsgMainMultiMediaTime, m.Time)
}

// MainName is the guest's name (MSG_MAIN_NAME), for clients with
// CapMainNameAndUUID: u32 name_len, the name.
type MainName struct {
	// Name is as it was sent: spice-server ends it with a NUL.
	Name string
}

// ParseMainName decodes the body of MsgMainName. The error is a *DecodeError.
func ParseMainName(b []byte) (MainName, error) {
	d := mainBody(ServerToClient, MsgMainName, b)
	m := MainName{Name: string(d.counted("name", d.u32("name_len")))}
	return m, d.err
}

// Append appends header and body to b.
func (m MainName) Append(b []byte) []byte {
	b = Header{MsgMainName, uint32(4 + len(m.Name))}.Append(b)
	b = le.AppendUint32(b, uint32(len(m.Name)))
	return append(b, m.Name...)
}

// MainUUID is the guest's UUID (MSG_MAIN_UUID), for clients with
// CapMainNameAndUUID: 16 bytes.
type MainUUID struct{ UUID [16]byte }

// ParseMainUUID decodes the body of MsgMainUUID. The error is a *DecodeError.
func ParseMainUUID(b []byte) (MainUUID, error) {
	d := mainBody(ServerToClient, MsgMainUUID, b)
	var m MainUUID
	copy(m.UUID[:], d.take("uuid", len(m.UUID)))
	return m, d.err
}

// Append appends header and body to b.
func (m MainUUID) Append(b []byte) []byte { return appendRest(b, MsgMainUUID, m.UUID[:]) }

// ClientInfo tells the size of the client's image cache (MSGC_MAIN_CLIENT_INFO):
// u64 cache_size. Current clients do not send it.
type ClientInfo struct{ CacheSize uint64 }

// ParseClientInfo decodes the body of MsgcMainClientInfo. The error is a
// *DecodeError.
func ParseClientInfo(b []byte) (ClientInfo, error) {
	d := mainBody(ClientToServer, MsgcMainClientInfo, b)
	m := ClientInfo{CacheSize: d.u64("cache_size")}
	return m, d.err
}

// Append appends header and body to b.
func (m ClientInfo) Append(b []byte) []byte {
	return le.AppendUint64(Header{MsgcMainClientInfo, 8}.Append(b), m.CacheSize)
}

// MainQualityIndicator is defined and sent by nobody
// (MSGC_MAIN_QUALITY_INDICATOR).
type MainQualityIndicator struct {
	// Data aliases the parsed body.
	Data []byte
}

// ParseMainQualityIndicator takes the body of MsgcMainQualityIndicator, whatever
// it holds.
func ParseMainQualityIndicator(b []byte) (MainQualityIndicator, error) {
	d := mainBody(ClientToServer, MsgcMainQualityIndicator, b)
	return MainQualityIndicator{Data: d.rest("data")}, d.err
}

// Append appends header and body to b.
func (m MainQualityIndicator) Append(b []byte) []byte {
	return appendRest(b, MsgcMainQualityIndicator, m.Data)
}
