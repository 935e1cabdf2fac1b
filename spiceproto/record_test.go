package spiceproto

import "testing"

var recordCodecs = []codec{
	codecOf(ChannelRecord, ServerToClient, MsgRecordStart, ParseRecordStart,
		RecordStart{Channels: 2, Format: AudioS16, Frequency: 44100},
		"6500 0a000000 02000000 0100 44ac0000"),
	codecOf(ChannelRecord, ServerToClient, MsgRecordVolume, ParseRecordVolume,
		RecordVolume{Volume: []uint16{1}}, "6700 03000000 01 0100"),
	codecOf(ChannelRecord, ServerToClient, MsgRecordMute, ParseRecordMute,
		RecordMute{Mute: 1}, "6800 01000000 01"),
	codecOf(ChannelRecord, ClientToServer, MsgcRecordData, ParseRecordData,
		RecordData{Time: 5, Data: []byte{1}}, "6500 05000000 05000000 01").openAfter(4),
	codecOf(ChannelRecord, ClientToServer, MsgcRecordMode, ParseRecordMode,
		RecordMode{Time: 5, Mode: AudioRaw}, "6600 06000000 05000000 0100").openAfter(6),
	codecOf(ChannelRecord, ClientToServer, MsgcRecordStartMark, ParseRecordStartMark,
		RecordStartMark{Time: 5}, "6700 04000000 05000000"),
}

func TestRecordMessages(t *testing.T) { testCodecs(t, recordCodecs) }
