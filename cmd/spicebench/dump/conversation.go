package dump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"spicepacer/cmd/spicebench/dump/pcap"
	"spicepacer/spiceproto"
)

const (
	// linkHeader is the size of the header of both link messages; its last four
	// bytes are the size of what follows, at most maxLink (spice-wire 2.2).
	linkHeader = 16
	maxLink    = 4096
	// maxBody is the largest message that is waited for. Real ones have a few MiB.
	maxBody = 256 << 20
)

var magic = []byte("REDQ")

// step is what one side of a conversation sends next.
type step uint8

const (
	linkStep      step = iota // a link message, or its reply
	mechanismStep             // the client's u32
	ticketStep                // the client's 128 bytes
	resultStep                // the server's u32
	messagesStep
	deafStep // nothing that can be read
)

// conversation follows one connection through its link stage and its messages.
type conversation struct {
	out   Visit
	conn  *pcap.Conn
	sides [2]side // by direction
	link  spiceproto.LinkMess
	reply spiceproto.LinkReply
	// rules follows the channel's state once its ticket was accepted.
	rules *spiceproto.Machine
	// full: both sides use the header of 18 bytes.
	full bool
	// foreign: the connection speaks another protocol.
	foreign bool
}

// side is one direction of a conversation.
type side struct {
	step    step
	buf     []byte // what has come and is not complete
	ignored int64  // bytes that came after the direction went deaf
}

// errIncomplete means that more bytes have to come first.
var errIncomplete = errors.New("incomplete")

// data takes the next bytes of a direction.
func (c *conversation) data(d spiceproto.Direction, p pcap.Packet, b []byte) error {
	s := &c.sides[d]
	if s.step == deafStep || c.foreign {
		s.ignored += int64(len(b))
		return nil
	}
	s.add(b)
	// Each side may wait for what the other has to say first.
	for progress := true; progress; {
		progress = false
		for _, d := range [...]spiceproto.Direction{up, down} {
			moved, err := c.advance(d, p)
			if err != nil {
				return err
			}
			progress = progress || moved
		}
	}
	return nil
}

// add keeps b. Doubling bounds what growing costs.
func (s *side) add(b []byte) {
	if need := len(s.buf) + len(b); need > cap(s.buf) {
		s.buf = slices.Grow(s.buf, max(len(b), 2*cap(s.buf)-len(s.buf)))
	}
	s.buf = append(s.buf, b...)
}

// drop forgets the first n bytes.
func (s *side) drop(n int) {
	if n > 0 {
		s.buf = append(s.buf[:0], s.buf[n:]...)
	}
}

// advance reads as many parts of one direction as are complete.
func (c *conversation) advance(d spiceproto.Direction, p pcap.Packet) (moved bool, err error) {
	s := &c.sides[d]
	read := 0 // bytes of the buffer that are done with
	defer func() { s.drop(read) }()
	for len(s.buf) > read && s.step != deafStep && !c.foreign {
		n, err := c.next(d, p, s.buf[read:])
		switch {
		case errors.Is(err, errIncomplete):
			return moved, nil
		case err != nil:
			return moved, err
		}
		read += n
		moved = true
	}
	if s.step == deafStep || c.foreign {
		s.ignored += int64(len(s.buf) - read)
		read = len(s.buf)
	}
	return moved, nil
}

// next reads one part and returns its length.
func (c *conversation) next(d spiceproto.Direction, p pcap.Packet, b []byte) (int, error) {
	switch step := c.sides[d].step; step {
	case linkStep:
		return c.linkPart(d, p, b)
	case messagesStep:
		return c.message(d, p, b)
	default:
		return c.authPart(d, p, b, step)
	}
}

// linkPart reads the message that opens a direction.
func (c *conversation) linkPart(d spiceproto.Direction, p pcap.Packet, b []byte) (int, error) {
	if n := min(len(b), len(magic)); !bytes.Equal(b[:n], magic[:n]) {
		return 0, c.notSpice(d, p, b)
	}
	if len(b) < linkHeader {
		return 0, errIncomplete
	}
	size := linkHeader
	if body := binary.LittleEndian.Uint32(b[linkHeader-4:]); body <= maxLink {
		size += int(body) // of a larger one, the parser tells
	}
	if len(b) < size {
		return 0, errIncomplete
	}
	if d == up {
		return size, c.linkMess(p, b[:size])
	}
	return size, c.linkReply(p, b[:size])
}

