package spiceproto

// MiniHeaderSize is the size of the data header both peers use once
// CapMiniHeader was advertised on both sides.
const MiniHeaderSize = 6

// FullHeaderSize is the size of the data header peers use without
// CapMiniHeader.
const FullHeaderSize = 18

// Header is the mini data header: u16 type at 0, u32 size at 2.
type Header struct {
	Type uint16
	// Size counts the body bytes that follow the header. The wire sets no
	// maximum.
	Size uint32
}

// Append appends the six header bytes to b.
func (h Header) Append(b []byte) []byte {
	b = le.AppendUint16(b, h.Type)
	return le.AppendUint32(b, h.Size)
}

// ParseHeader decodes the header at the start of b; false when b is shorter
// than MiniHeaderSize.
func ParseHeader(b []byte) (Header, bool) {
	if len(b) < MiniHeaderSize {
		return Header{}, false
	}
	return Header{Type: le.Uint16(b), Size: le.Uint32(b[2:])}, true
}

// FullHeader is the data header without CapMiniHeader (SpiceDataHeader in
// spice/protocol.h): u64 serial at 0, u16 type at 8, u32 size at 10, u32
// sub_list at 14.
type FullHeader struct {
	// Serial numbers the messages of one direction. The first is 1; the server
	// may leave numbers out.
	Serial uint64
	Type   uint16
	// Size counts the body bytes that follow the header.
	Size uint32
	// SubList is where in the body the list of sub-messages begins, for
	// ParseSubList; 0 when there is none.
	SubList uint32
}

// Mini returns what of h a mini header tells.
func (h FullHeader) Mini() Header { return Header{Type: h.Type, Size: h.Size} }

// Append appends the 18 header bytes to b.
func (h FullHeader) Append(b []byte) []byte {
	b = le.AppendUint64(b, h.Serial)
	b = h.Mini().Append(b)
	return le.AppendUint32(b, h.SubList)
}

// ParseFullHeader decodes the header at the start of b; false when b is shorter
// than FullHeaderSize.
func ParseFullHeader(b []byte) (FullHeader, bool) {
	if len(b) < FullHeaderSize {
		return FullHeader{}, false
	}
	return FullHeader{
		Serial: le.Uint64(b), Type: le.Uint16(b[8:]), Size: le.Uint32(b[10:]),
		SubList: le.Uint32(b[14:]),
	}, true
}
