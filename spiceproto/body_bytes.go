package spiceproto

// rest returns what is left of the body. It aliases the body, and an append to
// it does not run into what follows.
func (d *body) rest(field string) []byte { return d.bytes(field, len(d.b)-d.off) }

// bytes returns the next n bytes like rest.
func (d *body) bytes(field string, n int) []byte {
	p := d.take(field, n)
	return p[:len(p):len(p)]
}

// counted returns the next n bytes, n having come from the wire.
func (d *body) counted(field string, n uint32) []byte {
	return d.bytes(field, d.count(field, uint64(n), 1))
}

// pointer reads a u32 offset and returns the n bytes it points to, n having
// come from the wire. Nothing may be pointed to with offset 0, or at the end of
// the body: the server writes the first (spice_marshaller_flush).
func (d *body) pointer(field string, n uint32) []byte {
	at := d.off
	ptr := d.u32(field)
	if d.err != nil || n == 0 && ptr == 0 {
		return nil
	}
	end := uint64(ptr) + uint64(n)
	if ptr == 0 || end > uint64(len(d.b)) {
		d.fail(field, at, ErrPointer)
		return nil
	}
	return d.b[ptr:end:end]
}

// u16s returns the next n numbers, n having come from the wire.
func (d *body) u16s(field string, n uint32) []uint16 {
	all := make([]uint16, d.count(field, uint64(n), 2))
	for i := range all {
		all[i] = d.u16(field)
	}
	return all
}

// u32s returns the next n numbers, n having come from the wire.
func (d *body) u32s(field string, n uint32) []uint32 {
	all := make([]uint32, d.count(field, uint64(n), 4))
	for i := range all {
		all[i] = d.u32(field)
	}
	return all
}

// appendU32 appends header and body of a message of a single number.
func appendU32(b []byte, op uint16, v uint32) []byte {
	return le.AppendUint32(Header{op, 4}.Append(b), v)
}

// appendRest appends a message of nothing but data.
func appendRest(b []byte, op uint16, data []byte) []byte {
	return append(Header{op, uint32(len(data))}.Append(b), data...)
}

func appendU16s(b []byte, all []uint16) []byte {
	for _, v := range all {
		b = le.AppendUint16(b, v)
	}
	return b
}

func appendU32s(b []byte, all ...uint32) []byte {
	for _, v := range all {
		b = le.AppendUint32(b, v)
	}
	return b
}
