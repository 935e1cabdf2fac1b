package pcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// classicHeader is what the 24 bytes at the start of a pcap file say
// (pcap-savefile(5)): u32 magic, u16 major, u16 minor, 8 bytes unused, u32
// snapshot length, u32 link type and flags.
type classicHeader struct {
	link LinkType
	unit time.Duration // of the second part of a time stamp
}

const (
	classicHeaderSize = 24
	classicRecordSize = 16
	magicMicroseconds = 0xa1b2c3d4
	magicNanoseconds  = 0xa1b23c4d
)

func (p *Reader) readClassicHeader() error {
	b, err := p.read(classicHeaderSize)
	if err != nil {
		return fmt.Errorf("read pcap header: %w", err)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch order.Uint32(b) {
		case magicMicroseconds:
			p.classic.unit = time.Microsecond
		case magicNanoseconds:
			p.classic.unit = time.Nanosecond
		default:
			continue
		}
		p.order = order
		p.classic.link = LinkType(order.Uint32(b[20:]))
		return nil
	}
	return fmt.Errorf("%w: it begins with %x", ErrFormat, b[:4])
}

// nextClassic reads a record: u32 seconds, u32 microseconds or nanoseconds, u32
// captured length, u32 length, then the packet.
func (p *Reader) nextClassic() (Packet, error) {
	if _, err := p.in.Peek(1); errors.Is(err, io.EOF) {
		return Packet{}, io.EOF
	}
	b, err := p.read(classicRecordSize)
	if err != nil {
		return Packet{}, fmt.Errorf("read header of packet %d: %w", p.number+1, err)
	}
	seconds, fraction := p.order.Uint32(b), p.order.Uint32(b[4:])
	packet := Packet{
		Link: p.classic.link,
		Time: time.Unix(int64(seconds), int64(fraction)*int64(p.classic.unit)),
	}
	packet.Data, err = p.read(int(p.order.Uint32(b[8:])))
	if err != nil {
		return Packet{}, fmt.Errorf("read packet %d: %w", p.number+1, err)
	}
	return packet, nil
}