// notSpice gives a connection up that does not begin as SPICE does. Only the
// client's bytes tell: what a server sends first without having been asked is
// another protocol, too.
func (c *conversation) notSpice(d spiceproto.Direction, p pcap.Packet, b []byte) error {
	c.foreign = true
	if d == down && c.sides[up].step != linkStep {
		return c.notice(p, d, "server's answer does not begin with %q; connection not decoded", magic)
	}
	if b[0] == 0x16 { // a TLS handshake record (RFC 8446, 5.1)
		return c.notice(p, d, "TLS, not decoded")
	}
	return nil
}

// linkFields is what a link line shows of either message.
type linkFields struct {
	ConnectionID *uint32
	Error        *spiceproto.LinkError
	CommonCaps   []string
	ChannelCaps  []string
}

func (c *conversation) linkMess(p pcap.Packet, b []byte) error {
	var err error
	if c.link, err = spiceproto.ReadLinkMess(bytes.NewReader(b)); err != nil {
		return c.deafen(up, p, "%v", err)
	}
	c.sides[up].step = mechanismStep
	return c.linkRecord(up, p, "LINK", len(b), linkFields{
		ConnectionID: &c.link.ConnectionID,
		CommonCaps:   spiceproto.CommonCapNames(c.link.Common),
		ChannelCaps:  spiceproto.ChannelCapNames(c.link.Type, c.link.Channel),
	})
}

func (c *conversation) linkReply(p pcap.Packet, b []byte) error {
	if c.sides[up].step == linkStep {
		return errIncomplete // the client's message comes first, whatever the capture's order
	}
	var err error
	if c.reply, err = spiceproto.ReadLinkReply(bytes.NewReader(b)); err != nil {
		return c.deafen(down, p, "%v", err)
	}
	s := &c.sides[down]
	s.step = resultStep
	if c.reply.Error != spiceproto.LinkOK {
		s.step, c.sides[up].step = deafStep, deafStep
	}
	c.full = !c.link.Common.Has(spiceproto.CapMiniHeader) || !c.reply.Common.Has(spiceproto.CapMiniHeader)
	return c.linkRecord(down, p, "LINK_REPLY", len(b), linkFields{
		Error:       &c.reply.Error,
		CommonCaps:  spiceproto.CommonCapNames(c.reply.Common),
		ChannelCaps: spiceproto.ChannelCapNames(c.link.Type, c.reply.Channel),
	})
}

// authPart reads what follows the link messages.
func (c *conversation) authPart(d spiceproto.Direction, p pcap.Packet, b []byte, step step) (int, error) {
	if c.sides[down].step == linkStep {
		return 0, errIncomplete // the reply says what comes
	}
	s := &c.sides[d]
	switch step {
	case mechanismStep:
		// Both have to know the choice, else the ticket follows at once.
		s.step = ticketStep
		if !c.link.Common.Has(spiceproto.CapAuthSelection) || !c.reply.Common.Has(spiceproto.CapAuthSelection) {
			return 0, nil
		}
		return c.mechanism(p, b)
	case ticketStep:
		if len(b) < spiceproto.TicketSize {
			return 0, errIncomplete
		}
		s.step = messagesStep
		return spiceproto.TicketSize, c.linkRecord(up, p, "TICKET", spiceproto.TicketSize, nil)
	}
	if len(b) < 4 {
		return 0, errIncomplete
	}
	result := spiceproto.LinkError(binary.LittleEndian.Uint32(b))
	s.step = messagesStep
	if result != spiceproto.LinkOK {
		s.step, c.sides[up].step = deafStep, deafStep
	}
	c.startRules()
	return 4, c.linkRecord(down, p, "LINK_RESULT", 4, linkFields{Error: &result})
}

func (c *conversation) mechanism(p pcap.Packet, b []byte) (int, error) {
	if len(b) < 4 {
		c.sides[up].step = mechanismStep
		return 0, errIncomplete
	}
	mechanism := binary.LittleEndian.Uint32(b)
	if err := c.linkRecord(up, p, "AUTH_MECHANISM", 4, map[string]any{"mechanism": mechanism}); err != nil {
		return 0, err
	}
	if mechanism != spiceproto.AuthMechanismSpice {
		c.foreign = true
		return 4, c.notice(p, up, "authentication mechanism %d; connection not decoded further", mechanism)
	}
	return 4, nil
}

