package spiceproto

// DefaultAgentLimit is how many data bytes of an agent message an
// AgentReassembler keeps by default: enough for every message but clipboard
// contents and file data.
const DefaultAgentLimit = 64 << 10

// AgentMessage is a message of the guest agent protocol.
type AgentMessage struct {
	AgentHeader
	// Data is what follows the header: Size bytes, or fewer when the reassembler's
	// limit cut it short.
	Data []byte
}

// Complete reports whether Data is all of the message's data.
func (m AgentMessage) Complete() bool { return uint64(len(m.Data)) == uint64(m.Size) }

// AgentReassembler finds the agent messages of one direction in the data of its
// AGENT_DATA messages. spice-server begins a message only with an AGENT_DATA
// message and ends it with one, and takes a header cut in two for an error
// (agent-msg-filter.cpp); spice-gtk takes any cut, and so does the reassembler.
// It keeps Limit bytes and the header of one message at most, however large its
// size says it is. The zero value is ready, at the start of a message from the
// server.
type AgentReassembler struct {
	// Direction names the messages' AGENT_DATA in errors.
	Direction Direction
	// Limit is how many data bytes of a message are kept; 0 is DefaultAgentLimit.
	Limit int

	raw    [AgentHeaderSize]byte
	rawLen uint8
	header AgentHeader
	// seen counts the data bytes of the current message so far.
	seen uint32
	data []byte
	err  error
}

// Next takes bytes of p up to the end of a message, and tells how many; the
// caller goes on with the rest. done: Message is complete. A peer that uses
// another version of the protocol is not understood: the error, a *DecodeError,
// stays until Reset.
func (r *AgentReassembler) Next(p []byte) (n int, done bool, err error) {
	if r.err != nil || len(p) == 0 {
		return 0, false, r.err
	}
	if !r.InMessage() {
		r.start()
	}
	if r.rawLen < AgentHeaderSize {
		if n = r.takeHeader(p); r.err != nil || r.rawLen < AgentHeaderSize {
			return n, false, r.err
		}
	}
	n += r.takeData(p[n:])
	return n, r.seen == r.header.Size, nil
}

func (r *AgentReassembler) start() {
	r.rawLen, r.seen, r.header, r.data = 0, 0, AgentHeader{}, r.data[:0]
}

func (r *AgentReassembler) takeHeader(p []byte) int {
	n := copy(r.raw[r.rawLen:], p)
	r.rawLen += uint8(n)
	if r.rawLen == AgentHeaderSize {
		r.header, _ = ParseAgentHeader(r.raw[:])
		if r.header.Protocol != AgentProtocol {
			d := agentBody(r.Direction, nil)
			d.fail("protocol", 0, ErrValue)
			r.err = d.err
		}
	}
	return n
}

func (r *AgentReassembler) takeData(p []byte) int {
	if uint64(len(p)) > uint64(r.header.Size-r.seen) {
		p = p[:r.header.Size-r.seen]
	}
	keep := min(len(p), r.limit()-len(r.data))
	r.reserve(len(r.data) + keep)
	r.data = append(r.data, p[:keep]...)
	r.seen += uint32(len(p))
	return len(p)
}

// reserve grows the buffer by doubling, with what came and not with what was
// announced, so that a peer has to send what it makes the proxy allocate.
func (r *AgentReassembler) reserve(n int) {
	if n <= cap(r.data) {
		return
	}
	grown := make([]byte, len(r.data), min(max(n, 2*cap(r.data)), r.limit()))
	copy(grown, r.data)
	r.data = grown
}

func (r *AgentReassembler) limit() int {
	if r.Limit > 0 {
		return r.Limit
	}
	return DefaultAgentLimit
}

// Message returns the current message, as far as it has come. Its data is valid
// until the next call of Next.
func (r *AgentReassembler) Message() AgentMessage {
	return AgentMessage{AgentHeader: r.header, Data: r.data}
}

// InMessage reports whether a message has begun and not ended.
func (r *AgentReassembler) InMessage() bool {
	return r.rawLen > 0 && (r.rawLen < AgentHeaderSize || r.seen < r.header.Size)
}

// Reset forgets a message begun, and any error: the agent was connected anew.
func (r *AgentReassembler) Reset() {
	r.start()
	r.err = nil
}
