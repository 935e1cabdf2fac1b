package spiceproto

import (
	"slices"
	"testing"
)

// Bodies of display messages, as small as they can be.

// base is DisplayBase with a box of 10 by 10 and no clip.
func base(surface uint32) []byte { return join(u32s(surface, 0, 0, 10, 10), []byte{0}) }

// drawCopy paints image, which follows the fixed part, without a mask.
func drawCopy(surface uint32, image []byte) step {
	return down(MsgDisplayDrawCopy, join(base(surface), u32s(57), u32s(0, 0, 10, 10),
		[]byte{8, 0, 0, 0}, u32s(0, 0, 0), image)...)
}

// image is a descriptor and what follows it.
func image(id uint64, t ImageType, flags uint8, rest ...byte) []byte {
	return join(u64s(id), []byte{byte(t), flags}, u32s(10, 10), rest)
}

// bitmap is a paletted raw image; palette is an id, or a pointer in a u64.
func bitmap(flags uint8, palette uint64) []byte {
	return image(0, ImageBitmap, 0, join([]byte{5, flags}, u32s(10, 10, 12), u64s(palette))...)
}

// drawBlended blends image into surface 0.
func drawBlended(image []byte) step {
	return down(MsgDisplayDrawAlphaBlend, join(base(0), []byte{0, 0xff}, u32s(43), u32s(0, 0, 10, 10), image)...)
}

func surfaceCreate(id uint32) step {
	return down(MsgDisplaySurfaceCreate, u32s(id, 10, 10, 32, 1)...)
}

func streamCreate(id uint32, codec byte) step {
	return down(MsgDisplayStreamCreate, join(u32s(0, id), []byte{0, codec}, u64s(0),
		u32s(10, 10, 10, 10), u32s(0, 0, 10, 10), []byte{0})...)
}

func streamData(id uint32) step { return down(MsgDisplayStreamData, u32s(id, 0, 2, 0x1234)...) }

func invalList(ids ...uint64) step {
	b := le.AppendUint16(nil, uint16(len(ids)))
	for _, id := range ids {
		b = join(b, []byte{resourcePixmap}, u64s(id))
	}
	return down(MsgDisplayInvalList, b...)
}

func setAck(generation, window uint32) step { return down(MsgSetAck, u32s(generation, window)...) }
func ping(id uint32, time uint64) step      { return down(MsgPing, join(u32s(id), u64s(time))...) }
func pong(id uint32, time uint64) step      { return up(MsgcPong, join(u32s(id), u64s(time))...) }

func displayInit() step { return up(MsgcDisplayInit, make([]byte, displayInitSize)...) }

// displaySession is a whole life of a display channel, with a window of 8.
func displaySession() []step {
	return []step{
		displayInit(),
		setAck(1, 8),
		up(MsgcAckSync, u32s(1)...),
		down(MsgDisplayInvalAllPalettes),
		surfaceCreate(0),
		drawCopy(0, image(5, ImageLZRGB, ImageCacheMe, u32s(0)...)),
		down(MsgDisplayMonitorsConfig, join([]byte{1, 0, 1, 0}, make([]byte, monitorSize))...),
		down(MsgDisplayMark),
		up(MsgcDisplayPreferredCompression, byte(CompressionLZ)),
		up(MsgcDisplayPreferredVideoCodecType, 2, 1, 2),
		ping(7, 100),
		ping(7, 200),
		up(MsgcAck),
		pong(7, 100),
		pong(7, 200),
		surfaceCreate(1),
		down(MsgDisplayDrawFill, join(base(1), []byte{1}, u32s(0xffffff), []byte{8, 0}, make([]byte, 13))...),
		drawCopy(0, image(0, ImageSurface, 0, u32s(1)...)),
		down(MsgDisplaySurfaceDestroy, u32s(1)...),
		streamCreate(3, 1),
		down(MsgDisplayStreamActivateReport, u32s(3, 1, 5, 1000)...),
		streamData(3),
		down(MsgDisplayStreamClip, join(u32s(3), []byte{byte(ClipRects)}, u32s(1, 0, 0, 5, 5))...),
		up(MsgcAck),
		up(MsgcDisplayStreamReport, make([]byte, 32)...).with(0, 3),
		down(MsgDisplayStreamDataSized, make([]byte, 36)...).with(0, 3),
		down(MsgDisplayStreamDestroy, u32s(3)...),
		drawCopy(0, image(5, ImageFromCache, 0)),
		drawCopy(0, bitmap(bitmapPaletteCacheMe, 0)),
		drawCopy(0, bitmap(bitmapPaletteFromCache, 77)),
		invalList(5),
		down(MsgDisplayCopyBits, join(base(0), u32s(0, 0))...),
		down(MsgDisplayGLDraw, make([]byte, 16)...),
		up(MsgcAck),
		up(MsgcDisplayGLDrawDone),
		down(MsgMigrate, u32s(3)...),
		up(MsgcMigrateFlushMark),
		down(MsgMigrateData, 1, 2, 3),
	}
}

