package spiceproto

import "strconv"

// AgentHeaderSize is the size of the header of a guest agent message.
const AgentHeaderSize = 20

// AgentProtocol is the only version of the agent protocol.
const AgentProtocol = 1

// AgentType is the type of a guest agent message (VD_AGENT_* in
// spice/vd_agent.h).
type AgentType uint32

// The agent message types.
const (
	AgentMouseStateType AgentType = 1 + iota
	AgentMonitorsConfigType
	AgentReplyType
	AgentClipboardType
	AgentDisplayConfigType
	AgentAnnounceCapabilitiesType
	AgentClipboardGrabType
	AgentClipboardRequestType
	AgentClipboardReleaseType
	AgentFileXferStartType
	AgentFileXferStatusType
	AgentFileXferDataType
	AgentClientDisconnectedType
	AgentMaxClipboardType
	AgentAudioVolumeSyncType
	AgentGraphicsDeviceInfoType
)

var agentTypeNames = [...]string{
	AgentMouseStateType: "mouse-state", AgentMonitorsConfigType: "monitors-config",
	AgentReplyType: "reply", AgentClipboardType: "clipboard",
	AgentDisplayConfigType: "display-config", AgentAnnounceCapabilitiesType: "announce-capabilities",
	AgentClipboardGrabType: "clipboard-grab", AgentClipboardRequestType: "clipboard-request",
	AgentClipboardReleaseType: "clipboard-release", AgentFileXferStartType: "file-xfer-start",
	AgentFileXferStatusType: "file-xfer-status", AgentFileXferDataType: "file-xfer-data",
	AgentClientDisconnectedType: "client-disconnected", AgentMaxClipboardType: "max-clipboard",
	AgentAudioVolumeSyncType: "audio-volume-sync", AgentGraphicsDeviceInfoType: "graphics-device-info",
}

// Valid reports whether t is one of the types above.
func (t AgentType) Valid() bool {
	return t >= AgentMouseStateType && t <= AgentGraphicsDeviceInfoType
}

// String returns the type's name, or "agent-N" for a number that has none.
func (t AgentType) String() string {
	if t.Valid() {
		return agentTypeNames[t]
	}
	return "agent-" + strconv.FormatUint(uint64(t), 10)
}

// AgentHeader begins every message between the guest agent and the client
// (VDAgentMessage): u32 protocol, u32 type, u64 opaque, u32 size.
type AgentHeader struct {
	// Protocol is AgentProtocol.
	Protocol uint32
	Type     AgentType
	Opaque   uint64
	// Size counts the data bytes that follow the header.
	Size uint32
}

// Append appends the 20 header bytes to b.
func (h AgentHeader) Append(b []byte) []byte {
	b = appendU32s(b, h.Protocol, uint32(h.Type))
	b = le.AppendUint64(b, h.Opaque)
	return le.AppendUint32(b, h.Size)
}

// ParseAgentHeader decodes the header at the start of b; false when b is shorter
// than AgentHeaderSize.
func ParseAgentHeader(b []byte) (AgentHeader, bool) {
	if len(b) < AgentHeaderSize {
		return AgentHeader{}, false
	}
	return AgentHeader{
		Protocol: le.Uint32(b), Type: AgentType(le.Uint32(b[4:])), Opaque: le.Uint64(b[8:]),
		Size: le.Uint32(b[16:]),
	}, true
}

// Capability bits of an AgentAnnounceCapabilities (VD_AGENT_CAP_*).
const (
	CapAgentMouseState               = 0
	CapAgentMonitorsConfig           = 1
	CapAgentReply                    = 2
	CapAgentClipboard                = 3
	CapAgentDisplayConfig            = 4
	CapAgentClipboardByDemand        = 5
	CapAgentClipboardSelection       = 6
	CapAgentSparseMonitorsConfig     = 7
	CapAgentGuestLineEndLF           = 8
	CapAgentGuestLineEndCRLF         = 9
	CapAgentMaxClipboard             = 10
	CapAgentAudioVolumeSync          = 11
	CapAgentMonitorsConfigPosition   = 12
	CapAgentFileXferDisabled         = 13
	CapAgentFileXferDetailedErrors   = 14
	CapAgentGraphicsDeviceInfo       = 15
	CapAgentClipboardNoReleaseRegrab = 16
	CapAgentClipboardGrabSerial      = 17
)

var agentCapNames = []string{
	"mouse-state", "monitors-config", "reply", "clipboard", "display-config",
	"clipboard-by-demand", "clipboard-selection", "sparse-monitors-config", "guest-lineend-lf",
	"guest-lineend-crlf", "max-clipboard", "audio-volume-sync", "monitors-config-position",
	"file-xfer-disabled", "file-xfer-detailed-errors", "graphics-device-info",
	"clipboard-no-release-on-regrab", "clipboard-grab-serial",
}

// AgentCapNames returns the names of the bits set in c, lowest first; a bit
// without a name is "bit-N".
func AgentCapNames(c Caps) []string { return capNames(c, agentCapNames) }

// AgentLayout tells what the two ends' capabilities change in the layout of
// agent messages. It is the same in both directions once both have announced
// theirs, and zero before.
type AgentLayout struct {
	// Selection: clipboard messages begin with u8 selection and 3 reserved bytes.
	Selection bool
	// GrabSerial: a clipboard grab has a u32 serial before its types.
	GrabSerial bool
}

// AgentLayoutOf returns the layout that follows from what the agent and the
// client announced.
func AgentLayoutOf(agent, client Caps) AgentLayout {
	both := func(bit int) bool { return agent.Has(bit) && client.Has(bit) }
	return AgentLayout{
		Selection:  both(CapAgentClipboardSelection),
		GrabSerial: both(CapAgentClipboardGrabSerial),
	}
}

// agentBody begins to decode the data of an agent message. Its errors name the
// AGENT_DATA of the direction in which the message usually travels.
func agentBody(dir Direction, b []byte) body {
	return body{b: b, channel: ChannelMain, direction: dir, opcode: agentDataOpcode(dir)}
}

func agentDataOpcode(dir Direction) uint16 {
	if dir == ClientToServer {
		return MsgcMainAgentData
	}
	return MsgMainAgentData
}

// appendAgent appends the header of an agent message with size bytes of data.
func appendAgent(b []byte, t AgentType, size int) []byte {
	return AgentHeader{Protocol: AgentProtocol, Type: t, Size: uint32(size)}.Append(b)
}

// AppendAgentData appends an agent message, header and data, to b, cut into
// AGENT_DATA messages for the given direction.
func AppendAgentData(b []byte, dir Direction, message []byte) []byte {
	for len(message) > 0 {
		n := min(len(message), AgentMaxData)
		b = appendRest(b, agentDataOpcode(dir), message[:n])
		message = message[n:]
	}
	return b
}
