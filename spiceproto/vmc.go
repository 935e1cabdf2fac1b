package spiceproto

import "strconv"

// VMCData is a piece of the byte stream of a usbredir, port or webdav channel
// (MSG_SPICEVMC_DATA and MSGC_SPICEVMC_DATA, both 101).
type VMCData struct {
	// Data aliases the parsed body.
	Data []byte
}

// ParseVMCData takes the body of MsgVMCData or MsgcVMCData, whatever it holds.
func ParseVMCData(b []byte) (VMCData, error) {
	d := body{b: b, channel: ChannelUSBRedir, opcode: MsgVMCData}
	return VMCData{Data: d.rest("data")}, d.err
}

// Append appends header and body to b, for either direction.
func (m VMCData) Append(b []byte) []byte { return appendRest(b, MsgVMCData, m.Data) }

// VMCCompression is the compression of a VMCCompressedData
// (SPICE_DATA_COMPRESSION_TYPE_* in spice/enums.h).
type VMCCompression uint8

// The compressions.
const (
	VMCUncompressed VMCCompression = 0
	VMCLZ4          VMCCompression = 1
)

// String returns the compression's name, or "compression-N" for a number that
// has none.
func (c VMCCompression) String() string {
	switch c {
	case VMCUncompressed:
		return "none"
	case VMCLZ4:
		return "lz4"
	}
	return "compression-" + strconv.Itoa(int(c))
}

// VMCCompressedData is a compressed VMCData, for peers with CapVMCCompressLZ4
// (MSG_SPICEVMC_COMPRESSED_DATA and MSGC_SPICEVMC_COMPRESSED_DATA, both 102): u8
// type, u32 uncompressed_size unless type is VMCUncompressed, the data.
type VMCCompressedData struct {
	Type VMCCompression
	// UncompressedSize is in bytes, and whatever the peer says; 0 where the
	// message has none.
	UncompressedSize uint32
	// Data aliases the parsed body.
	Data []byte
}

// ParseVMCCompressedData decodes the body of MsgVMCCompressedData or
// MsgcVMCCompressedData. The error is a *DecodeError, which names usbredir and
// the first of the two.
func ParseVMCCompressedData(b []byte) (VMCCompressedData, error) {
	d := body{b: b, channel: ChannelUSBRedir, opcode: MsgVMCCompressedData}
	m := VMCCompressedData{Type: VMCCompression(d.u8("type"))}
	if m.Type != VMCUncompressed {
		m.UncompressedSize = d.u32("uncompressed_size")
	}
	m.Data = d.rest("compressed_data")
	return m, d.err
}

// Append appends header and body to b, for either direction.
func (m VMCCompressedData) Append(b []byte) []byte {
	size := uint32(1 + len(m.Data))
	if m.Type != VMCUncompressed {
		size += 4
	}
	b = append(Header{MsgVMCCompressedData, size}.Append(b), byte(m.Type))
	if m.Type != VMCUncompressed {
		b = le.AppendUint32(b, m.UncompressedSize)
	}
	return append(b, m.Data...)
}