// with overwrites the u32 at off.
func (s step) with(off int, v uint32) step {
	s.body = slices.Clone(s.body)
	le.PutUint32(s.body[off:], v)
	return s
}

// short drops the last byte of the body, long adds one.
func (s step) short() step { s.body = s.body[:len(s.body)-1]; return s }
func (s step) long() step  { s.body = append(slices.Clone(s.body), 0); return s }

// mainInit offers 10 tokens.
func mainInit() step { return down(MsgMainInit, u32s(1, 1, 3, 2, 1, 10, 0, 0)...) }

func mainSession() []step {
	return []step{
		mainInit(),
		down(MsgMainName, append(u32s(3), "vm\x00"...)...),
		down(MsgMainUUID, make([]byte, 16)...),
		ping(1, 10),
		pong(1, 10),
		up(MsgcMainAttachChannels),
		down(MsgMainChannelsList, join(u32s(2), []byte{2, 0, 3, 0})...),
		up(MsgcMainAgentStart, u32s(2)...),
		up(MsgcMainAgentData, 1),
		down(MsgMainAgentData, 2),
		down(MsgMainAgentData, 3),
		down(MsgMainAgentToken, u32s(5)...),
		down(MsgMainAgentDisconnected, u32s(0)...),
		down(MsgMainAgentConnectedTokens, u32s(10)...),
		up(MsgcMainAgentStart, u32s(1)...),
		down(MsgMainAgentData, 4),
		up(MsgcMainMouseModeRequest, 2, 0),
		down(MsgMainMouseMode, 3, 0, 2, 0),
		down(MsgMainMigrateBeginSeamless, make([]byte, 24)...),
		up(MsgcMainMigrateConnectedSeamless),
		down(MsgMigrate, u32s(3)...),
		up(MsgcMigrateFlushMark),
		down(MsgMigrateData),
	}
}

func motion() step { return up(MsgcInputsMouseMotion, make([]byte, 10)...) }

func inputsSession() []step {
	return []step{
		down(MsgInputsInit, 0, 0),
		up(MsgcInputsKeyModifiers, 2, 0),
		up(MsgcInputsKeyDown, u32s(0x1e)...),
		up(MsgcInputsKeyUp, u32s(0x9e)...),
		up(MsgcInputsKeyScancode, 0x1e, 0x9e),
		motion(), motion(), motion(),
		up(MsgcInputsMousePosition, make([]byte, 11)...),
		down(MsgInputsMouseMotionAck),
		up(MsgcInputsMousePress, 1, 1, 0),
		up(MsgcInputsMouseRelease, 1, 0, 0),
		down(MsgInputsKeyModifiers, 2, 0),
	}
}

// cursor is a cursor with a header of 17 bytes.
func cursor(flags byte, id uint64, pixels ...byte) []byte {
	return join([]byte{flags, 0}, u64s(id), make([]byte, headCursorSize-8), pixels)
}

// cursorInit shows no cursor.
func cursorInit() step { return down(MsgCursorInit, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0) }

func cursorSet(c []byte) step { return down(MsgCursorSet, join([]byte{0, 0, 0, 0, 1}, c)...) }

func cursorSession() []step {
	return []step{
		setAck(1, 20),
		cursorInit(),
		up(MsgcAckSync, u32s(1)...),
		cursorSet(cursor(cursorCacheMe, 9, 1, 2, 3)),
		down(MsgCursorMove, 1, 0, 1, 0),
		cursorSet(cursor(cursorFromCache, 9)),
		down(MsgCursorHide),
		down(MsgCursorInvalOne, u64s(9)...),
		cursorSet(cursor(cursorCacheMe, 9, 1, 2, 3)),
		down(MsgCursorInvalAll),
		down(MsgCursorReset),
		// The guest sets another mode.
		down(MsgCursorInit, join(make([]byte, 9), cursor(cursorCacheMe, 9, 1))...),
		cursorSet(cursor(cursorFromCache, 9)),
	}
}

func soundStart(t ChannelType) step {
	if t == ChannelRecord {
		return down(MsgRecordStart, make([]byte, 10)...)
	}
	return down(MsgPlaybackStart, make([]byte, 14)...)
}

func playbackSession() []step {
	return []step{
		down(MsgPlaybackMode, make([]byte, 6)...),
		down(MsgPlaybackVolume, 2, 0, 1, 0, 1),
		down(MsgPlaybackMute, 0),
		// A frame overtakes START (sound.cpp).
		down(MsgPlaybackData, make([]byte, 100)...),
		soundStart(ChannelPlayback),
		down(MsgPlaybackLatency, u32s(100)...),
		down(MsgPlaybackData, make([]byte, 100)...),
		down(MsgPlaybackStop),
		soundStart(ChannelPlayback),
	}
}

