package spiceproto

import (
	"bytes"
	"testing"
)

var commonCodecs = []codec{
	codecOf(0, ServerToClient, MsgSetAck, ParseSetAck,
		SetAck{Generation: 1, Window: 20}, "0300 08000000 01000000 14000000"),
	codecOf(0, ClientToServer, MsgcAckSync, ParseAckSync,
		AckSync{Generation: 1}, "0100 04000000 01000000"),
	codecOf(0, ServerToClient, MsgPing, ParsePing,
		Ping{ID: 0x66334873, Timestamp: 0xf37e42ef24}, "0400 0c000000 73483366 24ef427ef3000000"),
	codecOf(0, ClientToServer, MsgcPong, ParsePong,
		Pong{ID: 0x66334873, Timestamp: 0xf37e42ef24}, "0300 0c000000 73483366 24ef427ef3000000"),
	codecOf(0, ServerToClient, MsgPing, ParsePaddedPing,
		PaddedPing{Ping{ID: 3, Timestamp: 0x3e155bf7}, []byte{0, 0, 0}},
		"0400 0f000000 03000000 f75b153e00000000 000000").openAfter(12),
	codecOf(0, ServerToClient, MsgMigrate, ParseMigrate,
		Migrate{Flags: MigrateNeedFlush | MigrateNeedDataTransfer}, "0100 04000000 03000000"),
	codecOf(0, ServerToClient, MsgMigrateData, ParseMigrateData,
		MigrateData{Data: []byte("DCMD")}, "0200 04000000 44434d44").openAfter(0),
	codecOf(0, ClientToServer, MsgcMigrateData, ParseClientMigrateData,
		ClientMigrateData{Data: []byte("DCMD")}, "0500 04000000 44434d44").openAfter(0),
	codecOf(0, ServerToClient, MsgWaitForChannels, ParseWaitForChannels,
		WaitForChannels{[]ChannelWait{{ChannelDisplay, 1, 0x1234}, {ChannelDisplay, 2, 7}}},
		"0500 15000000 02 02 01 3412000000000000 02 02 0700000000000000"),
	codecOf(0, ServerToClient, MsgDisconnecting, ParseDisconnecting,
		Disconnecting{TimeStamp: 0x0102, Reason: LinkErrPermissionDenied},
		"0600 0c000000 0201000000000000 07000000"),
	codecOf(0, ClientToServer, MsgcDisconnecting, ParseClientDisconnecting,
		ClientDisconnecting{TimeStamp: 0x0102, Reason: LinkErrError},
		"0600 0c000000 0201000000000000 01000000"),
	codecOf(0, ServerToClient, MsgNotify, ParseNotify,
		Notify{TimeStamp: 9, Severity: 1, Visibility: 2, What: 3, Message: "hi"},
		`0700 1b000000 0900000000000000 01000000 02000000 03000000
		 02000000 6869 00`).openAfter(26),
}

func TestCommonMessages(t *testing.T) { testCodecs(t, commonCodecs) }

func FuzzCommonMessages(f *testing.F) { fuzzCodecs(f, commonCodecs) }

func TestAppendAck(t *testing.T) {
	if got, want := AppendAck(nil), fromHex(t, "0200 00000000"); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// The count is one byte, and all it can say fits.
func TestMostWaits(t *testing.T) {
	m := WaitForChannels{Waits: make([]ChannelWait, 255)}
	got, err := ParseWaitForChannels(m.Append(nil)[MiniHeaderSize:])
	if err != nil || len(got.Waits) != 255 {
		t.Errorf("%d waits, %v", len(got.Waits), err)
	}
}

// spice-server's text ends with a NUL beyond its length; other servers' need not.
func TestNotifyWithoutNUL(t *testing.T) {
	body := Notify{Message: "text"}.Append(nil)[MiniHeaderSize:]
	m, err := ParseNotify(body[:len(body)-1])
	if err != nil || m.Message != "text" {
		t.Errorf("%+v, %v", m, err)
	}
}

// The relay handles these on the way of every display message.
func TestAckPathDoesNotAllocate(t *testing.T) {
	body := fromHex(t, "01000000 14000000 00000000")
	buf := make([]byte, 0, 64)
	allocs := testing.AllocsPerRun(100, func() {
		a, err := ParseSetAck(body)
		p, perr := ParsePing(body)
		if err != nil || perr != nil {
			panic("golden bodies rejected")
		}
		b := AckSync{a.Generation}.Append(buf)
		b = Pong(p).Append(b)
		AppendAck(b)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
