package spiceproto

import (
	"slices"
	"testing"
)

// edit puts one fault into a legal session.
type edit func(t *testing.T, steps []step) []step

// find returns where the first message of a type stands.
func find(t *testing.T, steps []step, d Direction, op uint16) int {
	t.Helper()
	i := slices.IndexFunc(steps, func(s step) bool { return s.dir == d && s.op == op })
	if i < 0 {
		t.Fatalf("the session has no %v %d", d, op)
	}
	return i
}

// without drops every message of a type.
func without(d Direction, op uint16) edit {
	return func(t *testing.T, steps []step) []step {
		find(t, steps, d, op)
		return slices.DeleteFunc(steps, func(s step) bool { return s.dir == d && s.op == op })
	}
}

// after puts messages behind the first of a type, before in front of it.
func after(d Direction, op uint16, extra ...step) edit {
	return func(t *testing.T, steps []step) []step {
		return slices.Insert(steps, find(t, steps, d, op)+1, extra...)
	}
}

func before(d Direction, op uint16, extra ...step) edit {
	return func(t *testing.T, steps []step) []step {
		return slices.Insert(steps, find(t, steps, d, op), extra...)
	}
}

// twice repeats the first message of a type.
func twice(d Direction, op uint16) edit {
	return func(t *testing.T, steps []step) []step {
		i := find(t, steps, d, op)
		return slices.Insert(steps, i+1, steps[i])
	}
}

// changed alters the first message of a type.
func changed(d Direction, op uint16, alter func(step) step) edit {
	return func(t *testing.T, steps []step) []step {
		i := find(t, steps, d, op)
		steps[i] = alter(steps[i])
		return steps
	}
}

// instead replaces the first message of a type.
func instead(d Direction, op uint16, other step) edit {
	return changed(d, op, func(step) step { return other })
}

// with32 alters a u32, with8 a byte.
func with32(off int, v uint32) func(step) step {
	return func(s step) step { return s.with(off, v) }
}

func with8(off int, v byte) func(step) step {
	return func(s step) step {
		s.body = slices.Clone(s.body)
		s.body[off] = v
		return s
	}
}

// fault is a legal session with one fault, and the rule that finds it.
type fault struct {
	name    string
	channel ChannelType
	edit    edit
	want    Rule
	// by is who is at fault.
	by Direction
	// client and server are capabilities taken away, 1<<bit each.
	client, server uint32
}

