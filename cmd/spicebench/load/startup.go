package load

import "spicepacer/spiceproto"

// kinds are the channels of a session, in the order in which a client opens them.
var kinds = []spiceproto.ChannelType{
	spiceproto.ChannelMain, spiceproto.ChannelDisplay, spiceproto.ChannelInputs,
	spiceproto.ChannelCursor, spiceproto.ChannelPlayback,
}

// windowSize is what spice-server chooses on a fast link.
const windowSize = 20

// greeting is what the hypervisor sends by itself after the link stage. It is as
// little as a client can begin with.
func greeting(kind spiceproto.ChannelType, session uint32) []byte {
	ack := spiceproto.SetAck{Generation: 1, Window: windowSize}
	switch kind {
	case spiceproto.ChannelMain:
		return spiceproto.MainInit{
			SessionID: session, DisplayChannelsHint: 1,
			SupportedMouseModes: spiceproto.MouseModeServer, CurrentMouseMode: spiceproto.MouseModeServer,
		}.Append(nil)
	case spiceproto.ChannelDisplay:
		return ack.Append(nil)
	case spiceproto.ChannelInputs:
		return spiceproto.InputsInit{}.Append(nil)
	case spiceproto.ChannelCursor:
		return spiceproto.CursorInit{Cursor: spiceproto.Cursor{Flags: spiceproto.CursorNone}}.Append(ack.Append(nil))
	case spiceproto.ChannelPlayback:
		return spiceproto.PlaybackMode{Mode: spiceproto.AudioRaw}.Append(nil)
	}
	return nil
}

// opening is what the client sends by itself.
func opening(kind spiceproto.ChannelType) []byte {
	switch kind {
	case spiceproto.ChannelMain:
		return spiceproto.AppendAttachChannels(nil)
	case spiceproto.ChannelDisplay:
		return spiceproto.DisplayInit{PixmapCacheID: 1, GLZDictionaryID: 1}.Append(nil)
	}
	return nil
}

// answer is what the hypervisor says to a client's message.
func answer(kind spiceproto.ChannelType, op uint16) []byte {
	switch {
	case kind == spiceproto.ChannelMain && op == spiceproto.MsgcMainAttachChannels:
		var list spiceproto.ChannelsList
		for _, k := range kinds[1:] {
			list.Channels = append(list.Channels, spiceproto.ChannelID{Type: k})
		}
		return list.Append(nil)
	case kind == spiceproto.ChannelDisplay && op == spiceproto.MsgcDisplayInit:
		surface := spiceproto.SurfaceCreate{Width: 1280, Height: 800, Format: 32, Flags: 1}
		return spiceproto.Header{Type: spiceproto.MsgDisplayMark}.Append(surface.Append(nil))
	}
	return nil
}

// lastOfStart is the hypervisor's message with which a channel is up.
var lastOfStart = map[spiceproto.ChannelType]uint16{
	spiceproto.ChannelMain:     spiceproto.MsgMainChannelsList,
	spiceproto.ChannelDisplay:  spiceproto.MsgDisplayMark,
	spiceproto.ChannelInputs:   spiceproto.MsgInputsInit,
	spiceproto.ChannelCursor:   spiceproto.MsgCursorInit,
	spiceproto.ChannelPlayback: spiceproto.MsgPlaybackMode,
}
