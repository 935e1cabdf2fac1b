package spiceproto

import "errors"

// UnknownAgent is an agent message of a type that has no layout here.
type UnknownAgent struct {
	Type AgentType
	// Data aliases the message's data.
	Data []byte
}

// DecodeAgent decodes the data of an agent message that travels in the given
// direction, and returns one of the Agent… types by value. Where the
// reassembler's limit cut the data short, contents that end the message end
// early, and all else fails. The error is a *DecodeError with offsets into the
// data; with ErrOpcode the message is an UnknownAgent.
func DecodeAgent(dir Direction, m AgentMessage, l AgentLayout) (any, error) {
	v, err := decodeAgent(m, l)
	if err == nil {
		return v, nil
	}
	var e *DecodeError
	if errors.As(err, &e) {
		e.Direction, e.Opcode = dir, agentDataOpcode(dir)
	}
	if errors.Is(err, ErrOpcode) {
		return UnknownAgent{m.Type, m.Data}, err
	}
	return nil, err
}

func decodeAgent(m AgentMessage, l AgentLayout) (any, error) {
	switch b := m.Data; m.Type {
	case AgentMouseStateType:
		return ParseAgentMouseState(b)
	case AgentMonitorsConfigType:
		return ParseAgentMonitorsConfig(b)
	case AgentReplyType:
		return ParseAgentReply(b)
	case AgentClipboardType:
		return ParseAgentClipboard(b, l)
	case AgentDisplayConfigType:
		return ParseAgentDisplayConfig(b)
	case AgentAnnounceCapabilitiesType:
		return ParseAgentAnnounceCapabilities(b)
	case AgentClipboardGrabType:
		return ParseAgentClipboardGrab(b, l)
	case AgentClipboardRequestType:
		return ParseAgentClipboardRequest(b, l)
	case AgentClipboardReleaseType:
		return ParseAgentClipboardRelease(b, l)
	case AgentFileXferStartType:
		return ParseAgentFileXferStart(b)
	case AgentFileXferStatusType:
		return ParseAgentFileXferStatus(b)
	case AgentFileXferDataType:
		return ParseAgentFileXferData(b)
	case AgentClientDisconnectedType:
		return AgentClientDisconnected{}, nil
	case AgentMaxClipboardType:
		return ParseAgentMaxClipboard(b)
	case AgentAudioVolumeSyncType:
		return ParseAgentAudioVolumeSync(b)
	case AgentGraphicsDeviceInfoType:
		return ParseAgentGraphicsDeviceInfo(b)
	}
	d := agentBody(ServerToClient, nil)
	d.fail("type", 0, ErrOpcode)
	return nil, d.err
}
