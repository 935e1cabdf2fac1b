package spicetest

import (
	"encoding/binary"

	"spicepacer/spiceproto"
)

// Item is one entry of the sender's pipe. It becomes bytes when it leaves the
// pipe, not when it is queued.
type Item struct {
	// Draw is what a drawing item paints. With an empty Box the item is no
	// drawing: nothing replaces it.
	Draw Draw
	// Invalidates: an INVAL_LIST goes out before the drawing, so that one item
	// is two messages.
	Invalidates bool
	// Op and Body are the message of an item that is no drawing.
	Op   uint16
	Body []byte
	// Window is W of a SET_ACK, whose generation and body the sender makes.
	Window uint32
}

// SetAck returns the item that opens the next generation with window W.
func SetAck(window uint32) Item { return Item{Op: spiceproto.MsgSetAck, Window: window} }

// Message returns an item that is neither replaced nor collapsed.
func Message(op uint16, body []byte) Item { return Item{Op: op, Body: body} }

// encoded returns the item of an already encoded message.
func encoded(message []byte) Item {
	h, _ := spiceproto.ParseHeader(message)
	return Item{Op: h.Type, Body: message[spiceproto.MiniHeaderSize:]}
}

// Draw is a DRAW_COPY of one image to the primary surface: opaque, no clip, no
// mask.
type Draw struct {
	Box spiceproto.Rect
	// ID is the image's, and tells which content of the box this is.
	ID uint64
	// Size is that of the whole body in bytes, at least DrawOverhead.
	Size int
	// Type is the image's encoding, one of those whose data follows a u32 size.
	Type spiceproto.ImageType
}

// Offsets in the body of a DRAW_COPY without clip: DisplayBase 21, DRAW_COPY
// 36, image descriptor 18, data size 4 (spice.proto; spice-wire.md 7.3).
const (
	drawImageOffset = 57
	// DrawOverhead is the body of a draw without image data.
	DrawOverhead = drawImageOffset + 18 + 4
)

const (
	ropPut          = 8
	defaultDrawType = spiceproto.ImageLZRGB
)

// Append appends header and body to b.
func (d Draw) Append(b []byte) []byte {
	le := binary.LittleEndian
	size := max(d.Size, DrawOverhead)
	b = spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy, Size: uint32(size)}.Append(b)
	b = le.AppendUint32(b, 0) // the primary surface
	b = appendRect(b, d.Box)
	b = append(b, byte(spiceproto.ClipNone))
	b = le.AppendUint32(b, drawImageOffset)
	width, height := uint32(d.Box.Width()), uint32(d.Box.Height())
	b = appendRect(b, spiceproto.Rect{Bottom: int32(height), Right: int32(width)})
	b = le.AppendUint16(b, ropPut)
	b = append(b, make([]byte, 1+13)...) // scale mode, no mask
	b = le.AppendUint64(b, d.ID)
	b = append(b, byte(d.imageType()), 0)
	b = le.AppendUint32(b, width)
	b = le.AppendUint32(b, height)
	b = le.AppendUint32(b, uint32(size-DrawOverhead))
	return append(b, make([]byte, size-DrawOverhead)...)
}

func (d Draw) imageType() spiceproto.ImageType {
	if d.Type == 0 {
		return defaultDrawType
	}
	return d.Type
}

func appendRect(b []byte, r spiceproto.Rect) []byte {
	for _, v := range [...]int32{r.Top, r.Left, r.Bottom, r.Right} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}