var displayFaults = []fault{
	{name: "no INIT", edit: without(c2s, MsgcDisplayInit), want: RuleInitFirst},
	{name: "INIT twice", edit: twice(c2s, MsgcDisplayInit), want: RuleInitTwice, by: c2s},
	{name: "a report before INIT", edit: before(c2s, MsgcDisplayInit, up(MsgcDisplayPreferredCompression, 1)), want: RuleInitFirst, by: c2s},

	{name: "ACK_SYNC of another generation", edit: changed(c2s, MsgcAckSync, with32(0, 2)), want: RuleAckGeneration, by: c2s},
	{name: "ACK_SYNC twice", edit: twice(c2s, MsgcAckSync), want: RuleAckGeneration, by: c2s},
	{name: "ACK_SYNC before SET_ACK", edit: before(s2c, MsgSetAck, up(MsgcAckSync, u32s(1)...)), want: RuleAckGeneration, by: c2s},
	{name: "ACK without ACK_SYNC", edit: without(c2s, MsgcAckSync), want: RuleAckUnsynced, by: c2s},
	{name: "ACK for a window of 0", edit: changed(s2c, MsgSetAck, with32(4, 0)), want: RuleAckUnsynced, by: c2s},
	{name: "ACK too early", edit: before(s2c, MsgDisplayMark, up(MsgcAck)), want: RuleAckEarly, by: c2s},
	{name: "one ACK too many", edit: twice(c2s, MsgcAck), want: RuleAckEarly, by: c2s},
	{name: "the window is larger than its ACKs say", edit: changed(s2c, MsgSetAck, with32(4, 9)), want: RuleAckEarly, by: c2s},
	{name: "the server ignores its window", edit: without(c2s, MsgcAck), want: RuleWindow},

	{name: "PONG of an unknown PING", edit: changed(c2s, MsgcPong, with32(0, 8)), want: RulePong, by: c2s},
	{name: "PONG before PING", edit: before(s2c, MsgPing, pong(7, 100)), want: RulePong, by: c2s},
	{name: "PONG once more", edit: after(s2c, MsgDisplaySurfaceDestroy, pong(7, 200)), want: RulePong, by: c2s},
	{name: "PONG with another time", edit: changed(c2s, MsgcPong, with32(4, 150)), want: RulePongTime, by: c2s},

	{name: "a draw before SURFACE_CREATE", edit: before(s2c, MsgDisplaySurfaceCreate, drawCopy(0, image(5, ImageLZRGB, 0))), want: RuleDeadSurface},
	{name: "a draw to a destroyed surface", edit: after(s2c, MsgDisplaySurfaceDestroy, drawCopy(1, image(5, ImageLZRGB, 0))), want: RuleDeadSurface},
	{name: "an image of a destroyed surface", edit: after(s2c, MsgDisplaySurfaceDestroy, drawCopy(0, image(0, ImageSurface, 0, u32s(1)...))), want: RuleDeadSurface},
	{name: "COPY_BITS on a surface that never was", edit: changed(s2c, MsgDisplayCopyBits, with32(0, 9)), want: RuleDeadSurface},
	{name: "SURFACE_DESTROY twice", edit: twice(s2c, MsgDisplaySurfaceDestroy), want: RuleDeadSurface},
	{name: "a stream on a surface that never was", edit: changed(s2c, MsgDisplayStreamCreate, with32(0, 9)), want: RuleDeadSurface},
	{name: "SURFACE_CREATE twice", edit: twice(s2c, MsgDisplaySurfaceCreate), want: RuleDuplicateSurface},
	{name: "a surface id out of range", edit: after(s2c, MsgDisplaySurfaceCreate, surfaceCreate(maxSurfaces)), want: RuleSurfaceLimit},
	{name: "an undefined surface format", edit: changed(s2c, MsgDisplaySurfaceCreate, with32(12, 33)), want: RuleValue},

	{name: "data of a destroyed stream", edit: after(s2c, MsgDisplayStreamDestroy, streamData(3)), want: RuleUnknownStream},
	{name: "data of a stream that never was", edit: changed(s2c, MsgDisplayStreamData, with32(0, 4)), want: RuleUnknownStream},
	{name: "data after STREAM_DESTROY_ALL", edit: before(s2c, MsgDisplayStreamData, down(MsgDisplayStreamDestroyAll)), want: RuleUnknownStream},
	{name: "sized data of a stream that never was", edit: changed(s2c, MsgDisplayStreamDataSized, with32(0, 4)), want: RuleUnknownStream},
	{name: "STREAM_CLIP of a stream that never was", edit: changed(s2c, MsgDisplayStreamClip, with32(0, 4)), want: RuleUnknownStream},
	{name: "STREAM_DESTROY twice", edit: twice(s2c, MsgDisplayStreamDestroy), want: RuleUnknownStream},
	{name: "a report asked for too early", edit: before(s2c, MsgDisplayStreamCreate, down(MsgDisplayStreamActivateReport, make([]byte, 16)...)), want: RuleUnknownStream},
	{name: "a report about a stream that never was", edit: changed(c2s, MsgcDisplayStreamReport, with32(0, 4)), want: RuleUnknownStream, by: c2s},
	{name: "STREAM_CREATE twice", edit: twice(s2c, MsgDisplayStreamCreate), want: RuleDuplicateStream},
	{name: "a stream id out of range", edit: after(s2c, MsgDisplayStreamCreate, streamCreate(maxStreams, 1)), want: RuleStreamLimit},
	{name: "H.264 for a client without", edit: after(s2c, MsgDisplayStreamCreate, streamCreate(5, 3)), want: RuleCapability, client: 1 << CapDisplayCodecH264},
	{name: "VP8 for a client without", edit: after(s2c, MsgDisplayStreamCreate, streamCreate(5, 2)), want: RuleCapability, client: 1 << CapDisplayCodecVP8},
	{name: "VP9 for a client without", edit: after(s2c, MsgDisplayStreamCreate, streamCreate(5, 4)), want: RuleCapability, client: 1 << CapDisplayCodecVP9},
	{name: "H.265 for a client without", edit: after(s2c, MsgDisplayStreamCreate, streamCreate(5, 5)), want: RuleCapability, client: 1 << CapDisplayCodecH265},

	{name: "an image from an empty cache", edit: before(s2c, MsgDisplayDrawCopy, drawCopy(0, image(5, ImageFromCache, 0))), want: RuleImageCache},
	{name: "an invalidated image", edit: after(s2c, MsgDisplayInvalList, drawCopy(0, image(5, ImageFromCacheLossless, 0))), want: RuleImageCache},
	{name: "an image after INVAL_ALL_PIXMAPS", edit: before(s2c, MsgDisplayStreamCreate, down(MsgDisplayInvalAllPixmaps, 0)), want: RuleImageCache},
	{name: "a blended image from an empty cache", edit: before(s2c, MsgDisplayDrawCopy, drawBlended(image(5, ImageFromCache, 0))), want: RuleImageCache},
	{name: "a compressed image's palette from an empty cache", edit: before(s2c, MsgDisplayDrawCopy, drawCopy(0, image(5, ImageLZPLT, 0, join([]byte{bitmapPaletteFromCache}, u32s(0), u64s(7))...))), want: RulePaletteCache},
	{name: "a palette from an empty cache", edit: before(s2c, MsgDisplayDrawCopy, drawCopy(0, bitmap(bitmapPaletteFromCache, 7))), want: RulePaletteCache},
	{name: "a palette after INVAL_ALL_PALETTES", edit: after(s2c, MsgDisplayInvalList, down(MsgDisplayInvalAllPalettes), drawCopy(0, bitmap(bitmapPaletteFromCache, 77))), want: RulePaletteCache},

	{name: "GL_DRAW_DONE unasked", edit: twice(c2s, MsgcDisplayGLDrawDone), want: RuleGLDone, by: c2s},
	{name: "more monitors than allowed", edit: changed(s2c, MsgDisplayMonitorsConfig, with8(2, 0)), want: RuleMonitors},
	{name: "more monitors than sent", edit: changed(s2c, MsgDisplayMonitorsConfig, with32(0, 2|2<<16)), want: RuleMalformed},
	{name: "more invalidated images than sent", edit: changed(s2c, MsgDisplayInvalList, with8(0, 2)), want: RuleMalformed},
	{name: "more clip rectangles than sent", edit: changed(s2c, MsgDisplayStreamClip, with32(5, 2)), want: RuleMalformed},
	{name: "a clip list without its count", edit: changed(s2c, MsgDisplayStreamClip, func(s step) step { return down(s.op, s.body[:7]...) }), want: RuleMalformed},
	{name: "more planes than sent", edit: after(s2c, MsgDisplayMark, down(MsgDisplayGLScanout2Unix, make([]byte, 25)...).with(16, 1)), want: RuleMalformed},
	{name: "an undefined clip of a stream", edit: changed(s2c, MsgDisplayStreamClip, with8(4, 9)), want: RuleMalformed},
	{name: "an undefined clip of a draw", edit: changed(s2c, MsgDisplayDrawCopy, with8(clipOffset, 9)), want: RuleMalformed},
	{name: "an image beyond the message", edit: changed(s2c, MsgDisplayDrawCopy, with32(21, 1000)), want: RuleMalformed},
	{name: "more codecs than sent", edit: changed(c2s, MsgcDisplayPreferredVideoCodecType, with8(0, 3)), want: RuleMalformed, by: c2s},
	{name: "an undefined compression", edit: changed(c2s, MsgcDisplayPreferredCompression, with8(0, 9)), want: RuleValue, by: c2s},
	{name: "more channels to wait for than sent", edit: after(s2c, MsgSetAck, down(MsgWaitForChannels, 1)), want: RuleMalformed},

	{name: "SURFACE_CREATE too short", edit: changed(s2c, MsgDisplaySurfaceCreate, step.short), want: RuleTooShort},
	{name: "SURFACE_CREATE too long", edit: changed(s2c, MsgDisplaySurfaceCreate, step.long), want: RuleTooLong},
	{name: "MARK with a body", edit: changed(s2c, MsgDisplayMark, step.long), want: RuleTooLong},
	{name: "INIT too short", edit: changed(c2s, MsgcDisplayInit, step.short), want: RuleTooShort, by: c2s},
	{name: "ACK with a body", edit: changed(c2s, MsgcAck, step.long), want: RuleTooLong, by: c2s},

	{name: "a type the server does not have", edit: after(s2c, MsgDisplayMark, down(109)), want: RuleUnknownOpcode},
	{name: "a type the client does not have", edit: after(s2c, MsgDisplayMark, up(MsgDisplayDrawCopy)), want: RuleUnknownOpcode, by: c2s},
	{name: "the reserved type", edit: after(s2c, MsgDisplayMark, down(100)), want: RuleUnknownOpcode},
	{name: "MONITORS_CONFIG for a client without", edit: after(s2c, MsgDisplayMark), want: RuleCapability, client: 1 << CapDisplayMonitorsConfig},
	{name: "sized data for a client without", edit: after(s2c, MsgDisplayMark), want: RuleCapability, client: 1 << CapDisplaySizedStream},
	{name: "a compression for a server without", edit: after(s2c, MsgDisplayMark), want: RuleCapability, by: c2s, server: 1 << CapDisplayPrefCompression},

	{name: "data after MIGRATE", edit: after(s2c, MsgMigrate, down(MsgDisplayMark)), want: RuleAfterMigrate},
	{name: "an unknown type after MIGRATE", edit: after(s2c, MsgMigrate, down(200)), want: RuleAfterMigrate},
	{name: "MIGRATE twice", edit: twice(s2c, MsgMigrate), want: RuleAfterMigrate},
	{name: "MIGRATE_DATA twice", edit: twice(s2c, MsgMigrateData), want: RuleAfterMigrate},
	{name: "MIGRATE_DATA not announced", edit: changed(s2c, MsgMigrate, with32(0, migrateNeedFlush)), want: RuleAfterMigrate},
	{name: "MIGRATE_DATA without MIGRATE", edit: before(s2c, MsgMigrate, down(MsgMigrateData)), want: RuleMigration},
	{name: "FLUSH_MARK without MIGRATE", edit: before(s2c, MsgMigrate, up(MsgcMigrateFlushMark)), want: RuleMigration, by: c2s},
	{name: "FLUSH_MARK unasked", edit: changed(s2c, MsgMigrate, with32(0, migrateNeedData)), want: RuleMigration, by: c2s},
	{name: "FLUSH_MARK twice", edit: twice(c2s, MsgcMigrateFlushMark), want: RuleMigration, by: c2s},
	{name: "data handed to a channel at work", edit: after(s2c, MsgDisplayMark, up(MsgcMigrateData)), want: RuleMigration, by: c2s},
	{name: "data handed back to the source", edit: after(s2c, MsgMigrate, up(MsgcMigrateData)), want: RuleMigration, by: c2s},
}