func recordSession() []step {
	return []step{
		down(MsgRecordVolume, 1, 0, 1),
		soundStart(ChannelRecord),
		up(MsgcRecordMode, make([]byte, 6)...),
		up(MsgcRecordStartMark, u32s(0)...),
		up(MsgcRecordData, make([]byte, 100)...),
		down(MsgRecordStop),
		up(MsgcRecordData, make([]byte, 100)...), // was under way
		soundStart(ChannelRecord),
	}
}

func portSession() []step {
	return []step{
		down(MsgPortInit, join(u32s(4, 9), []byte{1}, []byte("org\x00"))...),
		down(MsgPortEvent, 0),
		down(MsgVMCData, 1, 2, 3),
		down(MsgVMCCompressedData, join([]byte{1}, u32s(8), []byte{1, 2})...),
		up(MsgcVMCData, 1),
		up(MsgcPortEvent, 2),
	}
}

func smartcardSession() []step {
	return []step{
		up(MsgcSmartcardData, u32s(3, 0, 0)...),
		down(MsgSmartcardData, join(u32s(7, 0, 2), []byte{1, 2})...),
	}
}

func usbSession() []step {
	return []step{
		down(MsgVMCData, make([]byte, 80)...),
		up(MsgcVMCCompressedData, 0, 1, 2),
	}
}

// legalSession is one life of a channel, without a fault.
type legalSession struct {
	channel ChannelType
	steps   []step
}

func legalSessions() []legalSession {
	return []legalSession{
		{ChannelMain, mainSession()},
		{ChannelDisplay, displaySession()},
		{ChannelInputs, inputsSession()},
		{ChannelCursor, cursorSession()},
		{ChannelPlayback, playbackSession()},
		{ChannelRecord, recordSession()},
		{ChannelPort, portSession()},
		{ChannelWebDAV, portSession()},
		{ChannelSmartcard, smartcardSession()},
		{ChannelUSBRedir, usbSession()},
	}
}

func TestMachineAcceptsLegalSessions(t *testing.T) {
	for _, c := range legalSessions() {
		t.Run(c.channel.String(), func(t *testing.T) {
			wantNoFindings(t, linked(c.channel), c.steps)
		})
	}
}

