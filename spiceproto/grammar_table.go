package spiceproto

// What spice-server accepts from a client at most, header not included
// (inputs-channel-client.cpp, main-channel-client.cpp); it disconnects beyond.
// MIGRATE_DATA is exempt. Agent messages are cut the same in both directions
// (SPICE_AGENT_MAX_DATA_SIZE in spice/protocol.h).
const (
	specMaxInput       = 2048
	specMaxMainRequest = 4096 + 11*specMaxAgentData
	specMaxAgentData   = 2048
)

const (
	// specMaxPing: the net test's padding, the largest spice-server sends.
	specMaxPing = 12 + 256000
	// specMaxWaits: a u8 count of {u8 type, u8 id, u64 serial}.
	specMaxWaits = 1 + 255*specWaitSize
	// specMaxVolume: a u8 count of u16.
	specMaxVolume = 1 + 255*2

	specWaitSize      = 10
	specResourceSize  = 9
	specChannelIDSize = 2
	// specSmartcardSize: u32 type, u32 reader_id, u32 length.
	specSmartcardSize = 12
)

// The gates, by the peer that advertises the capability.
var (
	byClientSemiSeamless = Gate{ByClient, 1 << CapMainSemiSeamlessMigrate}
	byClientNameAndUUID  = Gate{ByClient, 1 << CapMainNameAndUUID}
	byClientTokens       = Gate{ByClient, 1 << CapMainAgentConnectedTokens}
	byClientSeamless     = Gate{ByClient, 1 << CapMainSeamlessMigrate}
	byServerSeamless     = Gate{ByServer, 1 << CapMainSeamlessMigrate}

	byClientSizedStream = Gate{ByClient, 1 << CapDisplaySizedStream}
	byClientMonitors    = Gate{ByClient, 1 << CapDisplayMonitorsConfig}
	byClientComposite   = Gate{ByClient, 1 << CapDisplayComposite}
	byClientReport      = Gate{ByClient, 1 << CapDisplayStreamReport}
	byClientScanout     = Gate{ByClient, 1 << CapDisplayGLScanout}
	byClientScanout2    = Gate{ByClient, 1 << CapDisplayGLScanout2}
	byClientGL          = Gate{ByClient, 1<<CapDisplayGLScanout | 1<<CapDisplayGLScanout2}
	byServerCompression = Gate{ByServer, 1 << CapDisplayPrefCompression}
	byServerVideoCodec  = Gate{ByServer, 1 << CapDisplayPrefVideoCodec}

	byServerScancode   = Gate{ByServer, 1 << CapInputsKeyScancode}
	byClientPlayVolume = Gate{ByClient, 1 << CapPlaybackVolume}
	byClientLatency    = Gate{ByClient, 1 << CapPlaybackLatency}
	byClientRecVolume  = Gate{ByClient, 1 << CapRecordVolume}
	byClientVMCLZ4     = Gate{ByClient, 1 << CapVMCCompressLZ4}
	byServerVMCLZ4     = Gate{ByServer, 1 << CapVMCCompressLZ4}
)

// s2c and c2s keep the table's lines short.
const (
	s2c = ServerToClient
	c2s = ClientToServer
)

