package spiceproto

// Message types (spice.proto). Msg… travel from server to client, Msgc… from
// client to server. Types below 100 mean the same on every channel.
const (
	MsgMigrate         uint16 = 1
	MsgMigrateData     uint16 = 2
	MsgSetAck          uint16 = 3
	MsgPing            uint16 = 4
	MsgWaitForChannels uint16 = 5
	MsgDisconnecting   uint16 = 6
	MsgNotify          uint16 = 7
	MsgList            uint16 = 8

	MsgcAckSync          uint16 = 1
	MsgcAck              uint16 = 2
	MsgcPong             uint16 = 3
	MsgcMigrateFlushMark uint16 = 4
	MsgcMigrateData      uint16 = 5
	MsgcDisconnecting    uint16 = 6
)

// Main channel.
const (
	MsgMainMigrateBegin           uint16 = 101
	MsgMainMigrateCancel          uint16 = 102
	MsgMainInit                   uint16 = 103
	MsgMainChannelsList           uint16 = 104
	MsgMainMouseMode              uint16 = 105
	MsgMainMultiMediaTime         uint16 = 106
	MsgMainAgentConnected         uint16 = 107
	MsgMainAgentDisconnected      uint16 = 108
	MsgMainAgentData              uint16 = 109
	MsgMainAgentToken             uint16 = 110
	MsgMainMigrateSwitchHost      uint16 = 111
	MsgMainMigrateEnd             uint16 = 112
	MsgMainName                   uint16 = 113
	MsgMainUUID                   uint16 = 114
	MsgMainAgentConnectedTokens   uint16 = 115
	MsgMainMigrateBeginSeamless   uint16 = 116
	MsgMainMigrateDstSeamlessAck  uint16 = 117
	MsgMainMigrateDstSeamlessNack uint16 = 118

	MsgcMainClientInfo               uint16 = 101
	MsgcMainMigrateConnected         uint16 = 102
	MsgcMainMigrateConnectError      uint16 = 103
	MsgcMainAttachChannels           uint16 = 104
	MsgcMainMouseModeRequest         uint16 = 105
	MsgcMainAgentStart               uint16 = 106
	MsgcMainAgentData                uint16 = 107
	MsgcMainAgentToken               uint16 = 108
	MsgcMainMigrateEnd               uint16 = 109
	MsgcMainMigrateDstDoSeamless     uint16 = 110
	MsgcMainMigrateConnectedSeamless uint16 = 111
	MsgcMainQualityIndicator         uint16 = 112
)

// Display channel.
const (
	MsgDisplayMode                 uint16 = 101
	MsgDisplayMark                 uint16 = 102
	MsgDisplayReset                uint16 = 103
	MsgDisplayCopyBits             uint16 = 104
	MsgDisplayInvalList            uint16 = 105
	MsgDisplayInvalAllPixmaps      uint16 = 106
	MsgDisplayInvalPalette         uint16 = 107
	MsgDisplayInvalAllPalettes     uint16 = 108
	MsgDisplayStreamCreate         uint16 = 122
	MsgDisplayStreamData           uint16 = 123
	MsgDisplayStreamClip           uint16 = 124
	MsgDisplayStreamDestroy        uint16 = 125
	MsgDisplayStreamDestroyAll     uint16 = 126
	MsgDisplayDrawFill             uint16 = 302
	MsgDisplayDrawOpaque           uint16 = 303
	MsgDisplayDrawCopy             uint16 = 304
	MsgDisplayDrawBlend            uint16 = 305
	MsgDisplayDrawBlackness        uint16 = 306
	MsgDisplayDrawWhiteness        uint16 = 307
	MsgDisplayDrawInvers           uint16 = 308
	MsgDisplayDrawROP3             uint16 = 309
	MsgDisplayDrawStroke           uint16 = 310
	MsgDisplayDrawText             uint16 = 311
	MsgDisplayDrawTransparent      uint16 = 312
	MsgDisplayDrawAlphaBlend       uint16 = 313
	MsgDisplaySurfaceCreate        uint16 = 314
	MsgDisplaySurfaceDestroy       uint16 = 315
	MsgDisplayStreamDataSized      uint16 = 316
	MsgDisplayMonitorsConfig       uint16 = 317
	MsgDisplayDrawComposite        uint16 = 318
	MsgDisplayStreamActivateReport uint16 = 319
	MsgDisplayGLScanoutUnix        uint16 = 320
	MsgDisplayGLDraw               uint16 = 321
	MsgDisplayQualityIndicator     uint16 = 322
	MsgDisplayGLScanout2Unix       uint16 = 323

	MsgcDisplayInit                    uint16 = 101
	MsgcDisplayStreamReport            uint16 = 102
	MsgcDisplayPreferredCompression    uint16 = 103
	MsgcDisplayGLDrawDone              uint16 = 104
	MsgcDisplayPreferredVideoCodecType uint16 = 105
)

