package pcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"
)

// Block types of pcapng (draft-ietf-opsawg-pcapng, section 4). The section's is
// the same in both byte orders.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockObsolete  = 2
	blockSimple    = 3
	blockEnhanced  = 6
)

const byteOrderMagic = 0x1a2b3c4d

// maxInterfaces bounds the interfaces of a section.
const maxInterfaces = 1024

// ngInterface is what an interface description says.
type ngInterface struct {
	link    LinkType
	snaplen uint32 // 0: no limit
	// perSecond is how many units of its time stamps make a second.
	perSecond uint64
	offset    int64 // seconds added to them
}

// Options of an interface description.
const (
	optionEnd        = 0
	optionResolution = 9
	optionOffset     = 14
)

// nextNG reads blocks up to the next one with a packet.
func (p *Reader) nextNG() (Packet, error) {
	for {
		if _, err := p.in.Peek(1); errors.Is(err, io.EOF) {
			return Packet{}, io.EOF
		}
		packet, found, err := p.nextBlock()
		if err != nil {
			return Packet{}, fmt.Errorf("read pcapng block after packet %d: %w", p.number, err)
		}
		if found {
			return packet, nil
		}
	}
}

// nextBlock reads a block: u32 type, u32 total length, body, u32 total length.
func (p *Reader) nextBlock() (packet Packet, found bool, err error) {
	head, err := p.in.Peek(12)
	if err != nil {
		return packet, false, incomplete(err)
	}
	if binary.LittleEndian.Uint32(head) == blockSection {
		if err := p.beginSection(head[8:]); err != nil {
			return packet, false, err
		}
	}
	if p.order == nil {
		return packet, false, fmt.Errorf("%w: no section header", ErrFormat)
	}
	kind, size := p.order.Uint32(head), p.order.Uint32(head[4:])
	if size < 12 || size%4 != 0 {
		return packet, false, fmt.Errorf("%w: block of %d bytes", ErrFormat, size)
	}
	block, err := p.read(int(size))
	if err != nil {
		return packet, false, err
	}
	body := ngBody{order: p.order, b: block[8 : size-4]}
	switch kind {
	case blockInterface:
		return packet, false, p.describeInterface(body)
	case blockEnhanced:
		packet, err = p.timed(&body, body.u32())
	case blockObsolete:
		at := uint32(body.u16())
		body.u16() // drops
		packet, err = p.timed(&body, at)
	case blockSimple:
		packet, err = p.simple(&body)
	default:
		return packet, false, nil
	}
	return packet, err == nil, err
}

// beginSection takes the byte order of a section; its interfaces are its own.
func (p *Reader) beginSection(magic []byte) error {
	switch {
	case binary.LittleEndian.Uint32(magic) == byteOrderMagic:
		p.order = binary.LittleEndian
	case binary.BigEndian.Uint32(magic) == byteOrderMagic:
		p.order = binary.BigEndian
	default:
		return fmt.Errorf("%w: byte order %x", ErrFormat, magic)
	}
	p.interfaces = p.interfaces[:0]
	return nil
}

// ngBody reads fields in order; those that are not there are zero, and short
// tells that.
type ngBody struct {
	order binary.ByteOrder
	b     []byte
	short bool
}

func (d *ngBody) take(n int) []byte {
	if len(d.b) < n {
		d.short = true
		return make([]byte, n)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *ngBody) u16() uint16 { return d.order.Uint16(d.take(2)) }
func (d *ngBody) u32() uint32 { return d.order.Uint32(d.take(4)) }

// describeInterface reads u16 link type, u16 reserved, u32 snapshot length and
// options.
func (p *Reader) describeInterface(d ngBody) error {
	if len(p.interfaces) == maxInterfaces {
		return fmt.Errorf("%w: more than %d interfaces", ErrFormat, maxInterfaces)
	}
	if len(d.b) < 8 {
		return fmt.Errorf("%w: interface description of %d bytes", ErrFormat, len(d.b))
	}
	i := ngInterface{link: LinkType(d.order.Uint16(d.b)), snaplen: d.order.Uint32(d.b[4:]), perSecond: 1e6}
	for o := d.b[8:]; len(o) >= 4; {
		code, size := d.order.Uint16(o), int(d.order.Uint16(o[2:]))
		if code == optionEnd || len(o) < 4+size {
			break
		}
		value := o[4 : 4+size]
		switch {
		case code == optionResolution && size == 1:
			i.perSecond = perSecond(value[0])
		case code == optionOffset && size == 8:
			i.offset = int64(d.order.Uint64(value))
		}
		o = o[min(len(o), 4+(size+3)/4*4):]
	}
	p.interfaces = append(p.interfaces, i)
	return nil
}

// perSecond decodes if_tsresol: a negative power of 10, or of 2 if the highest
// bit is set. What a u64 cannot hold is taken as microseconds.
func perSecond(resolution byte) uint64 {
	n := int(resolution & 0x7f)
	if resolution&0x80 != 0 {
		if n < 64 {
			return 1 << n
		}
		return 1e6
	}
	per := uint64(1)
	for range n {
		high, low := bits.Mul64(per, 10)
		if high != 0 {
			return 1e6
		}
		per = low
	}
	return per
}

// timed reads what follows the interface in an enhanced packet block and in its
// predecessor: u32 and u32 time, u32 captured length, u32 length, the packet.
func (p *Reader) timed(d *ngBody, at uint32) (Packet, error) {
	if uint64(at) >= uint64(len(p.interfaces)) {
		return Packet{}, fmt.Errorf("%w: interface %d of %d", ErrFormat, at, len(p.interfaces))
	}
	i := p.interfaces[at]
	high, low := d.u32(), d.u32()
	captured := d.u32()
	d.u32()
	data, err := d.packet(captured)
	return Packet{Time: i.time(uint64(high)<<32 | uint64(low)), Link: i.link, Data: data}, err
}

// packet returns the captured bytes, which padding follows.
func (d *ngBody) packet(captured uint32) ([]byte, error) {
	if d.short || uint64(captured) > uint64(len(d.b)) {
		return nil, fmt.Errorf("%w: packet of %d bytes in a block with %d", ErrFormat, captured, len(d.b))
	}
	return d.b[:captured], nil
}

// time converts a time stamp.
func (i ngInterface) time(stamp uint64) time.Time {
	high, low := bits.Mul64(stamp%i.perSecond, uint64(time.Second))
	nanoseconds, _ := bits.Div64(high, low, i.perSecond)
	return time.Unix(int64(stamp/i.perSecond)+i.offset, int64(nanoseconds))
}

// simple reads u32 length, then as much of the packet as the first interface's
// snapshot length allows.
func (p *Reader) simple(d *ngBody) (Packet, error) {
	if len(p.interfaces) == 0 {
		return Packet{}, fmt.Errorf("%w: packet without an interface", ErrFormat)
	}
	captured := d.u32()
	if s := p.interfaces[0].snaplen; s > 0 {
		captured = min(captured, s)
	}
	data, err := d.packet(captured)
	return Packet{Link: p.interfaces[0].link, Data: data}, err
}
