package spiceproto

import "errors"

// Unknown is a message of a type that has no layout on its channel.
type Unknown struct {
	Opcode uint16
	// Body aliases the message's body.
	Body []byte
}

// Append appends header and body to b.
func (m Unknown) Append(b []byte) []byte { return appendRest(b, m.Opcode, m.Body) }

// Decode decodes the whole body of any message, and returns the type that its
// Parse function returns, by value: Empty where the message has no body, and
// PaddedPing only for a PING that has padding. Byte slices within alias body, and
// what is allocated is bounded by four times the body's length and a constant.
// The error is a *DecodeError. With ErrOpcode the message is an Unknown; with any
// other reason there is none.
func Decode(t ChannelType, dir Direction, opcode uint16, body []byte) (any, error) {
	m, err := decode(t, dir, opcode, body)
	if err == nil {
		return m, nil
	}
	var e *DecodeError
	if errors.As(err, &e) {
		e.Channel, e.Direction = t, dir
	}
	if errors.Is(err, ErrOpcode) {
		return Unknown{opcode, body}, err
	}
	return nil, err
}

func decode(t ChannelType, dir Direction, opcode uint16, b []byte) (any, error) {
	if dir > ClientToServer {
		return nil, unknownOpcode(t, dir, opcode)
	}
	if p := commonParsers[dir][opcode]; p != nil {
		return p(t, b)
	}
	if t == ChannelDisplay {
		return decodeDisplay(dir, opcode, b)
	}
	if t.Valid() {
		if p := channelParsers[t][dir][opcode]; p != nil {
			return p(t, b)
		}
	}
	return nil, unknownOpcode(t, dir, opcode)
}

// unknownOpcode is the error for a type without a layout.
func unknownOpcode(t ChannelType, dir Direction, opcode uint16) error {
	return &DecodeError{
		Channel: t, Direction: dir, Opcode: opcode, Field: "type", Offset: 0, Err: ErrOpcode,
	}
}

// anyParser is the Parse function of any message.
type anyParser func(t ChannelType, b []byte) (any, error)

// parsers are those of one channel and direction, by type.
type parsers map[uint16]anyParser

// parserOf makes an anyParser of a Parse function.
func parserOf[M any](parse func([]byte) (M, error)) anyParser {
	return func(_ ChannelType, b []byte) (any, error) { return parse(b) }
}

// noBody is the parser of a message without a body.
func noBody(op uint16) anyParser {
	return func(ChannelType, []byte) (any, error) { return Empty{op}, nil }
}

// commonParsers is indexed by Direction.
var commonParsers = [...]parsers{
	ServerToClient: {
		MsgMigrate:         parserOf(ParseMigrate),
		MsgMigrateData:     parserOf(ParseMigrateData),
		MsgSetAck:          parserOf(ParseSetAck),
		MsgPing:            parseAnyPing,
		MsgWaitForChannels: parserOf(ParseWaitForChannels),
		MsgDisconnecting:   parserOf(ParseDisconnecting),
		MsgNotify:          parserOf(ParseNotify),
		MsgList:            func(t ChannelType, b []byte) (any, error) { return ParseList(t, b) },
	},
	ClientToServer: {
		MsgcAckSync:          parserOf(ParseAckSync),
		MsgcAck:              noBody(MsgcAck),
		MsgcPong:             parserOf(ParsePong),
		MsgcMigrateFlushMark: noBody(MsgcMigrateFlushMark),
		MsgcMigrateData:      parserOf(ParseClientMigrateData),
		MsgcDisconnecting:    parserOf(ParseClientDisconnecting),
	},
}

func parseAnyPing(_ ChannelType, b []byte) (any, error) {
	if len(b) > pingSize {
		return ParsePaddedPing(b)
	}
	return ParsePing(b)
}

