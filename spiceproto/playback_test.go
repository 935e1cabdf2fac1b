package spiceproto

import "testing"

var playbackCodecs = []codec{
	codecOf(ChannelPlayback, ServerToClient, MsgPlaybackData, ParsePlaybackData,
		PlaybackData{Time: 0x01020304, Data: []byte{9, 8}},
		"6500 06000000 04030201 0908").openAfter(4),
	codecOf(ChannelPlayback, ServerToClient, MsgPlaybackMode, ParsePlaybackMode,
		PlaybackMode{Time: 1, Mode: AudioOpus, Data: []byte{7}},
		"6600 07000000 01000000 0300 07").openAfter(6),
	codecOf(ChannelPlayback, ServerToClient, MsgPlaybackStart, ParsePlaybackStart,
		PlaybackStart{Channels: 2, Format: AudioS16, Frequency: 48000, Time: 7},
		"6700 0e000000 02000000 0100 80bb0000 07000000"),
	codecOf(ChannelPlayback, ServerToClient, MsgPlaybackVolume, ParsePlaybackVolume,
		PlaybackVolume{Volume: []uint16{0xffff, 0x8000}}, "6900 05000000 02 ffff 0080"),
	codecOf(ChannelPlayback, ServerToClient, MsgPlaybackMute, ParsePlaybackMute,
		PlaybackMute{Mute: 1}, "6a00 01000000 01"),
	codecOf(ChannelPlayback, ServerToClient, MsgPlaybackLatency, ParsePlaybackLatency,
		PlaybackLatency{Latency: 100}, "6b00 04000000 64000000"),
}

func TestPlaybackMessages(t *testing.T) { testCodecs(t, playbackCodecs) }

func TestAudioModeString(t *testing.T) {
	for m, want := range map[AudioMode]string{
		AudioRaw: "raw", AudioCELT: "celt", AudioOpus: "opus", 0: "audio-0",
	} {
		if m.String() != want {
			t.Errorf("%d: %q, want %q", m, m.String(), want)
		}
	}
}