// agentData is n agent messages of the client.
func agentData(n int) []step { return slices.Repeat([]step{up(MsgcMainAgentData, 1)}, n) }

var mainFaults = []fault{
	{name: "no INIT", edit: without(s2c, MsgMainInit), want: RuleInitFirst},
	{name: "INIT not first", edit: before(s2c, MsgMainInit, down(MsgMainUUID, make([]byte, 16)...)), want: RuleInitFirst},
	{name: "INIT twice", edit: twice(s2c, MsgMainInit), want: RuleInitTwice},
	{name: "agent data before any token", edit: before(s2c, MsgMainInit, agentData(1)...), want: RuleAgentTokens, by: c2s},
	{name: "an agent message more than tokens", edit: after(s2c, MsgMainInit, agentData(11)...), want: RuleAgentTokens, by: c2s},
	{name: "agent data before AGENT_START", edit: before(c2s, MsgcMainAgentStart, down(MsgMainAgentData)), want: RuleAgentTokens},
	{name: "an agent message more than the client granted", edit: twice(s2c, MsgMainAgentData), want: RuleAgentTokens},
	{name: "agent data too long", edit: changed(c2s, MsgcMainAgentData, func(step) step { return up(MsgcMainAgentData, make([]byte, 2049)...) }), want: RuleTooLong, by: c2s},
	{name: "more channels than sent", edit: changed(s2c, MsgMainChannelsList, with32(0, 3)), want: RuleMalformed},
	{name: "a longer name than sent", edit: changed(s2c, MsgMainName, with32(0, 99)), want: RuleMalformed},
	{name: "MIGRATE_CONNECTED before MIGRATE_BEGIN", edit: before(s2c, MsgMainMigrateBeginSeamless, up(MsgcMainMigrateConnected)), want: RuleMigration, by: c2s},
	{name: "a seamless answer to a plain question", edit: instead(s2c, MsgMainMigrateBeginSeamless, down(MsgMainMigrateBegin, make([]byte, 20)...)), want: RuleMigration, by: c2s},
	{name: "MIGRATE_CANCEL before MIGRATE_BEGIN", edit: after(s2c, MsgMainInit, down(MsgMainMigrateCancel)), want: RuleMigration},
	{name: "a seamless yes nobody asked for", edit: after(s2c, MsgMainInit, down(MsgMainMigrateDstSeamlessAck)), want: RuleMigration},
	{name: "the client ends a migration at the source", edit: after(s2c, MsgMainMouseMode, up(MsgcMainMigrateEnd)), want: RuleMigration, by: c2s},
	{name: "the client asks a source at work", edit: after(s2c, MsgMainMouseMode, up(MsgcMainMigrateDstDoSeamless, u32s(1)...)), want: RuleMigration, by: c2s},
	{name: "tokens for a client without", edit: after(s2c, MsgMainInit), want: RuleCapability, client: 1 << CapMainAgentConnectedTokens},
	{name: "a name for a client without", edit: after(s2c, MsgMainInit), want: RuleCapability, client: 1 << CapMainNameAndUUID},
	{name: "a longer text than sent", edit: after(s2c, MsgMainInit, down(MsgNotify, make([]byte, 24)...).with(20, 1)), want: RuleMalformed},
}

