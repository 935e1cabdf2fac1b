// Package pcap reads packets from capture files, in the pcap and the pcapng
// format, and puts the TCP connections in them together again.
//
// It is for captures that somebody else made and that may be cut off, damaged or
// hostile: what a file claims is never allocated before it is there, and bytes
// that are missing from a connection are told, not guessed.
package pcap

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// LinkType says what a packet begins with (tcpdump.org, LINKTYPE_ values).
type LinkType uint16

// The link types whose packets ParseSegment understands.
const (
	LinkNull     LinkType = 0 // BSD loopback
	LinkEthernet LinkType = 1
	LinkRaw      LinkType = 101 // IP version 4 or 6
	LinkLoop     LinkType = 108 // OpenBSD loopback
	LinkSLL      LinkType = 113 // Linux "any" device
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	LinkSLL2     LinkType = 276
)

// Packet is one captured packet.
type Packet struct {
	// Number counts from 1, as Wireshark's frame.number does.
	Number int
	// Time is zero if the file does not tell (simple packet blocks).
	Time time.Time
	Link LinkType
	// Data is what was captured, which may be less than the packet had. It is
	// valid until the next call.
	Data []byte
}

// ErrFormat is wrapped by errors about a file that is no capture, or a damaged
// one.
var ErrFormat = errors.New("not a pcap or pcapng file")

// maxBlock bounds one packet or pcapng block in bytes. The largest snapshot
// length in use is 256 KiB.
const maxBlock = 16 << 20

// Reader reads the packets of a file in order.
type Reader struct {
	in     *bufio.Reader
	order  binary.ByteOrder
	next   func() (Packet, error)
	number int
	buf    []byte

	classic    classicHeader
	interfaces []ngInterface
}

// NewReader reads the head of a file and tells its format from that.
func NewReader(r io.Reader) (*Reader, error) {
	p := &Reader{in: bufio.NewReader(r)}
	magic, err := p.in.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("read magic number: %w", incomplete(err))
	}
	if binary.LittleEndian.Uint32(magic) == blockSection {
		p.next = p.nextNG
		return p, nil
	}
	p.next = p.nextClassic
	if err := p.readClassicHeader(); err != nil {
		return nil, err
	}
	return p, nil
}

// Next returns the next packet, io.EOF behind the last, io.ErrUnexpectedEOF
// (wrapped) where the file is cut off, and ErrFormat (wrapped) where it makes no
// sense any more.
func (p *Reader) Next() (Packet, error) {
	packet, err := p.next()
	if err != nil {
		return Packet{}, err
	}
	p.number++
	packet.Number = p.number
	return packet, nil
}

// read returns the next n bytes, valid until the next call. The buffer grows
// with what is there, not with what was announced.
func (p *Reader) read(n int) ([]byte, error) {
	const step = 64 << 10
	if n > maxBlock {
		return nil, fmt.Errorf("%w: %d bytes announced, at most %d believed", ErrFormat, n, maxBlock)
	}
	for have := 0; have < n; {
		size := min(n, max(step, 2*have))
		if cap(p.buf) < size {
			p.buf = append(make([]byte, 0, size), p.buf[:have]...)
		}
		p.buf = p.buf[:size]
		m, err := io.ReadFull(p.in, p.buf[have:])
		if have+m < size {
			return nil, incomplete(err)
		}
		have = size
	}
	return p.buf[:n], nil
}

// incomplete tells the end of a file where more was expected.
func incomplete(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
