package spiceproto

import "testing"

func TestMessageName(t *testing.T) {
	for _, c := range []struct {
		channel   ChannelType
		direction Direction
		op        uint16
		want      string
	}{
		{ChannelDisplay, ServerToClient, 3, "SET_ACK"},
		{ChannelDisplay, ClientToServer, 3, "PONG"},
		{ChannelDisplay, ServerToClient, 304, "DRAW_COPY"},
		{ChannelDisplay, ServerToClient, 323, "GL_SCANOUT2_UNIX"},
		{ChannelDisplay, ClientToServer, 103, "PREFERRED_COMPRESSION"},
		{ChannelMain, ServerToClient, 118, "MIGRATE_DST_SEAMLESS_NACK"},
		{ChannelMain, ClientToServer, 104, "ATTACH_CHANNELS"},
		{ChannelInputs, ClientToServer, 111, "MOUSE_MOTION"},
		{ChannelCursor, ServerToClient, 104, "MOVE"},
		{ChannelCursor, ClientToServer, 104, UnknownMessage},
		{ChannelPlayback, ServerToClient, 107, "LATENCY"},
		{ChannelRecord, ClientToServer, 103, "START_MARK"},
		{ChannelSmartcard, ClientToServer, 101, "DATA"},
		{ChannelUSBRedir, ServerToClient, 201, UnknownMessage},
		{ChannelPort, ServerToClient, 202, "EVENT"},
		{ChannelWebDAV, ClientToServer, 201, "EVENT"},
		{ChannelTunnel, ServerToClient, 101, UnknownMessage},
		{0, ClientToServer, 2, "ACK"},
		{0, ClientToServer, 101, UnknownMessage},
		{200, ServerToClient, 4, "PING"},
		{200, ServerToClient, 101, UnknownMessage},
		{ChannelMain, 2, 3, UnknownMessage},
	} {
		if got := MessageName(c.channel, c.direction, c.op); got != c.want {
			t.Errorf("%v %v %d: %q, want %q", c.channel, c.direction, c.op, got, c.want)
		}
	}
}
