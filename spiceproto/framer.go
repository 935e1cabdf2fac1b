package spiceproto

// HeadSize is how many body bytes of each message a Framer keeps: enough for
// the fixed part of every draw with a clip list of up to three rectangles, and
// for the descriptor of its source image.
const HeadSize = 160

// Framer finds the message boundaries in one direction of a channel. It is fed
// whatever arrived, in pieces of any size, and cuts it into segments without
// copying or holding back a byte: only the header and the first HeadSize body
// bytes are kept, for inspection. It never allocates. The zero value is ready,
// at the start of a message, for mini headers.
type Framer struct {
	// Full: the messages have full headers. It is set before the first byte.
	Full bool

	raw       [FullHeaderSize]byte
	rawLen    uint8
	headLen   uint8
	inMessage bool
	remaining uint32
	header    FullHeader
	head      [HeadSize]byte
}

// Segment is a piece of the input that belongs to one message and ends no later
// than the next event of that message.
type Segment struct {
	// Bytes is the piece, header bytes included. It aliases the input.
	Bytes []byte
	// Start: Bytes begins with the first byte of a message.
	Start bool
	// HeaderDone: the last byte of Bytes completes the header, or the message
	// is empty. True in one segment of each message.
	HeaderDone bool
	// HeadDone: the last byte of Bytes completes the head, which is
	// min(HeadSize, size) body bytes. True in one segment of each message.
	HeadDone bool
	// End: the last byte of Bytes is the last of the message.
	End bool
}

// Next returns the segment at the start of p; the caller goes on with what
// follows it. A segment stops where the header, the head or the message becomes
// complete, so it has at least one byte if p has. An empty message is one
// segment, or the last of several, with HeaderDone, HeadDone and End all set.
func (f *Framer) Next(p []byte) Segment {
	switch {
	case len(p) == 0:
		return Segment{}
	case !f.inMessage:
		f.inMessage = true
		f.rawLen, f.headLen = 0, 0
		f.header, f.remaining = FullHeader{}, 0
		seg := f.nextHeader(p)
		seg.Start = true
		return seg
	case int(f.rawLen) < f.headerSize():
		return f.nextHeader(p)
	default:
		return f.nextBody(p)
	}
}

func (f *Framer) nextHeader(p []byte) Segment {
	n := copy(f.raw[f.rawLen:f.headerSize()], p)
	f.rawLen += uint8(n)
	seg := Segment{Bytes: p[:n]}
	if int(f.rawLen) < f.headerSize() {
		return seg
	}
	f.parseHeader()
	f.remaining = f.header.Size
	f.inMessage = f.remaining > 0
	seg.HeaderDone, seg.HeadDone, seg.End = true, !f.inMessage, !f.inMessage
	return seg
}

func (f *Framer) headerSize() int {
	if f.Full {
		return FullHeaderSize
	}
	return MiniHeaderSize
}

func (f *Framer) parseHeader() {
	if f.Full {
		f.header, _ = ParseFullHeader(f.raw[:])
		return
	}
	h, _ := ParseHeader(f.raw[:])
	f.header = FullHeader{Type: h.Type, Size: h.Size}
}

func (f *Framer) nextBody(p []byte) Segment {
	if uint64(len(p)) > uint64(f.remaining) {
		p = p[:f.remaining]
	}
	var seg Segment
	if want := f.headSize() - int(f.headLen); want > 0 {
		p = p[:min(len(p), want)]
		copy(f.head[f.headLen:], p)
		f.headLen += uint8(len(p))
		seg.HeadDone = len(p) == want
	}
	f.remaining -= uint32(len(p))
	f.inMessage = f.remaining > 0
	seg.Bytes, seg.End = p, !f.inMessage
	return seg
}

// headSize is how many body bytes of the current message the head takes.
func (f *Framer) headSize() int { return int(min(f.header.Size, HeadSize)) }

// Header returns the current message's header. It is zero until HeaderDone, and
// stays until the next message starts.
func (f *Framer) Header() Header { return f.header.Mini() }

// FullHeader returns all of the current message's header, like Header. Serial
// and SubList are 0 where the header is a mini one.
func (f *Framer) FullHeader() FullHeader { return f.header }

// RawHeader returns the bytes of the current message's header seen so far. It
// aliases the framer and is overwritten by the next message.
func (f *Framer) RawHeader() []byte { return f.raw[:f.rawLen] }

// Head returns the first body bytes of the current message seen so far, at most
// HeadSize. It aliases the framer and is overwritten by the next message.
func (f *Framer) Head() []byte { return f.head[:f.headLen] }

// Remaining returns how many body bytes of the current message are still to
// come; 0 while its header is incomplete.
func (f *Framer) Remaining() uint32 { return f.remaining }

// Missing returns how many bytes of the message under way are still to come, and
// whether its header is complete. If not, they are those of the header alone.
func (f *Framer) Missing() (bytes uint32, headerKnown bool) {
	if f.inMessage && int(f.rawLen) < f.headerSize() {
		return uint32(f.headerSize() - int(f.rawLen)), false
	}
	return f.remaining, true
}

// InMessage reports whether a message has begun and not ended.
func (f *Framer) InMessage() bool { return f.inMessage }
