package spiceproto

// displayBody reads a display message that may hold pointers. A pointer is a u32
// offset from the first body byte; targets may lie anywhere, in any order, and
// share bytes, so what a message may make its parser allocate is counted.
type displayBody struct {
	body
	// granted is how many bytes of slices the parser was told it may make.
	granted uint64
}

// displayBudget bounds the slices of one message, in multiples of its size.
// Glyphs take the most memory for their bytes on the wire, 48 for 20, so no
// message whose targets do not overlap comes near it.
const displayBudget = 3

func serverDisplayBody(op uint16, b []byte) *displayBody {
	return &displayBody{body: body{
		b: b, channel: ChannelDisplay, direction: ServerToClient, opcode: op,
	}}
}

func clientDisplayBody(op uint16, b []byte) *displayBody {
	return &displayBody{body: body{
		b: b, channel: ChannelDisplay, direction: ClientToServer, opcode: op,
	}}
}

// elements is count for elements that take memory bytes each once decoded.
func (d *displayBody) elements(field string, n uint64, wireSize, memory int) int {
	if d.count(field, n, wireSize) == 0 {
		return 0
	}
	d.granted += n * uint64(memory)
	if d.granted > displayBudget*uint64(len(d.b)) {
		d.fail(field, d.off, ErrCount)
		return 0
	}
	return int(n)
}

// data returns the next n bytes without copying them; an append to them does not
// run into what follows.
func (d *displayBody) data(field string, n uint64) []byte {
	p := d.take(field, d.count(field, n, 1))
	return p[:len(p):len(p)]
}

// nullable says whether a pointer may be 0.
type nullable bool

// target reads a pointer, then what it points to, and goes on behind the
// pointer. It returns nil for a null pointer.
func target[T any](d *displayBody, field string, null nullable, read func(*displayBody) T) *T {
	at := d.off
	ptr := d.u32(field)
	switch {
	case d.err != nil, ptr == 0 && bool(null):
		return nil
	case ptr == 0 || uint64(ptr) >= uint64(len(d.b)):
		d.fail(field, at, ErrPointer)
		return nil
	}
	back := d.off
	d.off = int(ptr)
	v := read(d)
	d.off = back
	return &v
}

// composer builds a display message. The targets of its pointers follow the
// fixed part in the order in which the pointers were written, as spice-server's
// marshaller lays them out: source image with payload, mask, then palettes.
type composer struct {
	b       []byte
	body    int
	targets []composerTarget
}

type composerTarget struct {
	pointer int
	write   func(*composer)
}

// compose appends header and body of one message to b.
func compose(b []byte, op uint16, write func(*composer)) []byte {
	start := len(b)
	c := composer{b: Header{Type: op}.Append(b), body: start + MiniHeaderSize}
	write(&c)
	for i := 0; i < len(c.targets); i++ {
		t := c.targets[i]
		le.PutUint32(c.b[t.pointer:], uint32(len(c.b)-c.body))
		t.write(&c)
	}
	le.PutUint32(c.b[start+2:], uint32(len(c.b)-c.body))
	return c.b
}

// pointer writes a pointer to what write will append.
func (c *composer) pointer(write func(*composer)) {
	c.targets = append(c.targets, composerTarget{len(c.b), write})
	c.u32(0)
}

func (c *composer) u8(v uint8)     { c.b = append(c.b, v) }
func (c *composer) u16(v uint16)   { c.b = le.AppendUint16(c.b, v) }
func (c *composer) u64(v uint64)   { c.b = le.AppendUint64(c.b, v) }
func (c *composer) bytes(p []byte) { c.b = append(c.b, p...) }

func (c *composer) u32(values ...uint32) {
	for _, v := range values {
		c.b = le.AppendUint32(c.b, v)
	}
}

func (c *composer) i32(values ...int32) {
	for _, v := range values {
		c.b = le.AppendUint32(c.b, uint32(v))
	}
}

func (c *composer) rect(r Rect) { c.i32(r.Top, r.Left, r.Bottom, r.Right) }