var otherFaults = []fault{
	{name: "no INIT", channel: ChannelInputs, edit: without(s2c, MsgInputsInit), want: RuleInitFirst},
	{name: "INIT twice", channel: ChannelInputs, edit: twice(s2c, MsgInputsInit), want: RuleInitTwice},
	{name: "an ACK for three motions", channel: ChannelInputs, edit: without(c2s, MsgcInputsMousePosition), want: RuleMotionAck},
	{name: "two ACKs for four motions", channel: ChannelInputs, edit: twice(s2c, MsgInputsMouseMotionAck), want: RuleMotionAck},
	{name: "scancodes for a server without", channel: ChannelInputs, edit: after(s2c, MsgInputsInit), want: RuleCapability, by: c2s, server: 1 << CapInputsKeyScancode},
	{name: "KEY_DOWN too short", channel: ChannelInputs, edit: changed(c2s, MsgcInputsKeyDown, step.short), want: RuleTooShort, by: c2s},
	{name: "MOUSE_POSITION too long", channel: ChannelInputs, edit: changed(c2s, MsgcInputsMousePosition, step.long), want: RuleTooLong, by: c2s},
	{name: "scancodes without end", channel: ChannelInputs, edit: instead(c2s, MsgcInputsKeyScancode, up(MsgcInputsKeyScancode, make([]byte, 2049)...)), want: RuleTooLong, by: c2s},

	{name: "SET before INIT", channel: ChannelCursor, edit: before(s2c, MsgCursorInit, cursorSet(cursor(cursorNone, 0))), want: RuleInitFirst},
	{name: "an invalidated cursor", channel: ChannelCursor, edit: after(s2c, MsgCursorInvalOne, cursorSet(cursor(cursorFromCache, 9))), want: RuleCursorCache},
	{name: "a cursor from an empty cache", channel: ChannelCursor, edit: after(s2c, MsgCursorInvalAll, cursorSet(cursor(cursorFromCache, 9))), want: RuleCursorCache},
	{name: "a cursor without its header", channel: ChannelCursor, edit: after(s2c, MsgCursorInvalAll, cursorSet([]byte{0, 0, 1})), want: RuleMalformed},
	{name: "a message of the client", channel: ChannelCursor, edit: after(s2c, MsgCursorInit, up(101)), want: RuleUnknownOpcode, by: c2s},

	{name: "STOP before START", channel: ChannelPlayback, edit: before(s2c, MsgPlaybackStart, down(MsgPlaybackStop)), want: RuleSoundOrder},
	{name: "START twice", channel: ChannelPlayback, edit: twice(s2c, MsgPlaybackStart), want: RuleSoundOrder},
	{name: "more volumes than sent", channel: ChannelPlayback, edit: changed(s2c, MsgPlaybackVolume, with8(0, 3)), want: RuleMalformed},
	{name: "LATENCY for a client without", channel: ChannelPlayback, edit: after(s2c, MsgPlaybackMode), want: RuleCapability, client: 1 << CapPlaybackLatency},
	{name: "STOP twice", channel: ChannelRecord, edit: twice(s2c, MsgRecordStop), want: RuleSoundOrder},
	{name: "DATA before START", channel: ChannelRecord, edit: before(s2c, MsgRecordStart, up(MsgcRecordData, 0, 0, 0, 0)), want: RuleSoundOrder, by: c2s},

	{name: "no INIT", channel: ChannelPort, edit: without(s2c, MsgPortInit), want: RuleInitFirst},
	{name: "INIT twice", channel: ChannelWebDAV, edit: twice(s2c, MsgPortInit), want: RuleInitTwice},
	{name: "a name beyond the message", channel: ChannelPort, edit: changed(s2c, MsgPortInit, with32(4, 0xffffffff)), want: RuleMalformed},
	{name: "an undefined event", channel: ChannelPort, edit: changed(c2s, MsgcPortEvent, with8(0, 3)), want: RuleValue, by: c2s},
	{name: "LZ4 for a server without", channel: ChannelUSBRedir, edit: after(s2c, MsgVMCData), want: RuleCapability, by: c2s, server: 1 << CapVMCCompressLZ4},
	{name: "a port's message", channel: ChannelUSBRedir, edit: after(s2c, MsgVMCData, down(MsgPortEvent, 1)), want: RuleUnknownOpcode},
	{name: "more data than sent", channel: ChannelSmartcard, edit: changed(s2c, MsgSmartcardData, with32(8, 3)), want: RuleMalformed},
	{name: "an undefined request", channel: ChannelSmartcard, edit: changed(c2s, MsgcSmartcardData, with32(0, 10)), want: RuleValue, by: c2s},
}

