package spiceproto

import "strconv"

// ClipboardType is the format of clipboard contents (VD_AGENT_CLIPBOARD_* in
// spice/vd_agent.h).
type ClipboardType uint32

// The clipboard types.
const (
	ClipboardNone ClipboardType = iota
	ClipboardText
	ClipboardPNG
	ClipboardBMP
	ClipboardTIFF
	ClipboardJPEG
	ClipboardFileList
)

var clipboardTypeNames = [...]string{"none", "text", "png", "bmp", "tiff", "jpeg", "file-list"}

// String returns the type's name, or "clipboard-N" for a number that has none.
func (t ClipboardType) String() string {
	if int64(t) < int64(len(clipboardTypeNames)) {
		return clipboardTypeNames[t]
	}
	return "clipboard-" + strconv.FormatUint(uint64(t), 10)
}

const agentSelectionSize = 4

// selection reads what clipboard messages begin with.
func (d *body) selection(l AgentLayout) uint8 {
	if !l.Selection {
		return 0
	}
	if p := d.take("selection", agentSelectionSize); p != nil {
		return p[0]
	}
	return 0
}

// size is how many bytes l puts before the fields of a clipboard message.
func (l AgentLayout) size() int {
	if l.Selection {
		return agentSelectionSize
	}
	return 0
}

func (l AgentLayout) appendSelection(b []byte, selection uint8) []byte {
	if !l.Selection {
		return b
	}
	return append(b, selection, 0, 0, 0)
}

// AgentClipboard is what the clipboard holds (VDAgentClipboard): selection, u32
// type, the contents.
type AgentClipboard struct {
	AgentLayout
	// Selection is 0 for the clipboard, 1 primary, 2 secondary; 0 where the layout
	// has none.
	Selection uint8
	Type      ClipboardType
	// Data aliases the parsed data.
	Data []byte
}

// ParseAgentClipboard decodes the data of an AgentClipboardType. The error is a
// *DecodeError.
func ParseAgentClipboard(b []byte, l AgentLayout) (AgentClipboard, error) {
	d := agentBody(ServerToClient, b)
	m := AgentClipboard{
		AgentLayout: l, Selection: d.selection(l), Type: ClipboardType(d.u32("clipboard.type")),
		Data: d.rest("clipboard.data"),
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentClipboard) Append(b []byte) []byte {
	b = appendAgent(b, AgentClipboardType, m.size()+4+len(m.Data))
	b = m.appendSelection(b, m.Selection)
	return append(le.AppendUint32(b, uint32(m.Type)), m.Data...)
}

// AgentClipboardGrab announces contents that the other side may ask for
// (VDAgentClipboardGrab): selection, u32 serial, u32 of each type.
type AgentClipboardGrab struct {
	AgentLayout
	// Selection is as in AgentClipboard.
	Selection uint8
	// Serial orders grabs from both sides; 0 where the layout has none.
	Serial uint32
	Types  []ClipboardType
}

// ParseAgentClipboardGrab decodes the data of an AgentClipboardGrabType. The
// error is a *DecodeError.
func ParseAgentClipboardGrab(b []byte, l AgentLayout) (AgentClipboardGrab, error) {
	d := agentBody(ServerToClient, b)
	m := AgentClipboardGrab{AgentLayout: l, Selection: d.selection(l)}
	if l.GrabSerial {
		m.Serial = d.u32("clipboard_grab.serial")
	}
	m.Types = make([]ClipboardType, (len(b)-d.off)/4)
	for i := range m.Types {
		m.Types[i] = ClipboardType(d.u32("clipboard_grab.types"))
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentClipboardGrab) Append(b []byte) []byte {
	size := m.size() + 4*len(m.Types)
	if m.GrabSerial {
		size += 4
	}
	b = m.appendSelection(appendAgent(b, AgentClipboardGrabType, size), m.Selection)
	if m.GrabSerial {
		b = le.AppendUint32(b, m.Serial)
	}
	for _, t := range m.Types {
		b = le.AppendUint32(b, uint32(t))
	}
	return b
}

// AgentClipboardRequest asks for the contents of a grab
// (VDAgentClipboardRequest): selection, u32 type.
type AgentClipboardRequest struct {
	AgentLayout
	// Selection is as in AgentClipboard.
	Selection uint8
	Type      ClipboardType
}

// ParseAgentClipboardRequest decodes the data of an AgentClipboardRequestType.
// The error is a *DecodeError.
func ParseAgentClipboardRequest(b []byte, l AgentLayout) (AgentClipboardRequest, error) {
	d := agentBody(ServerToClient, b)
	m := AgentClipboardRequest{
		AgentLayout: l, Selection: d.selection(l),
		Type: ClipboardType(d.u32("clipboard_request.type")),
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentClipboardRequest) Append(b []byte) []byte {
	b = appendAgent(b, AgentClipboardRequestType, m.size()+4)
	return le.AppendUint32(m.appendSelection(b, m.Selection), uint32(m.Type))
}

// AgentClipboardRelease takes back a grab (VDAgentClipboardRelease): selection.
type AgentClipboardRelease struct {
	AgentLayout
	// Selection is as in AgentClipboard.
	Selection uint8
}

// ParseAgentClipboardRelease decodes the data of an AgentClipboardReleaseType.
// The error is a *DecodeError.
func ParseAgentClipboardRelease(b []byte, l AgentLayout) (AgentClipboardRelease, error) {
	d := agentBody(ServerToClient, b)
	m := AgentClipboardRelease{AgentLayout: l, Selection: d.selection(l)}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentClipboardRelease) Append(b []byte) []byte {
	return m.appendSelection(appendAgent(b, AgentClipboardReleaseType, m.size()), m.Selection)
}

// AgentMaxClipboard bounds the contents the client takes and gives
// (VDAgentMaxClipboard): i32 max.
type AgentMaxClipboard struct {
	// Max is in bytes; -1 for no bound.
	Max int32
}

// ParseAgentMaxClipboard decodes the data of an AgentMaxClipboardType. The error
// is a *DecodeError.
func ParseAgentMaxClipboard(b []byte) (AgentMaxClipboard, error) {
	d := agentBody(ClientToServer, b)
	m := AgentMaxClipboard{Max: d.i32("max_clipboard.max")}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentMaxClipboard) Append(b []byte) []byte {
	return le.AppendUint32(appendAgent(b, AgentMaxClipboardType, 4), uint32(m.Max))
}
