package spiceproto

// MiniHeaderSize is the size of the data header both peers use once
// CapMiniHeader was advertised on both sides.
const MiniHeaderSize = 6

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