// grammar is the protocol: layouts and sizes from spice.proto, releases from
// spice-server's change log. 0.6.0 is the first release with protocol 2.
var grammar = [...]MessageSpec{
	// Every channel.
	{0, s2c, MsgMigrate, "MIGRATE", "0.6.0", Gate{}, 4, 4},
	{0, s2c, MsgMigrateData, "MIGRATE_DATA", "0.6.0", Gate{}, 0, Unlimited},
	{0, s2c, MsgSetAck, "SET_ACK", "0.6.0", Gate{}, 8, 8},
	{0, s2c, MsgPing, "PING", "0.6.0", Gate{}, 12, specMaxPing},
	{0, s2c, MsgWaitForChannels, "WAIT_FOR_CHANNELS", "0.6.0", Gate{}, 1, specMaxWaits},
	{0, s2c, MsgDisconnecting, "DISCONNECTING", "0.6.0", Gate{}, 12, 12},
	{0, s2c, MsgNotify, "NOTIFY", "0.6.0", Gate{}, 24, Unlimited},
	{0, s2c, MsgList, "LIST", "0.10.1", Gate{}, 2, Unlimited},
	{0, c2s, MsgcAckSync, "ACK_SYNC", "0.6.0", Gate{}, 4, 4},
	{0, c2s, MsgcAck, "ACK", "0.6.0", Gate{}, 0, 0},
	{0, c2s, MsgcPong, "PONG", "0.6.0", Gate{}, 12, 12},
	{0, c2s, MsgcMigrateFlushMark, "MIGRATE_FLUSH_MARK", "0.6.0", Gate{}, 0, 0},
	{0, c2s, MsgcMigrateData, "MIGRATE_DATA", "0.6.0", Gate{}, 0, Unlimited},
	{0, c2s, MsgcDisconnecting, "DISCONNECTING", "0.6.0", Gate{}, 12, 12},

	{ChannelMain, s2c, MsgMainMigrateBegin, "MIGRATE_BEGIN", "0.6.0", Gate{}, 20, Unlimited},
	{ChannelMain, s2c, MsgMainMigrateCancel, "MIGRATE_CANCEL", "0.6.0", Gate{}, 0, 0},
	{ChannelMain, s2c, MsgMainInit, "INIT", "0.6.0", Gate{}, mainInitSize, mainInitSize},
	{ChannelMain, s2c, MsgMainChannelsList, "CHANNELS_LIST", "0.6.0", Gate{}, 4, 4 + 1<<16*specChannelIDSize},
	{ChannelMain, s2c, MsgMainMouseMode, "MOUSE_MODE", "0.6.0", Gate{}, 4, 4},
	{ChannelMain, s2c, MsgMainMultiMediaTime, "MULTI_MEDIA_TIME", "0.6.0", Gate{}, 4, 4},
	{ChannelMain, s2c, MsgMainAgentConnected, "AGENT_CONNECTED", "0.6.0", Gate{}, 0, 0},
	{ChannelMain, s2c, MsgMainAgentDisconnected, "AGENT_DISCONNECTED", "0.6.0", Gate{}, 4, 4},
	{ChannelMain, s2c, MsgMainAgentData, "AGENT_DATA", "0.6.0", Gate{}, 0, specMaxAgentData},
	{ChannelMain, s2c, MsgMainAgentToken, "AGENT_TOKEN", "0.6.0", Gate{}, 4, 4},
	{ChannelMain, s2c, MsgMainMigrateSwitchHost, "MIGRATE_SWITCH_HOST", "0.6.0", Gate{}, 20, Unlimited},
	{ChannelMain, s2c, MsgMainMigrateEnd, "MIGRATE_END", "0.9.2", byClientSemiSeamless, 0, 0},
	{ChannelMain, s2c, MsgMainName, "NAME", "0.11.0", byClientNameAndUUID, 4, Unlimited},
	{ChannelMain, s2c, MsgMainUUID, "UUID", "0.11.0", byClientNameAndUUID, 16, 16},
	{ChannelMain, s2c, MsgMainAgentConnectedTokens, "AGENT_CONNECTED_TOKENS", "0.11.3", byClientTokens, 4, 4},
	{ChannelMain, s2c, MsgMainMigrateBeginSeamless, "MIGRATE_BEGIN_SEAMLESS", "0.11.3", byClientSeamless, 24, Unlimited},
	{ChannelMain, s2c, MsgMainMigrateDstSeamlessAck, "MIGRATE_DST_SEAMLESS_ACK", "0.11.3", byClientSeamless, 0, 0},
	{ChannelMain, s2c, MsgMainMigrateDstSeamlessNack, "MIGRATE_DST_SEAMLESS_NACK", "0.11.3", byClientSeamless, 0, 0},
	{ChannelMain, c2s, MsgcMainClientInfo, "CLIENT_INFO", "0.6.0", Gate{}, 8, 8},
	{ChannelMain, c2s, MsgcMainMigrateConnected, "MIGRATE_CONNECTED", "0.6.0", Gate{}, 0, 0},
	{ChannelMain, c2s, MsgcMainMigrateConnectError, "MIGRATE_CONNECT_ERROR", "0.6.0", Gate{}, 0, 0},
	{ChannelMain, c2s, MsgcMainAttachChannels, "ATTACH_CHANNELS", "0.6.0", Gate{}, 0, 0},
	{ChannelMain, c2s, MsgcMainMouseModeRequest, "MOUSE_MODE_REQUEST", "0.6.0", Gate{}, 2, 2},
	{ChannelMain, c2s, MsgcMainAgentStart, "AGENT_START", "0.6.0", Gate{}, 4, 4},
	{ChannelMain, c2s, MsgcMainAgentData, "AGENT_DATA", "0.6.0", Gate{}, 0, specMaxAgentData},
	{ChannelMain, c2s, MsgcMainAgentToken, "AGENT_TOKEN", "0.6.0", Gate{}, 4, 4},
	{ChannelMain, c2s, MsgcMainMigrateEnd, "MIGRATE_END", "0.9.2", Gate{}, 0, 0},
	{ChannelMain, c2s, MsgcMainMigrateDstDoSeamless, "MIGRATE_DST_DO_SEAMLESS", "0.11.3", byServerSeamless, 4, 4},
	{ChannelMain, c2s, MsgcMainMigrateConnectedSeamless, "MIGRATE_CONNECTED_SEAMLESS", "0.11.3", byClientSeamless, 0, 0},
	{ChannelMain, c2s, MsgcMainQualityIndicator, "QUALITY_INDICATOR", "0.14.3", Gate{}, 0, specMaxMainRequest},

	{ChannelDisplay, s2c, MsgDisplayMode, "MODE", "0.6.0", Gate{}, 12, 12},
	{ChannelDisplay, s2c, MsgDisplayMark, "MARK", "0.6.0", Gate{}, 0, 0},
	{ChannelDisplay, s2c, MsgDisplayReset, "RESET", "0.6.0", Gate{}, 0, 0},
	{ChannelDisplay, s2c, MsgDisplayCopyBits, "COPY_BITS", "0.6.0", Gate{}, 29, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayInvalList, "INVAL_LIST", "0.6.0", Gate{}, 2, 2 + 65535*specResourceSize},
	{ChannelDisplay, s2c, MsgDisplayInvalAllPixmaps, "INVAL_ALL_PIXMAPS", "0.6.0", Gate{}, 1, specMaxWaits},
	{ChannelDisplay, s2c, MsgDisplayInvalPalette, "INVAL_PALETTE", "0.6.0", Gate{}, 8, 8},
	{ChannelDisplay, s2c, MsgDisplayInvalAllPalettes, "INVAL_ALL_PALETTES", "0.6.0", Gate{}, 0, 0},
	{ChannelDisplay, s2c, MsgDisplayStreamCreate, "STREAM_CREATE", "0.6.0", Gate{}, 51, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayStreamData, "STREAM_DATA", "0.6.0", Gate{}, 12, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayStreamClip, "STREAM_CLIP", "0.6.0", Gate{}, 5, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayStreamDestroy, "STREAM_DESTROY", "0.6.0", Gate{}, 4, 4},
	{ChannelDisplay, s2c, MsgDisplayStreamDestroyAll, "STREAM_DESTROY_ALL", "0.6.0", Gate{}, 0, 0},
	{ChannelDisplay, s2c, MsgDisplayDrawFill, "DRAW_FILL", "0.6.0", Gate{}, 37, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawOpaque, "DRAW_OPAQUE", "0.6.0", Gate{}, 58, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawCopy, "DRAW_COPY", "0.6.0", Gate{}, 57, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawBlend, "DRAW_BLEND", "0.6.0", Gate{}, 57, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawBlackness, "DRAW_BLACKNESS", "0.6.0", Gate{}, 34, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawWhiteness, "DRAW_WHITENESS", "0.6.0", Gate{}, 34, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawInvers, "DRAW_INVERS", "0.6.0", Gate{}, 34, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawROP3, "DRAW_ROP3", "0.6.0", Gate{}, 57, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawStroke, "DRAW_STROKE", "0.6.0", Gate{}, 31, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawText, "DRAW_TEXT", "0.6.0", Gate{}, 47, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawTransparent, "DRAW_TRANSPARENT", "0.6.0", Gate{}, 49, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayDrawAlphaBlend, "DRAW_ALPHA_BLEND", "0.6.0", Gate{}, 43, Unlimited},
	{ChannelDisplay, s2c, MsgDisplaySurfaceCreate, "SURFACE_CREATE", "0.6.0", Gate{}, surfaceCreateSize, surfaceCreateSize},
	{ChannelDisplay, s2c, MsgDisplaySurfaceDestroy, "SURFACE_DESTROY", "0.6.0", Gate{}, 4, 4},
	{ChannelDisplay, s2c, MsgDisplayStreamDataSized, "STREAM_DATA_SIZED", "0.11.0", byClientSizedStream, 36, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayMonitorsConfig, "MONITORS_CONFIG", "0.11.3", byClientMonitors, 4, 4 + 65535*monitorSize},
	{ChannelDisplay, s2c, MsgDisplayDrawComposite, "DRAW_COMPOSITE", "0.11.3", byClientComposite, 37, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayStreamActivateReport, "STREAM_ACTIVATE_REPORT", "0.12.3", byClientReport, 16, 16},
	{ChannelDisplay, s2c, MsgDisplayGLScanoutUnix, "GL_SCANOUT_UNIX", "0.13.1", byClientScanout, 20, 20},
	{ChannelDisplay, s2c, MsgDisplayGLDraw, "GL_DRAW", "0.13.1", byClientGL, 16, 16},
	{ChannelDisplay, s2c, MsgDisplayQualityIndicator, "QUALITY_INDICATOR", "0.14.3", Gate{}, 0, Unlimited},
	{ChannelDisplay, s2c, MsgDisplayGLScanout2Unix, "GL_SCANOUT2_UNIX", "0.16.0", byClientScanout2, 25, 25 + 4*8},
	{ChannelDisplay, c2s, MsgcDisplayInit, "INIT", "0.6.0", Gate{}, displayInitSize, displayInitSize},
	{ChannelDisplay, c2s, MsgcDisplayStreamReport, "STREAM_REPORT", "0.12.3", byClientReport, 32, 32},
	{ChannelDisplay, c2s, MsgcDisplayPreferredCompression, "PREFERRED_COMPRESSION", "0.12.6", byServerCompression, 1, 1},
	{ChannelDisplay, c2s, MsgcDisplayGLDrawDone, "GL_DRAW_DONE", "0.13.1", byClientGL, 0, 0},
	{ChannelDisplay, c2s, MsgcDisplayPreferredVideoCodecType, "PREFERRED_VIDEO_CODEC_TYPE", "0.13.90", byServerVideoCodec, 1, 1 + 255},

	{ChannelInputs, s2c, MsgInputsInit, "INIT", "0.6.0", Gate{}, 2, 2},
	{ChannelInputs, s2c, MsgInputsKeyModifiers, "KEY_MODIFIERS", "0.6.0", Gate{}, 2, 2},
	{ChannelInputs, s2c, MsgInputsMouseMotionAck, "MOUSE_MOTION_ACK", "0.6.0", Gate{}, 0, 0},
	{ChannelInputs, c2s, MsgcInputsKeyDown, "KEY_DOWN", "0.6.0", Gate{}, 4, 4},
	{ChannelInputs, c2s, MsgcInputsKeyUp, "KEY_UP", "0.6.0", Gate{}, 4, 4},
	{ChannelInputs, c2s, MsgcInputsKeyModifiers, "KEY_MODIFIERS", "0.6.0", Gate{}, 2, 2},
	{ChannelInputs, c2s, MsgcInputsKeyScancode, "KEY_SCANCODE", "0.11.3", byServerScancode, 0, specMaxInput},
	{ChannelInputs, c2s, MsgcInputsMouseMotion, "MOUSE_MOTION", "0.6.0", Gate{}, 10, 10},
	{ChannelInputs, c2s, MsgcInputsMousePosition, "MOUSE_POSITION", "0.6.0", Gate{}, 11, 11},
	{ChannelInputs, c2s, MsgcInputsMousePress, "MOUSE_PRESS", "0.6.0", Gate{}, 3, 3},
	{ChannelInputs, c2s, MsgcInputsMouseRelease, "MOUSE_RELEASE", "0.6.0", Gate{}, 3, 3},

	{ChannelCursor, s2c, MsgCursorInit, "INIT", "0.6.0", Gate{}, 11, Unlimited},
	{ChannelCursor, s2c, MsgCursorReset, "RESET", "0.6.0", Gate{}, 0, 0},
	{ChannelCursor, s2c, MsgCursorSet, "SET", "0.6.0", Gate{}, 7, Unlimited},
	{ChannelCursor, s2c, MsgCursorMove, "MOVE", "0.6.0", Gate{}, 4, 4},
	{ChannelCursor, s2c, MsgCursorHide, "HIDE", "0.6.0", Gate{}, 0, 0},
	{ChannelCursor, s2c, MsgCursorTrail, "TRAIL", "0.6.0", Gate{}, 4, 4},
	{ChannelCursor, s2c, MsgCursorInvalOne, "INVAL_ONE", "0.6.0", Gate{}, 8, 8},
	{ChannelCursor, s2c, MsgCursorInvalAll, "INVAL_ALL", "0.6.0", Gate{}, 0, 0},

	{ChannelPlayback, s2c, MsgPlaybackData, "DATA", "0.6.0", Gate{}, 4, Unlimited},
	{ChannelPlayback, s2c, MsgPlaybackMode, "MODE", "0.6.0", Gate{}, 6, Unlimited},
	{ChannelPlayback, s2c, MsgPlaybackStart, "START", "0.6.0", Gate{}, 14, 14},
	{ChannelPlayback, s2c, MsgPlaybackStop, "STOP", "0.6.0", Gate{}, 0, 0},
	{ChannelPlayback, s2c, MsgPlaybackVolume, "VOLUME", "0.9.0", byClientPlayVolume, 1, specMaxVolume},
	{ChannelPlayback, s2c, MsgPlaybackMute, "MUTE", "0.9.0", byClientPlayVolume, 1, 1},
	{ChannelPlayback, s2c, MsgPlaybackLatency, "LATENCY", "0.12.3", byClientLatency, 4, 4},

	{ChannelRecord, s2c, MsgRecordStart, "START", "0.6.0", Gate{}, 10, 10},
	{ChannelRecord, s2c, MsgRecordStop, "STOP", "0.6.0", Gate{}, 0, 0},
	{ChannelRecord, s2c, MsgRecordVolume, "VOLUME", "0.9.0", byClientRecVolume, 1, specMaxVolume},
	{ChannelRecord, s2c, MsgRecordMute, "MUTE", "0.9.0", byClientRecVolume, 1, 1},
	{ChannelRecord, c2s, MsgcRecordData, "DATA", "0.6.0", Gate{}, 4, Unlimited},
	{ChannelRecord, c2s, MsgcRecordMode, "MODE", "0.6.0", Gate{}, 6, Unlimited},
	{ChannelRecord, c2s, MsgcRecordStartMark, "START_MARK", "0.6.0", Gate{}, 4, 4},

	{ChannelSmartcard, s2c, MsgSmartcardData, "DATA", "0.7.0", Gate{}, specSmartcardSize, Unlimited},
	{ChannelSmartcard, c2s, MsgcSmartcardData, "DATA", "0.7.0", Gate{}, specSmartcardSize, Unlimited},

	{ChannelUSBRedir, s2c, MsgVMCData, "DATA", "0.9.1", Gate{}, 0, Unlimited},
	{ChannelUSBRedir, s2c, MsgVMCCompressedData, "COMPRESSED_DATA", "0.13.2", byClientVMCLZ4, 1, Unlimited},
	{ChannelUSBRedir, c2s, MsgcVMCData, "DATA", "0.9.1", Gate{}, 0, Unlimited},
	{ChannelUSBRedir, c2s, MsgcVMCCompressedData, "COMPRESSED_DATA", "0.13.2", byServerVMCLZ4, 1, Unlimited},

	{ChannelPort, s2c, MsgVMCData, "DATA", "0.12.3", Gate{}, 0, Unlimited},
	{ChannelPort, s2c, MsgVMCCompressedData, "COMPRESSED_DATA", "0.13.2", byClientVMCLZ4, 1, Unlimited},
	{ChannelPort, s2c, MsgPortInit, "INIT", "0.12.3", Gate{}, 9, Unlimited},
	{ChannelPort, s2c, MsgPortEvent, "EVENT", "0.12.3", Gate{}, 1, 1},
	{ChannelPort, c2s, MsgcVMCData, "DATA", "0.12.3", Gate{}, 0, Unlimited},
	{ChannelPort, c2s, MsgcVMCCompressedData, "COMPRESSED_DATA", "0.13.2", byServerVMCLZ4, 1, Unlimited},
	{ChannelPort, c2s, MsgcPortEvent, "EVENT", "0.12.3", Gate{}, 1, 1},

	{ChannelWebDAV, s2c, MsgVMCData, "DATA", "0.12.5", Gate{}, 0, Unlimited},
	{ChannelWebDAV, s2c, MsgVMCCompressedData, "COMPRESSED_DATA", "0.13.2", byClientVMCLZ4, 1, Unlimited},
	{ChannelWebDAV, s2c, MsgPortInit, "INIT", "0.12.5", Gate{}, 9, Unlimited},
	{ChannelWebDAV, s2c, MsgPortEvent, "EVENT", "0.12.5", Gate{}, 1, 1},
	{ChannelWebDAV, c2s, MsgcVMCData, "DATA", "0.12.5", Gate{}, 0, Unlimited},
	{ChannelWebDAV, c2s, MsgcVMCCompressedData, "COMPRESSED_DATA", "0.13.2", byServerVMCLZ4, 1, Unlimited},
	{ChannelWebDAV, c2s, MsgcPortEvent, "EVENT", "0.12.5", Gate{}, 1, 1},
}
