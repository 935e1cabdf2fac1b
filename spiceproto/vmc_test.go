package spiceproto

import (
	"testing"

	"pgregory.net/rapid"
)

var vmcCodecs = []codec{
	codecOf(ChannelUSBRedir, ServerToClient, MsgVMCData, ParseVMCData,
		VMCData{Data: []byte{0, 0x50}}, "6500 02000000 0050").openAfter(0),
	codecOf(ChannelUSBRedir, ServerToClient, MsgVMCCompressedData, ParseVMCCompressedData,
		VMCCompressedData{Type: VMCLZ4, UncompressedSize: 1000, Data: []byte{0x1f, 2}},
		"6600 07000000 01 e8030000 1f02").openAfter(5).drawn(drawCompressed),
	codecOf(ChannelUSBRedir, ServerToClient, MsgVMCCompressedData, ParseVMCCompressedData,
		VMCCompressedData{Data: []byte{0x1f, 2}}, "6600 03000000 00 1f02").
		openAfter(1).drawn(drawCompressed),
}

func drawCompressed(t *rapid.T) message {
	m := rapid.Make[VMCCompressedData]().Draw(t, "message")
	if m.Type == VMCUncompressed {
		m.UncompressedSize = 0
	}
	return m
}

func TestVMCMessages(t *testing.T) { testCodecs(t, vmcCodecs) }

func TestVMCCompressionString(t *testing.T) {
	for c, want := range map[VMCCompression]string{
		VMCUncompressed: "none", VMCLZ4: "lz4", 2: "compression-2",
	} {
		if c.String() != want {
			t.Errorf("%d: %q, want %q", c, c.String(), want)
		}
	}
}
