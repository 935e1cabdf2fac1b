package spiceproto

import (
	"slices"
	"strconv"
)

// MaxCapWords bounds each of the two capability counts of a link message. The
// protocol has 4 common and 16 channel bits; spice-server accepts 1024 words,
// Kerbside's proxy 16.
const MaxCapWords = 16

// Caps are capability words as they stand on the wire: bit n is bit n%32 of
// word n/32. The nil Caps has no bit set.
type Caps []uint32

// Has reports whether capability bit is set. bit must not be negative.
func (c Caps) Has(bit int) bool {
	return bit/32 < len(c) && c[bit/32]&(1<<(bit%32)) != 0
}

// With returns a copy of c with bit set, longer than c when it has to be. bit
// must be below 32*MaxCapWords.
func (c Caps) With(bit int) Caps {
	out := make(Caps, max(len(c), bit/32+1))
	copy(out, c)
	out[bit/32] |= 1 << (bit % 32)
	return out
}

// Without returns a copy of c, of the same length, with bit cleared.
func (c Caps) Without(bit int) Caps {
	out := slices.Clone(c)
	if bit/32 < len(out) {
		out[bit/32] &^= 1 << (bit % 32)
	}
	return out
}

// Common capability bits (SPICE_COMMON_CAP_* in spice/protocol.h).
const (
	CapAuthSelection = 0
	CapAuthSpice     = 1
	CapAuthSASL      = 2
	CapMiniHeader    = 3
)

// Main channel capability bits.
const (
	CapMainSemiSeamlessMigrate  = 0
	CapMainNameAndUUID          = 1
	CapMainAgentConnectedTokens = 2
	CapMainSeamlessMigrate      = 3
)

// Display channel capability bits.
const (
	CapDisplaySizedStream     = 0
	CapDisplayMonitorsConfig  = 1
	CapDisplayComposite       = 2
	CapDisplayA8Surface       = 3
	CapDisplayStreamReport    = 4
	CapDisplayLZ4Compression  = 5
	CapDisplayPrefCompression = 6
	CapDisplayGLScanout       = 7
	CapDisplayMultiCodec      = 8
	CapDisplayCodecMJPEG      = 9
	CapDisplayCodecVP8        = 10
	CapDisplayCodecH264       = 11
	CapDisplayPrefVideoCodec  = 12
	CapDisplayCodecVP9        = 13
	CapDisplayCodecH265       = 14
	CapDisplayGLScanout2      = 15
)

// Capability bits of the remaining channels. CapVMC bits are those of usbredir,
// port and webdav.
const (
	CapInputsKeyScancode = 0

	CapPlaybackCELT    = 0
	CapPlaybackVolume  = 1
	CapPlaybackLatency = 2
	CapPlaybackOpus    = 3

	CapRecordCELT   = 0
	CapRecordVolume = 1
	CapRecordOpus   = 2

	CapVMCCompressLZ4 = 0
)

var commonCapNames = []string{"auth-selection", "auth-spice", "auth-sasl", "mini-header"}

var vmcCapNames = []string{"data-compress-lz4"}

var channelCapNames = [...][]string{
	ChannelMain: {
		"semi-seamless-migrate", "name-and-uuid", "agent-connected-tokens", "seamless-migrate",
	},
	ChannelDisplay: {
		"sized-stream", "monitors-config", "composite", "a8-surface", "stream-report",
		"lz4-compression", "pref-compression", "gl-scanout", "multi-codec", "codec-mjpeg",
		"codec-vp8", "codec-h264", "pref-video-codec-type", "codec-vp9", "codec-h265",
		"gl-scanout2",
	},
	ChannelInputs:   {"key-scancode"},
	ChannelPlayback: {"celt-0.5.1", "volume", "latency", "opus"},
	ChannelRecord:   {"celt-0.5.1", "volume", "opus"},
	ChannelUSBRedir: vmcCapNames,
	ChannelPort:     vmcCapNames,
	ChannelWebDAV:   vmcCapNames,
}

// CommonCapNames returns the names of the bits set in c, lowest first; a bit
// without a name is "bit-N".
func CommonCapNames(c Caps) []string { return capNames(c, commonCapNames) }

// ChannelCapNames does the same for the channel capabilities of t.
func ChannelCapNames(t ChannelType, c Caps) []string {
	if !t.Valid() {
		return capNames(c, nil)
	}
	return capNames(c, channelCapNames[t])
}

func capNames(c Caps, known []string) []string {
	var names []string
	for bit := range 32 * len(c) {
		switch {
		case !c.Has(bit):
		case bit < len(known):
			names = append(names, known[bit])
		default:
			names = append(names, "bit-"+strconv.Itoa(bit))
		}
	}
	return names
}

// serverCommonCaps is what spice-server offers on every channel without SASL.
const serverCommonCaps = 1<<CapAuthSelection | 1<<CapAuthSpice | 1<<CapMiniHeader

// serverChannelCaps is what spice-server 0.15.1 offers per channel, and
// Kerbside's proxy in its place. 0 means no word at all.
var serverChannelCaps = [...]uint32{
	ChannelMain: 1<<CapMainSemiSeamlessMigrate | 1<<CapMainNameAndUUID |
		1<<CapMainAgentConnectedTokens | 1<<CapMainSeamlessMigrate,
	ChannelDisplay: 1<<CapDisplayMonitorsConfig | 1<<CapDisplayStreamReport |
		1<<CapDisplayPrefCompression | 1<<CapDisplayPrefVideoCodec,
	ChannelInputs:   1 << CapInputsKeyScancode,
	ChannelPlayback: 1<<CapPlaybackVolume | 1<<CapPlaybackOpus,
	ChannelRecord:   1<<CapRecordVolume | 1<<CapRecordOpus,
	ChannelUSBRedir: 1 << CapVMCCompressLZ4,
	ChannelPort:     1 << CapVMCCompressLZ4,
	ChannelWebDAV:   1 << CapVMCCompressLZ4,
}

// ServerCaps returns the capabilities spice-server 0.15.1 advertises on a
// channel of type t, in fresh slices. channel is nil where the server sends no
// channel word.
func ServerCaps(t ChannelType) (common, channel Caps) {
	common = Caps{serverCommonCaps}
	if t.Valid() && serverChannelCaps[t] != 0 {
		channel = Caps{serverChannelCaps[t]}
	}
	return common, channel
}