// message reads a message of a direction.
func (c *conversation) message(d spiceproto.Direction, p pcap.Packet, b []byte) (int, error) {
	r := c.record(Message, p, d)
	h, ok := spiceproto.ParseHeader(b)
	r.Header = spiceproto.MiniHeaderSize
	if c.full {
		var full spiceproto.FullHeader
		full, ok = spiceproto.ParseFullHeader(b)
		h, r.Header = full.Mini(), spiceproto.FullHeaderSize
		r.Full = &FullHeader{Serial: full.Serial, SubList: full.SubList}
	}
	if !ok {
		return 0, errIncomplete
	}
	if h.Size > maxBody {
		return 0, c.deafen(d, p, "message type %d announces %d bytes; direction not decoded further", h.Type, h.Size)
	}
	end := r.Header + int(h.Size)
	if len(b) < end {
		return 0, errIncomplete
	}
	r.Opcode, r.Size, r.Body = h.Type, int(h.Size), b[r.Header:end]
	r.Name = spiceproto.MessageName(c.link.Type, d, h.Type)
	if r.Fields, r.Err = decode(c.link.Type, d, h.Type, r.Body); r.Err != nil {
		r.Fields = nil
	}
	return end, errors.Join(c.out(&r), c.findings(d, p, h, r.Body))
}

// startRules begins to follow the channel's state. Whether other displays share
// its image cache is not known here.
func (c *conversation) startRules() {
	c.rules = spiceproto.NewMachine(spiceproto.MachineConfig{
		Channel: c.link.Type, Client: c.link.Channel, Server: c.reply.Channel,
	})
	c.rules.LinkDone()
	c.rules.TicketDone()
}

// findings shows what the protocol does not admit of a message.
func (c *conversation) findings(d spiceproto.Direction, p pcap.Packet, h spiceproto.Header, body []byte) error {
	if c.rules == nil {
		return nil
	}
	for _, f := range c.rules.Observe(d, h, body[:min(len(body), spiceproto.HeadSize)]) {
		r := c.record(Finding, p, d)
		r.Name, r.Text = f.Rule.String(), f.String()
		if err := c.out(&r); err != nil {
			return err
		}
	}
	return nil
}

// lost ends a direction of which bytes are missing.
func (c *conversation) lost(d spiceproto.Direction, p pcap.Packet, n int) error {
	inside := len(c.sides[d].buf)
	if c.foreign {
		return nil
	}
	return c.deafen(d, p, "at least %d bytes were not captured, after %d bytes of an incomplete message; "+
		"direction not decoded further", n, inside)
}

// closed tells what was left over.
func (c *conversation) closed(p pcap.Packet) error {
	for _, d := range [...]spiceproto.Direction{down, up} {
		s := &c.sides[d]
		if n := len(s.buf); n > 0 && !c.foreign {
			if err := c.notice(p, d, "ends with %d bytes of an incomplete message", n); err != nil {
				return err
			}
		}
		if s.ignored > 0 && c.isSpice() {
			if err := c.notice(p, d, "%d bytes not decoded", s.ignored); err != nil {
				return err
			}
		}
	}
	return nil
}

// isSpice tells that the client said so.
func (c *conversation) isSpice() bool { return c.link.Type != 0 }

// deafen gives a direction up, and tells why.
func (c *conversation) deafen(d spiceproto.Direction, p pcap.Packet, format string, a ...any) error {
	s := &c.sides[d]
	s.step = deafStep
	return c.notice(p, d, format, a...)
}

func (c *conversation) linkRecord(d spiceproto.Direction, p pcap.Packet, name string, size int, fields any) error {
	r := c.record(Link, p, d)
	r.Name, r.Size, r.Fields = name, size, fields
	return c.out(&r)
}

func (c *conversation) notice(p pcap.Packet, d spiceproto.Direction, format string, a ...any) error {
	r := c.record(Notice, p, d)
	r.Text = fmt.Sprintf(format, a...)
	return c.out(&r)
}

func (c *conversation) record(k Kind, p pcap.Packet, d spiceproto.Direction) Record {
	return Record{
		Kind: k, Time: p.Time, Conn: c.conn.Index, Packet: p.Number, Direction: d,
		Channel: c.link.Type, ID: c.link.ID,
	}
}