// Inputs channel.
const (
	MsgInputsInit           uint16 = 101
	MsgInputsKeyModifiers   uint16 = 102
	MsgInputsMouseMotionAck uint16 = 111

	MsgcInputsKeyDown       uint16 = 101
	MsgcInputsKeyUp         uint16 = 102
	MsgcInputsKeyModifiers  uint16 = 103
	MsgcInputsKeyScancode   uint16 = 104
	MsgcInputsMouseMotion   uint16 = 111
	MsgcInputsMousePosition uint16 = 112
	MsgcInputsMousePress    uint16 = 113
	MsgcInputsMouseRelease  uint16 = 114
)

// Cursor channel.
const (
	MsgCursorInit     uint16 = 101
	MsgCursorReset    uint16 = 102
	MsgCursorSet      uint16 = 103
	MsgCursorMove     uint16 = 104
	MsgCursorHide     uint16 = 105
	MsgCursorTrail    uint16 = 106
	MsgCursorInvalOne uint16 = 107
	MsgCursorInvalAll uint16 = 108
)

// Sound channels.
const (
	MsgPlaybackData    uint16 = 101
	MsgPlaybackMode    uint16 = 102
	MsgPlaybackStart   uint16 = 103
	MsgPlaybackStop    uint16 = 104
	MsgPlaybackVolume  uint16 = 105
	MsgPlaybackMute    uint16 = 106
	MsgPlaybackLatency uint16 = 107

	MsgRecordStart  uint16 = 101
	MsgRecordStop   uint16 = 102
	MsgRecordVolume uint16 = 103
	MsgRecordMute   uint16 = 104

	MsgcRecordData      uint16 = 101
	MsgcRecordMode      uint16 = 102
	MsgcRecordStartMark uint16 = 103
)

// Smartcard, usbredir, port and webdav. The VMC messages belong to the last
// three, the Port ones to the last two.
const (
	MsgSmartcardData  uint16 = 101
	MsgcSmartcardData uint16 = 101

	MsgVMCData            uint16 = 101
	MsgVMCCompressedData  uint16 = 102
	MsgcVMCData           uint16 = 101
	MsgcVMCCompressedData uint16 = 102

	MsgPortInit   uint16 = 201
	MsgPortEvent  uint16 = 202
	MsgcPortEvent uint16 = 201
)

// opcodeNames maps the message types of one channel and direction to the names
// of spice.proto.
type opcodeNames map[uint16]string

// commonNames is indexed by Direction.
var commonNames = [...]opcodeNames{
	ServerToClient: {
		MsgMigrate: "MIGRATE", MsgMigrateData: "MIGRATE_DATA", MsgSetAck: "SET_ACK",
		MsgPing: "PING", MsgWaitForChannels: "WAIT_FOR_CHANNELS",
		MsgDisconnecting: "DISCONNECTING", MsgNotify: "NOTIFY", MsgList: "LIST",
	},
	ClientToServer: {
		MsgcAckSync: "ACK_SYNC", MsgcAck: "ACK", MsgcPong: "PONG",
		MsgcMigrateFlushMark: "MIGRATE_FLUSH_MARK", MsgcMigrateData: "MIGRATE_DATA",
		MsgcDisconnecting: "DISCONNECTING",
	},
}

var vmcNames = opcodeNames{
	MsgVMCData: "DATA", MsgVMCCompressedData: "COMPRESSED_DATA",
}

var portServerNames = opcodeNames{
	MsgVMCData: "DATA", MsgVMCCompressedData: "COMPRESSED_DATA",
	MsgPortInit: "INIT", MsgPortEvent: "EVENT",
}

var portClientNames = opcodeNames{
	MsgcVMCData: "DATA", MsgcVMCCompressedData: "COMPRESSED_DATA", MsgcPortEvent: "EVENT",
}