// Each fault is the first thing found, under its rule and laid to the right side.
func TestMachineFindsFaults(t *testing.T) {
	sessions := map[ChannelType]func() []step{
		ChannelMain: mainSession, ChannelDisplay: displaySession, ChannelInputs: inputsSession,
		ChannelCursor: cursorSession, ChannelPlayback: playbackSession, ChannelRecord: recordSession,
		ChannelPort: portSession, ChannelWebDAV: portSession, ChannelUSBRedir: usbSession,
		ChannelSmartcard: smartcardSession,
	}
	found := map[Rule]bool{RulePhase: true} // TestMachineOutsideItsPhase
	for channel, faults := range map[ChannelType][]fault{
		ChannelMain: mainFaults, ChannelDisplay: displayFaults, 0: otherFaults,
	} {
		for _, f := range faults {
			if channel != 0 {
				f.channel = channel
			}
			t.Run(f.channel.String()+"/"+f.name, func(t *testing.T) {
				m := linkedWith(MachineConfig{
					Channel: f.channel, SoleDisplay: true,
					Client: Caps{^f.client}, Server: Caps{^f.server},
				})
				got := run(m, f.edit(t, sessions[f.channel]()))
				if len(got) == 0 {
					t.Fatal("not found")
				}
				if got[0].Rule != f.want || got[0].Direction != f.by || got[0].Channel != f.channel {
					t.Errorf("found %v, want %v %v", got[0], f.by, f.want)
				}
			})
			found[f.want] = true
		}
	}
	for _, r := range Rules() {
		if !found[r] {
			t.Errorf("no fault breaks %v", r)
		}
	}
}

