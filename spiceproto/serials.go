package spiceproto

// Serials numbers the messages that one sender writes with full headers. The
// zero value begins with 1, as both peers do.
type Serials struct{ last uint64 }

// Stamp gives the message whose full header begins p the next serial. p has at
// least FullHeaderSize bytes.
func (s *Serials) Stamp(p []byte) {
	s.last++
	le.PutUint64(p, s.last)
}

// Append appends to b the messages in p, which are whole and have mini headers,
// with full headers in their place. They get the next serials and no
// sub-messages.
func (s *Serials) Append(b, p []byte) []byte {
	for len(p) >= MiniHeaderSize {
		h, _ := ParseHeader(p)
		end := int(min(MiniHeaderSize+uint64(h.Size), uint64(len(p))))
		s.last++
		b = FullHeader{Serial: s.last, Type: h.Type, Size: h.Size}.Append(b)
		b = append(b, p[MiniHeaderSize:end]...)
		p = p[end:]
	}
	return b
}
