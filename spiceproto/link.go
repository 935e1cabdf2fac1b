package spiceproto

import (
	"fmt"
	"io"
)

// Sizes of the link stage, in bytes (spice/protocol.h).
const (
	linkHeaderSize = 16
	linkMessSize   = 18
	linkReplySize  = 178
	// maxLinkSize bounds the size field of a link header (spice-server reds.cpp).
	maxLinkSize = 4096
)

// PubKeySize is the size of the DER public key in a LinkReply, in bytes.
const PubKeySize = 162

// VersionMajor and VersionMinor are the protocol version of every current peer.
// Only the major one is compared.
const (
	VersionMajor = 2
	VersionMinor = 2
)

var linkMagic = [4]byte{'R', 'E', 'D', 'Q'}

// LinkFormatError reports a link message that breaks the rules of the link
// stage. A failed or short read is not one: that is the reader's error, wrapped.
type LinkFormatError struct {
	// What says which rule was broken.
	What string
	// Reply is what a server answers in its LinkReply; LinkOK means that it
	// closes without an answer.
	Reply LinkError
}

// Error names the broken rule.
func (e *LinkFormatError) Error() string { return "spice link: " + e.What }

// Unwrap returns Reply, so that errors.Is finds the code; nil for LinkOK.
func (e *LinkFormatError) Unwrap() error {
	if e.Reply == LinkOK {
		return nil
	}
	return e.Reply
}

// LinkMess is the client's opening message (spice/protocol.h SpiceLinkMess):
//
//	 0 u32 connection_id
//	 4 u8  channel_type
//	 5 u8  channel_id
//	 6 u32 num_common_caps    in words
//	10 u32 num_channel_caps   in words
//	14 u32 caps_offset        from the start of LinkMess
type LinkMess struct {
	// ConnectionID is 0 for a new main link, else the session_id of MAIN_INIT.
	ConnectionID uint32
	Type         ChannelType
	ID           uint8
	// Common and Channel hold at most MaxCapWords words each.
	Common, Channel Caps
}

// Append appends the message with its link header to b.
func (m LinkMess) Append(b []byte) []byte {
	b = appendLinkHeader(b, linkMessSize, m.Common, m.Channel)
	b = le.AppendUint32(b, m.ConnectionID)
	b = append(b, byte(m.Type), m.ID)
	return appendCaps(b, linkMessSize, m.Common, m.Channel)
}

// ReadLinkMess reads a client's link message from r, not one byte beyond it.
// The channel type is not checked. A message against the rules gives a
// *LinkFormatError; bytes after the capability words are skipped.
func ReadLinkMess(r io.Reader) (LinkMess, error) {
	b, err := readLinkBody(r, linkMessSize)
	if err != nil {
		return LinkMess{}, fmt.Errorf("read link message: %w", err)
	}
	m := LinkMess{ConnectionID: le.Uint32(b), Type: ChannelType(b[4]), ID: b[5]}
	if m.Common, m.Channel, err = parseCaps(b, linkMessSize); err != nil {
		return LinkMess{}, fmt.Errorf("read link message: %w", err)
	}
	return m, nil
}

// LinkReply is the server's answer (spice/protocol.h SpiceLinkReply):
//
//	  0 u32   error
//	  4 162 B pub_key           DER SubjectPublicKeyInfo
//	166 u32   num_common_caps   in words
//	170 u32   num_channel_caps  in words
//	174 u32   caps_offset       from the start of LinkReply
type LinkReply struct {
	Error LinkError
	// PubKey is the server's fresh RSA key; all zero in an error reply.
	PubKey [PubKeySize]byte
	// Common and Channel hold at most MaxCapWords words each.
	Common, Channel Caps
}

// Append appends the reply with its link header to b. An error reply, which has
// no capabilities, takes 194 bytes, all zero behind the code.
func (m LinkReply) Append(b []byte) []byte {
	b = appendLinkHeader(b, linkReplySize, m.Common, m.Channel)
	b = le.AppendUint32(b, uint32(m.Error))
	b = append(b, m.PubKey[:]...)
	offset := uint32(linkReplySize)
	if len(m.Common)+len(m.Channel) == 0 {
		offset = 0
	}
	return appendCaps(b, offset, m.Common, m.Channel)
}

// ReadLinkReply reads a server's link reply from r, not one byte beyond it. A
// reply that carries an error code is returned as it is, with a nil error.
func ReadLinkReply(r io.Reader) (LinkReply, error) {
	b, err := readLinkBody(r, linkReplySize)
	if err != nil {
		return LinkReply{}, fmt.Errorf("read link reply: %w", err)
	}
	m := LinkReply{Error: LinkError(le.Uint32(b)), PubKey: [PubKeySize]byte(b[4:166])}
	if m.Common, m.Channel, err = parseCaps(b, linkReplySize); err != nil {
		return LinkReply{}, fmt.Errorf("read link reply: %w", err)
	}
	return m, nil
}