func TestMachineOutsideItsPhase(t *testing.T) {
	wantPhaseFinding := func(m *Machine) {
		t.Helper()
		got := down(MsgInputsInit, 0, 0).observe(m)
		if len(got) != 1 || got[0].Rule != RulePhase || got[0].Got != uint64(m.Phase()) {
			t.Errorf("in phase %v: %v", m.Phase(), got)
		}
	}
	m := NewMachine(MachineConfig{Channel: ChannelInputs})
	wantPhaseFinding(m)
	m.LinkDone()
	wantPhaseFinding(m)
	m.TicketDone()
	wantNoFindings(t, m, []step{down(MsgInputsInit, 0, 0)})
	m.Close()
	wantPhaseFinding(m)
}

// One fault is told once where it would recur with every message.
func TestMachineDoesNotRepeatItself(t *testing.T) {
	m := linked(ChannelCursor)
	steps := append([]step{setAck(1, 1)}, slices.Repeat([]step{down(MsgCursorHide)}, 20)...)
	var rules []Rule
	for _, f := range run(m, steps) {
		rules = append(rules, f.Rule)
	}
	if want := []Rule{RuleInitFirst, RuleWindow}; !slices.Equal(rules, want) {
		t.Errorf("found %v, want %v", rules, want)
	}
}
