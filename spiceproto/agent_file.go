package spiceproto

import "strconv"

// FileXferResult is the state of a file transfer
// (VD_AGENT_FILE_XFER_STATUS_* in spice/vd_agent.h).
type FileXferResult uint32

// The results.
const (
	FileXferCanSendData FileXferResult = iota
	FileXferCancelled
	FileXferError
	FileXferSuccess
	FileXferNotEnoughSpace
	FileXferSessionLocked
	FileXferAgentNotConnected
	FileXferDisabled
)

var fileXferResultNames = [...]string{
	"can-send-data", "cancelled", "error", "success", "not-enough-space", "session-locked",
	"agent-not-connected", "disabled",
}

// String returns the result's name, or "result-N" for a number that has none.
func (r FileXferResult) String() string {
	if int64(r) < int64(len(fileXferResultNames)) {
		return fileXferResultNames[r]
	}
	return "result-" + strconv.FormatUint(uint64(r), 10)
}

// AgentFileXferStart offers a file to the guest (VDAgentFileXferStartMessage):
// u32 id, the description.
type AgentFileXferStart struct {
	ID uint32
	// Data is a key file with name and size. It aliases the parsed data.
	Data []byte
}

// ParseAgentFileXferStart decodes the data of an AgentFileXferStartType. The
// error is a *DecodeError.
func ParseAgentFileXferStart(b []byte) (AgentFileXferStart, error) {
	d := agentBody(ClientToServer, b)
	m := AgentFileXferStart{ID: d.u32("file_xfer_start.id"), Data: d.rest("file_xfer_start.data")}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentFileXferStart) Append(b []byte) []byte {
	b = appendAgent(b, AgentFileXferStartType, 4+len(m.Data))
	return append(le.AppendUint32(b, m.ID), m.Data...)
}

// AgentFileXferStatus tells how a transfer goes (VDAgentFileXferStatusMessage):
// u32 id, u32 result, detail.
type AgentFileXferStatus struct {
	ID     uint32
	Result FileXferResult
	// Detail is for ends with CapAgentFileXferDetailedErrors: u64 free bytes with
	// FileXferNotEnoughSpace, u8 kind and u32 code with FileXferError. It aliases
	// the parsed data.
	Detail []byte
}

// ParseAgentFileXferStatus decodes the data of an AgentFileXferStatusType. The
// error is a *DecodeError.
func ParseAgentFileXferStatus(b []byte) (AgentFileXferStatus, error) {
	d := agentBody(ServerToClient, b)
	m := AgentFileXferStatus{
		ID: d.u32("file_xfer_status.id"), Result: FileXferResult(d.u32("file_xfer_status.result")),
		Detail: d.rest("file_xfer_status.data"),
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentFileXferStatus) Append(b []byte) []byte {
	b = appendAgent(b, AgentFileXferStatusType, 8+len(m.Detail))
	return append(appendU32s(b, m.ID, uint32(m.Result)), m.Detail...)
}

// AgentFileXferData is a piece of a file (VDAgentFileXferDataMessage): u32 id,
// u64 size, the data.
type AgentFileXferData struct {
	ID uint32
	// Size is the sender's count of the data bytes.
	Size uint64
	// Data aliases the parsed data.
	Data []byte
}

// ParseAgentFileXferData decodes the data of an AgentFileXferDataType. The error
// is a *DecodeError.
func ParseAgentFileXferData(b []byte) (AgentFileXferData, error) {
	d := agentBody(ClientToServer, b)
	m := AgentFileXferData{
		ID: d.u32("file_xfer_data.id"), Size: d.u64("file_xfer_data.size"),
		Data: d.rest("file_xfer_data.data"),
	}
	return m, d.err
}

// Append appends agent header and data to b.
func (m AgentFileXferData) Append(b []byte) []byte {
	b = appendAgent(b, AgentFileXferDataType, 12+len(m.Data))
	b = le.AppendUint64(le.AppendUint32(b, m.ID), m.Size)
	return append(b, m.Data...)
}
