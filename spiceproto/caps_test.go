package spiceproto

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A Caps behaves as a set of bits whose changes are copies.
func TestCapsSet(t *testing.T) {
	bit := rapid.IntRange(0, 32*MaxCapWords-1)
	rapid.Check(t, func(t *rapid.T) {
		before := Caps(rapid.SliceOfN(rapid.Uint32(), 0, MaxCapWords).Draw(t, "caps"))
		kept := slices.Clone(before)
		changed, other := bit.Draw(t, "changed"), bit.Draw(t, "other")
		with, without := before.With(changed), before.Without(changed)
		if !with.Has(changed) || without.Has(changed) {
			t.Fatalf("with %v, without %v", with, without)
		}
		if other != changed &&
			(with.Has(other) != before.Has(other) || without.Has(other) != before.Has(other)) {
			t.Fatalf("bit %d changed, too", other)
		}
		if !slices.Equal(before, kept) {
			t.Fatalf("the original changed: %v, was %v", before, kept)
		}
	})
}

func TestCapNames(t *testing.T) {
	for _, c := range []struct{ got, want []string }{
		{CommonCapNames(nil), nil},
		{
			CommonCapNames(Caps{0x1000000f, 1}),
			[]string{"auth-selection", "auth-spice", "auth-sasl", "mini-header", "bit-28", "bit-32"},
		},
		{
			ChannelCapNames(ChannelDisplay, Caps{0x1052}),
			[]string{"monitors-config", "stream-report", "pref-compression", "pref-video-codec-type"},
		},
		{ChannelCapNames(ChannelCursor, Caps{1}), []string{"bit-0"}},
		{ChannelCapNames(99, Caps{2}), []string{"bit-1"}},
		{ChannelCapNames(ChannelWebDAV, Caps{1}), []string{"data-compress-lz4"}},
		{ChannelCapNames(ChannelRecord, Caps{6}), []string{"volume", "opus"}},
		{ChannelCapNames(ChannelPlayback, Caps{0xa}), []string{"volume", "opus"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestServerCaps(t *testing.T) {
	want := map[ChannelType]Caps{
		ChannelMain: {0x0f}, ChannelDisplay: {0x1052}, ChannelInputs: {1}, ChannelCursor: nil,
		ChannelPlayback: {0x0a}, ChannelRecord: {6}, ChannelTunnel: nil, ChannelSmartcard: nil,
		ChannelUSBRedir: {1}, ChannelPort: {1}, ChannelWebDAV: {1}, 99: nil,
	}
	for c, words := range want {
		common, channel := ServerCaps(c)
		if !slices.Equal(common, Caps{0x0b}) || !slices.Equal(channel, words) {
			t.Errorf("%v: common %x, channel %x", c, common, channel)
		}
	}
}
