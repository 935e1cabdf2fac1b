package spiceproto

import "encoding/binary"

var le = binary.LittleEndian

// body reads the fields of one message in wire order. The first field that does
// not fit is remembered in err, and every later read yields zero, so a parser
// checks once, at its end.
type body struct {
	b         []byte
	off       int
	channel   ChannelType
	direction Direction
	opcode    uint16
	err       error
}

// fail records the reason for the field at off, unless an earlier field failed.
func (d *body) fail(field string, off int, reason error) {
	if d.err != nil {
		return
	}
	d.err = &DecodeError{
		Channel: d.channel, Direction: d.direction, Opcode: d.opcode,
		Field: field, Offset: off, Err: reason,
	}
}

// take returns the next n bytes, or nil when they are not there.
func (d *body) take(field string, n int) []byte {
	if d.err != nil {
		return nil
	}
	if len(d.b)-d.off < n {
		d.fail(field, d.off, ErrTruncated)
		return nil
	}
	p := d.b[d.off : d.off+n]
	d.off += n
	return p
}

func (d *body) u8(field string) uint8 {
	if p := d.take(field, 1); p != nil {
		return p[0]
	}
	return 0
}

func (d *body) u16(field string) uint16 {
	if p := d.take(field, 2); p != nil {
		return le.Uint16(p)
	}
	return 0
}

func (d *body) u32(field string) uint32 {
	if p := d.take(field, 4); p != nil {
		return le.Uint32(p)
	}
	return 0
}

func (d *body) u64(field string) uint64 {
	if p := d.take(field, 8); p != nil {
		return le.Uint64(p)
	}
	return 0
}

func (d *body) i32(field string) int32 { return int32(d.u32(field)) }

// count reads nothing: it checks a count already read against the bytes left,
// so that a parser never allocates for elements that are not there.
func (d *body) count(field string, n uint64, elemSize int) int {
	if d.err == nil && n > uint64((len(d.b)-d.off)/elemSize) {
		d.fail(field, d.off, ErrCount)
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}