// channelParsers is indexed by ChannelType and Direction. Display has
// decodeDisplay.
var channelParsers = [...][2]parsers{
	ChannelMain: {mainServerParsers, mainClientParsers},
	ChannelInputs: {
		ServerToClient: {
			MsgInputsInit:           parserOf(ParseInputsInit),
			MsgInputsKeyModifiers:   parserOf(ParseKeyModifiers),
			MsgInputsMouseMotionAck: noBody(MsgInputsMouseMotionAck),
		},
		ClientToServer: {
			MsgcInputsKeyDown:       parserOf(ParseKeyDown),
			MsgcInputsKeyUp:         parserOf(ParseKeyUp),
			MsgcInputsKeyModifiers:  parserOf(ParseClientKeyModifiers),
			MsgcInputsKeyScancode:   parserOf(ParseKeyScancode),
			MsgcInputsMouseMotion:   parserOf(ParseMouseMotion),
			MsgcInputsMousePosition: parserOf(ParseMousePosition),
			MsgcInputsMousePress:    parserOf(ParseMousePress),
			MsgcInputsMouseRelease:  parserOf(ParseMouseRelease),
		},
	},
	ChannelCursor: {ServerToClient: {
		MsgCursorInit:     parserOf(ParseCursorInit),
		MsgCursorReset:    noBody(MsgCursorReset),
		MsgCursorSet:      parserOf(ParseCursorSet),
		MsgCursorMove:     parserOf(ParseCursorMove),
		MsgCursorHide:     noBody(MsgCursorHide),
		MsgCursorTrail:    parserOf(ParseCursorTrail),
		MsgCursorInvalOne: parserOf(ParseCursorInvalOne),
		MsgCursorInvalAll: noBody(MsgCursorInvalAll),
	}},
	ChannelPlayback: {ServerToClient: {
		MsgPlaybackData:    parserOf(ParsePlaybackData),
		MsgPlaybackMode:    parserOf(ParsePlaybackMode),
		MsgPlaybackStart:   parserOf(ParsePlaybackStart),
		MsgPlaybackStop:    noBody(MsgPlaybackStop),
		MsgPlaybackVolume:  parserOf(ParsePlaybackVolume),
		MsgPlaybackMute:    parserOf(ParsePlaybackMute),
		MsgPlaybackLatency: parserOf(ParsePlaybackLatency),
	}},
	ChannelRecord: {
		ServerToClient: {
			MsgRecordStart:  parserOf(ParseRecordStart),
			MsgRecordStop:   noBody(MsgRecordStop),
			MsgRecordVolume: parserOf(ParseRecordVolume),
			MsgRecordMute:   parserOf(ParseRecordMute),
		},
		ClientToServer: {
			MsgcRecordData:      parserOf(ParseRecordData),
			MsgcRecordMode:      parserOf(ParseRecordMode),
			MsgcRecordStartMark: parserOf(ParseRecordStartMark),
		},
	},
	ChannelSmartcard: {
		ServerToClient: {MsgSmartcardData: parserOf(ParseSmartcardData)},
		ClientToServer: {MsgcSmartcardData: parserOf(ParseSmartcardData)},
	},
	ChannelUSBRedir: {vmcParsers, vmcParsers},
	ChannelPort:     {portServerParsers, portClientParsers},
	ChannelWebDAV:   {portServerParsers, portClientParsers},
}

var mainServerParsers = parsers{
	MsgMainMigrateBegin:           parserOf(ParseMigrateBegin),
	MsgMainMigrateCancel:          noBody(MsgMainMigrateCancel),
	MsgMainInit:                   parserOf(ParseMainInit),
	MsgMainChannelsList:           parserOf(ParseChannelsList),
	MsgMainMouseMode:              parserOf(ParseMouseMode),
	MsgMainMultiMediaTime:         parserOf(ParseMultiMediaTime),
	MsgMainAgentConnected:         noBody(MsgMainAgentConnected),
	MsgMainAgentDisconnected:      parserOf(ParseAgentDisconnected),
	MsgMainAgentData:              parserOf(ParseAgentData),
	MsgMainAgentToken:             parserOf(ParseAgentToken),
	MsgMainMigrateSwitchHost:      parserOf(ParseMigrateSwitchHost),
	MsgMainMigrateEnd:             noBody(MsgMainMigrateEnd),
	MsgMainName:                   parserOf(ParseMainName),
	MsgMainUUID:                   parserOf(ParseMainUUID),
	MsgMainAgentConnectedTokens:   parserOf(ParseAgentConnectedTokens),
	MsgMainMigrateBeginSeamless:   parserOf(ParseMigrateBeginSeamless),
	MsgMainMigrateDstSeamlessAck:  noBody(MsgMainMigrateDstSeamlessAck),
	MsgMainMigrateDstSeamlessNack: noBody(MsgMainMigrateDstSeamlessNack),
}

var mainClientParsers = parsers{
	MsgcMainClientInfo:               parserOf(ParseClientInfo),
	MsgcMainMigrateConnected:         noBody(MsgcMainMigrateConnected),
	MsgcMainMigrateConnectError:      noBody(MsgcMainMigrateConnectError),
	MsgcMainAttachChannels:           noBody(MsgcMainAttachChannels),
	MsgcMainMouseModeRequest:         parserOf(ParseMouseModeRequest),
	MsgcMainAgentStart:               parserOf(ParseAgentStart),
	MsgcMainAgentData:                parserOf(ParseClientAgentData),
	MsgcMainAgentToken:               parserOf(ParseClientAgentToken),
	MsgcMainMigrateEnd:               noBody(MsgcMainMigrateEnd),
	MsgcMainMigrateDstDoSeamless:     parserOf(ParseMigrateDstDoSeamless),
	MsgcMainMigrateConnectedSeamless: noBody(MsgcMainMigrateConnectedSeamless),
	MsgcMainQualityIndicator:         parserOf(ParseMainQualityIndicator),
}

var vmcParsers = parsers{
	MsgVMCData:           parserOf(ParseVMCData),
	MsgVMCCompressedData: parserOf(ParseVMCCompressedData),
}

var portServerParsers = parsers{
	MsgVMCData:           parserOf(ParseVMCData),
	MsgVMCCompressedData: parserOf(ParseVMCCompressedData),
	MsgPortInit:          parserOf(ParsePortInit),
	MsgPortEvent:         parserOf(ParsePortEvent),
}

var portClientParsers = parsers{
	MsgcVMCData:           parserOf(ParseVMCData),
	MsgcVMCCompressedData: parserOf(ParseVMCCompressedData),
	MsgcPortEvent:         parserOf(ParseClientPortEvent),
}
