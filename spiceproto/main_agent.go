package spiceproto

// AgentMaxData is the most that one AGENT_DATA message carries, in bytes
// (VD_AGENT_MAX_DATA_SIZE in spice/vd_agent.h). Each costs its sender a token.
const AgentMaxData = 2048

// AgentConnectedTokens tells that a guest agent runs, and how many messages the
// client may send it (MSG_MAIN_AGENT_CONNECTED_TOKENS): u32 num_tokens. Clients
// without CapMainAgentConnectedTokens get an empty MsgMainAgentConnected.
type AgentConnectedTokens struct{ Tokens uint32 }

// ParseAgentConnectedTokens decodes the body of MsgMainAgentConnectedTokens. The
// error is a *DecodeError.
func ParseAgentConnectedTokens(b []byte) (AgentConnectedTokens, error) {
	d := mainBody(ServerToClient, MsgMainAgentConnectedTokens, b)
	m := AgentConnectedTokens{Tokens: d.u32("num_tokens")}
	return m, d.err
}

// Append appends header and body to b.
func (m AgentConnectedTokens) Append(b []byte) []byte {
	return appendU32(b, MsgMainAgentConnectedTokens, m.Tokens)
}

// AgentDisconnected tells that the guest agent has gone
// (MSG_MAIN_AGENT_DISCONNECTED): u32 error_code.
type AgentDisconnected struct{ Reason LinkError }

// ParseAgentDisconnected decodes the body of MsgMainAgentDisconnected. The error
// is a *DecodeError.
func ParseAgentDisconnected(b []byte) (AgentDisconnected, error) {
	d := mainBody(ServerToClient, MsgMainAgentDisconnected, b)
	m := AgentDisconnected{Reason: LinkError(d.u32("error_code"))}
	return m, d.err
}

// Append appends header and body to b.
func (m AgentDisconnected) Append(b []byte) []byte {
	return appendU32(b, MsgMainAgentDisconnected, uint32(m.Reason))
}

// AgentData is a piece of the guest agent's messages (MSG_MAIN_AGENT_DATA), for
// an AgentReassembler.
type AgentData struct {
	// Data aliases the parsed body.
	Data []byte
}

// ParseAgentData takes the body of MsgMainAgentData, whatever it holds.
func ParseAgentData(b []byte) (AgentData, error) {
	d := mainBody(ServerToClient, MsgMainAgentData, b)
	return AgentData{Data: d.rest("data")}, d.err
}

// Append appends header and body to b.
func (m AgentData) Append(b []byte) []byte { return appendRest(b, MsgMainAgentData, m.Data) }

// ClientAgentData is a piece of the messages to the guest agent
// (MSGC_MAIN_AGENT_DATA), for an AgentReassembler.
type ClientAgentData struct {
	// Data aliases the parsed body.
	Data []byte
}

// ParseClientAgentData takes the body of MsgcMainAgentData, whatever it holds.
func ParseClientAgentData(b []byte) (ClientAgentData, error) {
	d := mainBody(ClientToServer, MsgcMainAgentData, b)
	return ClientAgentData{Data: d.rest("data")}, d.err
}

// Append appends header and body to b.
func (m ClientAgentData) Append(b []byte) []byte { return appendRest(b, MsgcMainAgentData, m.Data) }

// AgentToken lets the client send more agent messages (MSG_MAIN_AGENT_TOKEN):
// u32 num_tokens.
type AgentToken struct{ Tokens uint32 }

// ParseAgentToken decodes the body of MsgMainAgentToken. The error is a
// *DecodeError.
func ParseAgentToken(b []byte) (AgentToken, error) {
	d := mainBody(ServerToClient, MsgMainAgentToken, b)
	m := AgentToken{Tokens: d.u32("num_tokens")}
	return m, d.err
}

// Append appends header and body to b.
func (m AgentToken) Append(b []byte) []byte { return appendU32(b, MsgMainAgentToken, m.Tokens) }

// AgentStart lets the server send agent messages at all (MSGC_MAIN_AGENT_START):
// u32 num_tokens.
type AgentStart struct{ Tokens uint32 }

// ParseAgentStart decodes the body of MsgcMainAgentStart. The error is a
// *DecodeError.
func ParseAgentStart(b []byte) (AgentStart, error) {
	d := mainBody(ClientToServer, MsgcMainAgentStart, b)
	m := AgentStart{Tokens: d.u32("num_tokens")}
	return m, d.err
}

// Append appends header and body to b.
func (m AgentStart) Append(b []byte) []byte { return appendU32(b, MsgcMainAgentStart, m.Tokens) }

// ClientAgentToken lets the server send more agent messages
// (MSGC_MAIN_AGENT_TOKEN): u32 num_tokens.
type ClientAgentToken struct{ Tokens uint32 }

// ParseClientAgentToken decodes the body of MsgcMainAgentToken. The error is a
// *DecodeError.
func ParseClientAgentToken(b []byte) (ClientAgentToken, error) {
	d := mainBody(ClientToServer, MsgcMainAgentToken, b)
	m := ClientAgentToken{Tokens: d.u32("num_tokens")}
	return m, d.err
}

// Append appends header and body to b.
func (m ClientAgentToken) Append(b []byte) []byte {
	return appendU32(b, MsgcMainAgentToken, m.Tokens)
}