// channelMessageNames is indexed by ChannelType and Direction. Tunnel has no
// messages.
var channelMessageNames = [...][2]opcodeNames{
	ChannelMain:    {mainServerNames, mainClientNames},
	ChannelDisplay: {displayServerNames, displayClientNames},
	ChannelInputs: {
		ServerToClient: {
			MsgInputsInit: "INIT", MsgInputsKeyModifiers: "KEY_MODIFIERS",
			MsgInputsMouseMotionAck: "MOUSE_MOTION_ACK",
		},
		ClientToServer: {
			MsgcInputsKeyDown: "KEY_DOWN", MsgcInputsKeyUp: "KEY_UP",
			MsgcInputsKeyModifiers: "KEY_MODIFIERS", MsgcInputsKeyScancode: "KEY_SCANCODE",
			MsgcInputsMouseMotion: "MOUSE_MOTION", MsgcInputsMousePosition: "MOUSE_POSITION",
			MsgcInputsMousePress: "MOUSE_PRESS", MsgcInputsMouseRelease: "MOUSE_RELEASE",
		},
	},
	ChannelCursor: {ServerToClient: {
		MsgCursorInit: "INIT", MsgCursorReset: "RESET", MsgCursorSet: "SET",
		MsgCursorMove: "MOVE", MsgCursorHide: "HIDE", MsgCursorTrail: "TRAIL",
		MsgCursorInvalOne: "INVAL_ONE", MsgCursorInvalAll: "INVAL_ALL",
	}},
	ChannelPlayback: {ServerToClient: {
		MsgPlaybackData: "DATA", MsgPlaybackMode: "MODE", MsgPlaybackStart: "START",
		MsgPlaybackStop: "STOP", MsgPlaybackVolume: "VOLUME", MsgPlaybackMute: "MUTE",
		MsgPlaybackLatency: "LATENCY",
	}},
	ChannelRecord: {
		ServerToClient: {
			MsgRecordStart: "START", MsgRecordStop: "STOP", MsgRecordVolume: "VOLUME",
			MsgRecordMute: "MUTE",
		},
		ClientToServer: {
			MsgcRecordData: "DATA", MsgcRecordMode: "MODE", MsgcRecordStartMark: "START_MARK",
		},
	},
	ChannelSmartcard: {
		ServerToClient: {MsgSmartcardData: "DATA"},
		ClientToServer: {MsgcSmartcardData: "DATA"},
	},
	ChannelUSBRedir: {vmcNames, vmcNames},
	ChannelPort:     {portServerNames, portClientNames},
	ChannelWebDAV:   {portServerNames, portClientNames},
}

var mainServerNames = opcodeNames{
	MsgMainMigrateBegin: "MIGRATE_BEGIN", MsgMainMigrateCancel: "MIGRATE_CANCEL",
	MsgMainInit: "INIT", MsgMainChannelsList: "CHANNELS_LIST",
	MsgMainMouseMode: "MOUSE_MODE", MsgMainMultiMediaTime: "MULTI_MEDIA_TIME",
	MsgMainAgentConnected: "AGENT_CONNECTED", MsgMainAgentDisconnected: "AGENT_DISCONNECTED",
	MsgMainAgentData: "AGENT_DATA", MsgMainAgentToken: "AGENT_TOKEN",
	MsgMainMigrateSwitchHost: "MIGRATE_SWITCH_HOST", MsgMainMigrateEnd: "MIGRATE_END",
	MsgMainName: "NAME", MsgMainUUID: "UUID",
	MsgMainAgentConnectedTokens:   "AGENT_CONNECTED_TOKENS",
	MsgMainMigrateBeginSeamless:   "MIGRATE_BEGIN_SEAMLESS",
	MsgMainMigrateDstSeamlessAck:  "MIGRATE_DST_SEAMLESS_ACK",
	MsgMainMigrateDstSeamlessNack: "MIGRATE_DST_SEAMLESS_NACK",
}

