package spiceproto

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// hexBase is the wire form of testBase.
const hexBase = " 01000000 02000000 03000000 04000000 05000000 00 "

var testBase = DrawBase{Surface: 1, Box: Rect{Top: 2, Left: 3, Bottom: 4, Right: 5}}

// hexClip is the wire form of testClip.
const hexClip = ` 01 02000000
	01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000 `

var testClip = Clip{Type: ClipRects, Rects: []Rect{{1, 2, 3, 4}, {5, 6, 7, 8}}}

// hexCached is the wire form of testCached, an image of 18 bytes.
const hexCached = " 0900000000000000 67 00 10000000 20000000 "

var testCached = &Picture{Image: Image{ID: 9, Type: ImageFromCache, Width: 16, Height: 32}}

// drawnFrom puts a generator in a codec whose message rapid cannot make by itself.
func (c codec) drawnFrom(g *rapid.Generator[message]) codec {
	c.random = func(t *rapid.T) message { return g.Draw(t, "message") }
	return c
}

// testPointerCodecs is testCodecs for messages with pointers, which can also end
// before a target.
func testPointerCodecs(t *testing.T, codecs []codec) {
	for _, c := range codecs {
		t.Run(c.String(), func(t *testing.T) {
			wire := fromHex(t, c.wire)
			if got := c.value.Append([]byte{0xee}); !bytes.Equal(got[1:], wire) {
				t.Errorf("Append:\n got %x\nwant %x", got[1:], wire)
			}
			h, _ := ParseHeader(wire)
			body := wire[MiniHeaderSize:]
			if h != (Header{c.op, uint32(len(body))}) {
				t.Errorf("golden header %+v does not fit", h)
			}
			c.wantParse(t, body, c.value)
			c.wantParse(t, append(bytes.Clone(body), 0xee, 0xee), c.value)
			for n := range body {
				wantDisplayError(t, c, body[:n])
			}
			rapid.Check(t, func(t *rapid.T) {
				m := c.random(t)
				c.wantParse(t, m.Append(nil)[MiniHeaderSize:], m)
			})
		})
	}
}

func wantDisplayError(t tester, c codec, body []byte) {
	t.Helper()
	_, err := c.parse(body)
	var e *DecodeError
	if !errors.As(err, &e) {
		t.Fatalf("parse %x: error %v, want a *DecodeError", body, err)
	}
	if e.Channel != ChannelDisplay || e.Direction != c.direction || e.Opcode != c.op {
		t.Errorf("parse %x: error names another message: %v", body, e)
	}
	switch e.Err {
	case ErrTruncated, ErrCount, ErrPointer:
	default:
		t.Errorf("parse %x: reason %v", body, e.Err)
	}
	if e.Field == "" || e.Offset > len(body) {
		t.Errorf("parse %x: field %q at %d", body, e.Field, e.Offset)
	}
}

// wantReason asserts why and where a parser fails.
func wantReason(t *testing.T, name string, err error, field string, offset int, reason error) {
	t.Helper()
	var e *DecodeError
	if !errors.As(err, &e) || e.Field != field || e.Offset != offset || e.Err != reason {
		t.Errorf("%s: error %v, want %s at %d: %v", name, err, field, offset, reason)
	}
}

// A pointer may point to anything inside the body but its first byte.
func TestDisplayPointers(t *testing.T) {
	body := DrawCopy{DrawBase: testBase, Src: testCached}.Append(nil)[MiniHeaderSize:]
	body = append(body, make([]byte, 4)...)
	const at = 21
	for _, c := range []struct {
		name   string
		ptr    int
		field  string
		offset int
		reason error
	}{
		{"at the end", len(body), "src_bitmap", at, ErrPointer},
		{"far beyond", 0xffffffff, "src_bitmap", at, ErrPointer},
		{"last byte", len(body) - 1, "image.descriptor.id", len(body) - 1, ErrTruncated},
	} {
		le.PutUint32(body[at:], uint32(c.ptr))
		_, err := ParseDrawCopy(body)
		wantReason(t, c.name, err, c.field, c.offset, c.reason)
	}
	le.PutUint32(body[at:], 0)
	if m, err := ParseDrawCopy(body); err != nil || m.Src != nil {
		t.Errorf("null pointer: %+v, %v", m.Src, err)
	}
}

// Targets may lie in any order and share bytes.
func TestDisplaySharedTargets(t *testing.T) {
	body := DrawOpaque{
		DrawBase: testBase, Src: testCached, Brush: Brush{Type: BrushPattern, Pattern: testCached},
		Mask: Mask{Bitmap: testCached},
	}.Append(nil)[MiniHeaderSize:]
	const src, brush, mask, end = 21, 42, 66, 70
	le.PutUint32(body[src:], end+2*imageDescriptorSize)
	le.PutUint32(body[brush:], end)
	le.PutUint32(body[mask:], end)
	m, err := ParseDrawOpaque(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Picture{m.Src, m.Brush.Pattern, m.Mask.Bitmap} {
		if p == nil || *p != *testCached {
			t.Errorf("picture %+v", p)
		}
	}
}

// What overlapping targets would multiply is refused beyond the budget.
func TestDisplayBudget(t *testing.T) {
	const list, count = 25, 1000
	m := DrawText{DrawBase: testBase, String: RasterString{Flags: StringRasterA1}}
	m.Clip = Clip{Type: ClipRects, Rects: make([]Rect, count)}
	body := m.Append(nil)[MiniHeaderSize:]

	// The clip list is the string, too: rectangles take 16 bytes of memory for 16
	// on the wire, glyphs 48 for 20.
	le.PutUint32(body[list+rectSize*count:], list)
	body[list+2] = StringRasterA1
	for _, c := range []struct {
		glyphs uint16
		reason error
	}{{600, nil}, {700, ErrCount}} {
		le.PutUint16(body[list:], c.glyphs)
		if _, err := ParseDrawText(body); !errors.Is(err, c.reason) {
			t.Errorf("%d glyphs in %d bytes: %v", c.glyphs, len(body), err)
		}
	}
}