// appendLinkHeader appends the 16 bytes that precede a link body whose fixed
// part is fixed bytes long.
func appendLinkHeader(b []byte, fixed int, common, channel Caps) []byte {
	b = append(b, linkMagic[:]...)
	b = le.AppendUint32(b, VersionMajor)
	b = le.AppendUint32(b, VersionMinor)
	return le.AppendUint32(b, uint32(fixed+4*(len(common)+len(channel))))
}

// appendCaps appends the two counts, the offset and the words.
func appendCaps(b []byte, offset uint32, common, channel Caps) []byte {
	b = le.AppendUint32(b, uint32(len(common)))
	b = le.AppendUint32(b, uint32(len(channel)))
	b = le.AppendUint32(b, offset)
	for _, w := range common {
		b = le.AppendUint32(b, w)
	}
	for _, w := range channel {
		b = le.AppendUint32(b, w)
	}
	return b
}

// readLinkBody reads a link header and the body it announces, which is at least
// fixed bytes long. The magic is judged before more is waited for: a peer that
// speaks another protocol may send less than a header.
func readLinkBody(r io.Reader, fixed uint32) ([]byte, error) {
	var h [linkHeaderSize]byte
	if _, err := io.ReadFull(r, h[:4]); err != nil {
		return nil, err
	}
	if [4]byte(h[:4]) != linkMagic {
		return nil, &LinkFormatError{fmt.Sprintf("magic %q", h[:4]), LinkErrInvalidMagic}
	}
	if _, err := io.ReadFull(r, h[4:]); err != nil {
		return nil, unexpectedEOF(err)
	}
	size, err := checkLinkHeader(&h, fixed)
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, unexpectedEOF(err)
	}
	return b, nil
}

// checkLinkHeader returns the body size. Order and answers are spice-server's
// (reds.cpp, reds_handle_read_header_done).
func checkLinkHeader(h *[linkHeaderSize]byte, fixed uint32) (uint32, error) {
	major, size := le.Uint32(h[4:]), le.Uint32(h[12:])
	switch {
	case major == 0:
		return 0, &LinkFormatError{"major version 0", LinkOK}
	case major != VersionMajor:
		return 0, &LinkFormatError{fmt.Sprintf("major version %d", major), LinkErrVersionMismatch}
	case size < fixed || size > maxLinkSize:
		return 0, &LinkFormatError{
			fmt.Sprintf("size %d outside %d..%d", size, fixed, maxLinkSize), LinkErrInvalidData,
		}
	}
	return size, nil
}

// parseCaps reads the counts and the offset, which are the last 12 bytes of the
// fixed part, and the words they announce.
func parseCaps(b []byte, fixed int) (common, channel Caps, err error) {
	nCommon, nChannel := le.Uint32(b[fixed-12:]), le.Uint32(b[fixed-8:])
	offset := le.Uint32(b[fixed-4:])
	if nCommon > MaxCapWords || nChannel > MaxCapWords {
		return nil, nil, &LinkFormatError{
			fmt.Sprintf("%d common and %d channel capability words, at most %d allowed",
				nCommon, nChannel, MaxCapWords), LinkErrInvalidData,
		}
	}
	n := int64(nCommon + nChannel)
	if n == 0 {
		return nil, nil, nil
	}
	if int64(offset) < int64(fixed) || int64(offset)+4*n > int64(len(b)) {
		return nil, nil, &LinkFormatError{
			fmt.Sprintf("%d capability words at offset %d of %d bytes", n, offset, len(b)),
			LinkErrInvalidData,
		}
	}
	words := b[offset:]
	return capWords(words, nCommon), capWords(words[4*nCommon:], nChannel), nil
}

func capWords(b []byte, n uint32) Caps {
	if n == 0 {
		return nil
	}
	c := make(Caps, n)
	for i := range c {
		c[i] = le.Uint32(b[4*i:])
	}
	return c
}

// ReadAuthMechanism reads the u32 a client sends after the LinkReply when it
// advertised CapAuthSelection.
func ReadAuthMechanism(r io.Reader) (uint32, error) {
	m, err := readU32(r)
	if err != nil {
		return 0, fmt.Errorf("read auth mechanism: %w", err)
	}
	return m, nil
}

// AppendAuthMechanism appends the mechanism choice to b.
func AppendAuthMechanism(b []byte, m uint32) []byte { return le.AppendUint32(b, m) }

// ReadLinkResult reads the server's verdict, the last bytes of the link stage.
// A refusal is a value, not an error.
func ReadLinkResult(r io.Reader) (LinkError, error) {
	e, err := readU32(r)
	if err != nil {
		return 0, fmt.Errorf("read link result: %w", err)
	}
	return LinkError(e), nil
}

// AppendLinkResult appends the verdict to b.
func AppendLinkResult(b []byte, e LinkError) []byte { return le.AppendUint32(b, uint32(e)) }

func readU32(r io.Reader) (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	return le.Uint32(b[:]), nil
}

// unexpectedEOF keeps io.EOF for a peer that closed before its first byte.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