// What real servers do, and a stricter reader of the protocol would not expect.
func TestMachineAcceptsOddities(t *testing.T) {
	target := func(t ChannelType) MachineConfig {
		return MachineConfig{Channel: t, Client: allCaps, Server: allCaps, MigrationTarget: true, SoleDisplay: true}
	}
	source := func(t ChannelType) MachineConfig {
		return MachineConfig{Channel: t, Client: allCaps, Server: allCaps}
	}
	for _, c := range []struct {
		name   string
		config MachineConfig
		steps  []step
	}{
		{
			"the display of a guest stream speaks before INIT", source(ChannelDisplay),
			[]step{
				setAck(1, 20), down(MsgDisplayInvalAllPalettes), surfaceCreate(0),
				down(MsgDisplayDrawFill, join(base(0), []byte{1}, u32s(0), []byte{8, 0}, make([]byte, 13))...),
				down(MsgDisplayMark), streamCreate(1, 3), displayInit(), streamData(1),
			},
		},
		{
			"NOTIFY and PING before main INIT", source(ChannelMain),
			[]step{down(MsgNotify, make([]byte, 25)...), ping(1, 1), mainInit()},
		},
		{
			"a seamless target continues the source's surfaces, streams and caches", source(ChannelDisplay),
			[]step{
				up(MsgcMigrateData, make([]byte, 200)...), setAck(1, 20), up(MsgcAck), up(MsgcAckSync, u32s(1)...),
				drawCopy(4, image(8, ImageFromCache, 0)), streamData(2),
				drawCopy(0, bitmap(bitmapPaletteFromCache, 5)),
				down(MsgDisplaySurfaceDestroy, u32s(4)...), surfaceCreate(4), drawCopy(4, image(8, ImageFromCache, 0)),
			},
		},
		{
			"a semi-seamless target of main", source(ChannelMain),
			[]step{up(MsgcMainMigrateEnd), down(MsgMainMouseMode, 3, 0, 2, 0), mainInit()},
		},
		{
			"a seamless target of main", source(ChannelMain),
			[]step{
				up(MsgcMainMigrateDstDoSeamless, u32s(1)...), down(MsgMainMigrateDstSeamlessAck),
				up(MsgcMigrateData), down(MsgMainAgentData, 1), up(MsgcMainAgentData, 1),
			},
		},
		{
			"the motions of a source are acknowledged by the target", source(ChannelInputs),
			[]step{down(MsgInputsInit, 0, 0), up(MsgcMigrateData, 1), down(MsgInputsMouseMotionAck)},
		},
		{
			"a target's cursor without INIT", target(ChannelCursor),
			[]step{setAck(1, 20), down(MsgCursorMove, 0, 0, 0, 0), cursorSet(cursor(cursorFromCache, 3))},
		},
		{
			"sound goes on at a target", target(ChannelRecord),
			[]step{up(MsgcRecordData, 0, 0, 0, 0), down(MsgRecordStop), soundStart(ChannelRecord)},
		},
		{
			"image ids are shared with another display", source(ChannelDisplay),
			[]step{
				displayInit(), surfaceCreate(0), drawCopy(0, image(3, ImageFromCache, 0)),
				invalList(3), drawCopy(0, image(3, ImageFromCache, 0)),
			},
		},
		{
			"a draw that hides an image may have stored it",
			MachineConfig{Channel: ChannelDisplay, Client: allCaps, Server: allCaps, SoleDisplay: true},
			[]step{
				displayInit(), surfaceCreate(0), invalList(3),
				down(MsgDisplayDrawStroke, join(base(0), make([]byte, 10))...),
				drawCopy(0, image(3, ImageFromCache, 0)), drawCopy(0, bitmap(bitmapPaletteFromCache, 5)),
			},
		},
		{
			"a report about a stream that ended meanwhile", source(ChannelDisplay),
			[]step{
				displayInit(), surfaceCreate(0), streamCreate(0, 1), down(MsgDisplayStreamDestroy, u32s(0)...),
				up(MsgcDisplayStreamReport, make([]byte, 32)...),
			},
		},
		{
			"GL needs no surface", source(ChannelDisplay),
			[]step{
				displayInit(), down(MsgDisplayGLScanoutUnix, make([]byte, 20)...),
				down(MsgDisplayMonitorsConfig, join([]byte{1, 0, 1, 0}, make([]byte, monitorSize))...),
			},
		},
		{
			"two windows under way at once", source(ChannelCursor),
			[]step{
				setAck(1, 1), setAck(2, 1), cursorInit(),
				up(MsgcAckSync, u32s(1)...), up(MsgcAck), up(MsgcAckSync, u32s(2)...), up(MsgcAck),
			},
		},
		{
			"more PINGs without an answer than are remembered", source(ChannelPlayback),
			slices.Concat(slices.Repeat([]step{ping(1, 1)}, 40), slices.Repeat([]step{pong(1, 1)}, 40)),
		},
		{
			"more windows without an answer than are remembered", source(ChannelPlayback),
			[]step{
				setAck(1, 1), setAck(2, 1), setAck(3, 1), setAck(4, 1), setAck(5, 1),
				up(MsgcAckSync, u32s(1)...), up(MsgcAckSync, u32s(2)...), up(MsgcAckSync, u32s(3)...),
				up(MsgcAckSync, u32s(4)...), up(MsgcAckSync, u32s(5)...), up(MsgcAck),
			},
		},
		{
			"MODE makes the primary surface", source(ChannelDisplay),
			[]step{displayInit(), down(MsgDisplayMode, u32s(640, 480, 32)...), drawBlended(image(1, ImageQUIC, 0, u32s(0)...))},
		},
		{
			"LIST may invalidate and announce what its head does not tell",
			MachineConfig{Channel: ChannelDisplay, Client: allCaps, Server: allCaps, SoleDisplay: true},
			[]step{displayInit(), surfaceCreate(0), invalList(3), down(MsgList, 0, 0), drawCopy(0, image(3, ImageFromCache, 0))},
		},
		{
			"an ACK at the earliest legal moment", source(ChannelCursor),
			[]step{
				setAck(1, 2), up(MsgcAckSync, u32s(1)...), cursorInit(), up(MsgcAck),
				down(MsgCursorHide), down(MsgCursorHide), up(MsgcAck),
			},
		},
		{
			"a proxy answers the window", MachineConfig{Channel: ChannelCursor, ForeignAcks: true},
			append([]step{setAck(1, 1), cursorInit()},
				slices.Repeat([]step{down(MsgCursorHide)}, 50)...),
		},
		{
			"a client without the tokens capability meets a new agent", MachineConfig{Channel: ChannelMain},
			slices.Concat([]step{mainInit()}, slices.Repeat([]step{up(MsgcMainAgentData)}, 10),
				[]step{down(MsgMainAgentConnected)}, slices.Repeat([]step{up(MsgcMainAgentData)}, 10)),
		},
	} {
		t.Run(c.name, func(t *testing.T) { wantNoFindings(t, linkedWith(c.config), c.steps) })
	}
}
