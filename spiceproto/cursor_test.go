package spiceproto

import (
	"testing"

	"pgregory.net/rapid"
)

var testCursor = Cursor{
	Flags: CursorCacheMe, Unique: 0x1122334455667788, Type: CursorAlpha, Width: 2, Height: 1,
	HotX: 1, HotY: 0, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8},
}

var cursorCodecs = []codec{
	codecOf(ChannelCursor, ServerToClient, MsgCursorInit, ParseCursorInit,
		CursorInit{
			X: -1, Y: 2, TrailLength: 3, TrailFrequency: 4, Visible: 1, Cursor: testCursor,
		},
		`6500 24000000 ffff 0200 0300 0400 01
		 0200 8877665544332211 00 0200 0100 0100 0000 0102030405060708`).
		openAfter(28).drawn(func(t *rapid.T) message {
		m := rapid.Make[CursorInit]().Draw(t, "message")
		m.Cursor = drawCursor(t)
		return m
	}),
	codecOf(ChannelCursor, ServerToClient, MsgCursorInit, ParseCursorInit,
		CursorInit{Visible: 1, Cursor: Cursor{Flags: CursorNone}},
		"6500 0b000000 0000 0000 0000 0000 01 0100").drawn(func(t *rapid.T) message {
		return CursorInit{Cursor: Cursor{Flags: CursorNone}}
	}),
	codecOf(ChannelCursor, ServerToClient, MsgCursorSet, ParseCursorSet,
		CursorSet{X: 5, Y: -6, Visible: 1, Cursor: testCursor},
		`6700 20000000 0500 faff 01
		 0200 8877665544332211 00 0200 0100 0100 0000 0102030405060708`).
		openAfter(24).drawn(func(t *rapid.T) message {
		m := rapid.Make[CursorSet]().Draw(t, "message")
		m.Cursor = drawCursor(t)
		return m
	}),
	codecOf(ChannelCursor, ServerToClient, MsgCursorMove, ParseCursorMove,
		CursorMove{X: 100, Y: -1}, "6800 04000000 6400 ffff"),
	codecOf(ChannelCursor, ServerToClient, MsgCursorTrail, ParseCursorTrail,
		CursorTrail{Length: 1, Frequency: 2}, "6a00 04000000 0100 0200"),
	codecOf(ChannelCursor, ServerToClient, MsgCursorInvalOne, ParseCursorInvalOne,
		CursorInvalOne{Unique: 3}, "6b00 08000000 0300000000000000"),
}

func drawCursor(t *rapid.T) Cursor {
	c := rapid.Make[Cursor]().Draw(t, "cursor")
	if c.Flags&CursorNone != 0 {
		return Cursor{Flags: c.Flags}
	}
	return c
}

func TestCursorMessages(t *testing.T) { testCodecs(t, cursorCodecs) }

func TestCursorTypeString(t *testing.T) {
	for c, want := range map[CursorType]string{
		CursorAlpha: "alpha", CursorColor32: "color32", 7: "cursor-7",
	} {
		if c.String() != want {
			t.Errorf("%d: %q, want %q", c, c.String(), want)
		}
	}
}
