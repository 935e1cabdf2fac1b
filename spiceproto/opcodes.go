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