var mainClientNames = opcodeNames{
	MsgcMainClientInfo: "CLIENT_INFO", MsgcMainMigrateConnected: "MIGRATE_CONNECTED",
	MsgcMainMigrateConnectError: "MIGRATE_CONNECT_ERROR",
	MsgcMainAttachChannels:      "ATTACH_CHANNELS",
	MsgcMainMouseModeRequest:    "MOUSE_MODE_REQUEST",
	MsgcMainAgentStart:          "AGENT_START", MsgcMainAgentData: "AGENT_DATA",
	MsgcMainAgentToken: "AGENT_TOKEN", MsgcMainMigrateEnd: "MIGRATE_END",
	MsgcMainMigrateDstDoSeamless:     "MIGRATE_DST_DO_SEAMLESS",
	MsgcMainMigrateConnectedSeamless: "MIGRATE_CONNECTED_SEAMLESS",
	MsgcMainQualityIndicator:         "QUALITY_INDICATOR",
}

var displayServerNames = opcodeNames{
	MsgDisplayMode: "MODE", MsgDisplayMark: "MARK", MsgDisplayReset: "RESET",
	MsgDisplayCopyBits: "COPY_BITS", MsgDisplayInvalList: "INVAL_LIST",
	MsgDisplayInvalAllPixmaps: "INVAL_ALL_PIXMAPS", MsgDisplayInvalPalette: "INVAL_PALETTE",
	MsgDisplayInvalAllPalettes: "INVAL_ALL_PALETTES",
	MsgDisplayStreamCreate:     "STREAM_CREATE", MsgDisplayStreamData: "STREAM_DATA",
	MsgDisplayStreamClip: "STREAM_CLIP", MsgDisplayStreamDestroy: "STREAM_DESTROY",
	MsgDisplayStreamDestroyAll: "STREAM_DESTROY_ALL",
	MsgDisplayDrawFill:         "DRAW_FILL", MsgDisplayDrawOpaque: "DRAW_OPAQUE",
	MsgDisplayDrawCopy: "DRAW_COPY", MsgDisplayDrawBlend: "DRAW_BLEND",
	MsgDisplayDrawBlackness: "DRAW_BLACKNESS", MsgDisplayDrawWhiteness: "DRAW_WHITENESS",
	MsgDisplayDrawInvers: "DRAW_INVERS", MsgDisplayDrawROP3: "DRAW_ROP3",
	MsgDisplayDrawStroke: "DRAW_STROKE", MsgDisplayDrawText: "DRAW_TEXT",
	MsgDisplayDrawTransparent: "DRAW_TRANSPARENT",
	MsgDisplayDrawAlphaBlend:  "DRAW_ALPHA_BLEND",
	MsgDisplaySurfaceCreate:   "SURFACE_CREATE", MsgDisplaySurfaceDestroy: "SURFACE_DESTROY",
	MsgDisplayStreamDataSized: "STREAM_DATA_SIZED",
	MsgDisplayMonitorsConfig:  "MONITORS_CONFIG", MsgDisplayDrawComposite: "DRAW_COMPOSITE",
	MsgDisplayStreamActivateReport: "STREAM_ACTIVATE_REPORT",
	MsgDisplayGLScanoutUnix:        "GL_SCANOUT_UNIX", MsgDisplayGLDraw: "GL_DRAW",
	MsgDisplayQualityIndicator: "QUALITY_INDICATOR",
	MsgDisplayGLScanout2Unix:   "GL_SCANOUT2_UNIX",
}

var displayClientNames = opcodeNames{
	MsgcDisplayInit: "INIT", MsgcDisplayStreamReport: "STREAM_REPORT",
	MsgcDisplayPreferredCompression:    "PREFERRED_COMPRESSION",
	MsgcDisplayGLDrawDone:              "GL_DRAW_DONE",
	MsgcDisplayPreferredVideoCodecType: "PREFERRED_VIDEO_CODEC_TYPE",
}

// UnknownMessage is what MessageName returns for a type that has no name.
const UnknownMessage = "unknown"

// MessageName returns the name of message type op as spice.proto spells it,
// without its prefix ("SET_ACK", "DRAW_COPY"), or UnknownMessage. The set of
// names is bounded whatever a peer sends, so a name is fit for a metric label.
// Channel 0 knows the common messages only.
func MessageName(t ChannelType, d Direction, op uint16) string {
	if d > ClientToServer {
		return UnknownMessage
	}
	if name, ok := commonNames[d][op]; ok {
		return name
	}
	if int(t) < len(channelMessageNames) {
		if name, ok := channelMessageNames[t][d][op]; ok {
			return name
		}
	}
	return UnknownMessage
}
