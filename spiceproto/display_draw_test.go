package spiceproto

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sourceOffsets are the offsets of the source image pointer with clip NONE, for
// every draw: spice.proto counted by hand. -1: none.
var sourceOffsets = map[uint16]int{
	MsgDisplayCopyBits: -1, MsgDisplayDrawFill: -1, MsgDisplayDrawOpaque: 21,
	MsgDisplayDrawCopy: 21, MsgDisplayDrawBlend: 21, MsgDisplayDrawBlackness: -1,
	MsgDisplayDrawWhiteness: -1, MsgDisplayDrawInvers: -1, MsgDisplayDrawROP3: 21,
	MsgDisplayDrawStroke: -1, MsgDisplayDrawText: -1, MsgDisplayDrawTransparent: 21,
	MsgDisplayDrawAlphaBlend: 23, MsgDisplayDrawComposite: 25,
}

var drawOps = func() []uint16 {
	var ops []uint16
	for op := range sourceOffsets {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	return ops
}()

var (
	testBox   = Rect{Top: 1, Left: 2, Bottom: 300, Right: 400}
	testImage = Image{
		ID: 0x1122334455667788, Type: ImageGLZRGB, Flags: ImageCacheMe, Width: 398, Height: 299,
	}
)

// testDraw is the plan of a draw body.
type testDraw struct {
	op    uint16
	rects int // of the clip; -1 for clip NONE
	// fill is the number of bytes between the fixed part and the image.
	fill int
	// ptr replaces the source pointer when it is not nil.
	ptr *uint32
}

// base is the size of DisplayBase.
func (d testDraw) base() int {
	if d.rects < 0 {
		return 21
	}
	return 25 + 16*d.rects
}

func (d testDraw) sourceOffset() int { return sourceOffsets[d.op] - 21 + d.base() }

// imageAt is where the image begins: behind the largest fixed part there is.
func (d testDraw) imageAt() int { return d.base() + 57 + d.fill }

func (d testDraw) body() []byte {
	b := le.AppendUint32(nil, 5)
	for _, v := range []int32{testBox.Top, testBox.Left, testBox.Bottom, testBox.Right} {
		b = le.AppendUint32(b, uint32(v))
	}
	if d.rects < 0 {
		b = append(b, byte(ClipNone))
	} else {
		b = append(b, byte(ClipRects))
		b = le.AppendUint32(b, uint32(d.rects))
	}
	b = append(b, make([]byte, d.imageAt()-len(b))...)
	if sourceOffsets[d.op] >= 0 {
		ptr := uint32(d.imageAt())
		if d.ptr != nil {
			ptr = *d.ptr
		}
		le.PutUint32(b[d.sourceOffset():], ptr)
	}
	b = le.AppendUint64(b, testImage.ID)
	b = append(b, byte(testImage.Type), testImage.Flags)
	b = le.AppendUint32(b, testImage.Width)
	return le.AppendUint32(b, testImage.Height)
}

// want is what ParseDrawHead has to find, with or without the image.
func (d testDraw) want(hasImage, known bool) DrawHead {
	h := DrawHead{Op: d.op, Surface: 5, Box: testBox, HasImage: hasImage, ImageKnown: known}
	if d.rects >= 0 {
		h.Clip, h.ClipRects = ClipRects, uint32(d.rects)
	}
	if known {
		h.Image = testImage
	}
	return h
}

func headOf(body []byte) []byte { return body[:min(len(body), HeadSize)] }

func wantDrawHead(t *testing.T, d testDraw, want DrawHead) {
	t.Helper()
	body := d.body()
	got, err := ParseDrawHead(d.op, uint32(len(body)), headOf(body))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%+v: error %v, (-want +got)\n%s", d, err, diff)
	}
}

func TestIsDraw(t *testing.T) {
	for op := range uint16(1000) {
		if _, want := sourceOffsets[op]; IsDraw(op) != want {
			t.Errorf("IsDraw(%d) is %v", op, !want)
		}
	}
}

func TestParseDrawHead(t *testing.T) {
	for _, op := range drawOps {
		source := sourceOffsets[op] >= 0
		for rects := -1; rects <= 3; rects++ {
			d := testDraw{op: op, rects: rects}
			wantDrawHead(t, d, d.want(source, source && d.imageAt()+18 <= HeadSize))
		}
		d := testDraw{op: op, rects: -1, ptr: new(uint32(0))}
		wantDrawHead(t, d, d.want(false, false))

		d = testDraw{op: op, rects: -1, fill: HeadSize - 57 - 21 - 18} // ends with the head
		wantDrawHead(t, d, d.want(source, source))
		d.fill++
		wantDrawHead(t, d, d.want(source, false))
		d.fill = 1 << 20
		wantDrawHead(t, d, d.want(source, false))

		d = testDraw{op: op, rects: 20} // the pointer lies beyond the head
		wantDrawHead(t, d, d.want(source, false))
	}
}

func TestParseDrawHeadCapture(t *testing.T) {
	var got []DrawHead
	for _, m := range cut(t, golden(t, "display.bin")) {
		if !IsDraw(m.Type) {
			continue
		}
		h, err := ParseDrawHead(m.Type, m.Size, headOf(m.body))
		if err != nil {
			t.Error(err)
		}
		got = append(got, h)
	}
	screen, cursor := Rect{Bottom: 400, Right: 720}, Rect{Top: 173, Bottom: 175, Right: 9}
	want := []DrawHead{
		{
			Op: MsgDisplayDrawCopy, Box: screen, HasImage: true, ImageKnown: true,
			Image: Image{ID: 0x100000002, Type: ImageLZRGB, Width: 720, Height: 400},
		},
		{
			Op: MsgDisplayDrawCopy, Box: cursor, HasImage: true, ImageKnown: true,
			Image: Image{ID: 0x7000000001, Type: ImageGLZRGB, Width: 9, Height: 2},
		},
		{
			Op: MsgDisplayDrawCopy, Box: cursor, HasImage: true, ImageKnown: true,
			Image: Image{ID: 0x7100000001, Type: ImageGLZRGB, Width: 9, Height: 2},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseDrawHeadErrors(t *testing.T) {
	whole := testDraw{op: MsgDisplayDrawCopy, rects: -1}.body()
	clip := func(b ...byte) []byte { return append(slices.Clone(whole[:20]), b...) }
	pointer := func(p uint32) []byte { return testDraw{op: MsgDisplayDrawCopy, rects: -1, ptr: &p}.body() }
	for _, c := range []struct {
		name   string
		op     uint16
		body   []byte
		field  string
		offset int
		reason error
	}{
		{"no draw", MsgDisplayMark, whole, "type", 0, ErrOpcode},
		{"gap in the table", MsgDisplaySurfaceCreate, whole, "type", 0, ErrOpcode},
		{"empty body", MsgDisplayDrawCopy, nil, "base.surface_id", 0, ErrTruncated},
		{"body ends in the box", MsgDisplayDrawCopy, whole[:19], "base.box", 16, ErrTruncated},
		{"body ends before the clip", MsgDisplayDrawCopy, whole[:20], "base.clip.type", 20, ErrTruncated},
		{"undefined clip", MsgDisplayDrawCopy, clip(2), "base.clip.type", 20, ErrValue},
		{"clip without count", MsgDisplayDrawCopy, clip(1, 1, 0, 0), "base.clip.num_rects", 21, ErrTruncated},
		{"clip beyond the body", MsgDisplayDrawCopy, clip(1, 1, 0, 0, 0), "base.clip.num_rects", 21, ErrCount},
		{
			"largest clip", MsgDisplayDrawCopy, clip(1, 0xff, 0xff, 0xff, 0xff),
			"base.clip.num_rects", 21, ErrCount,
		},
		{"fixed part too short", MsgDisplayDrawCopy, whole[:56], "body", 21, ErrTruncated},
		{
			"image ends beyond the body", MsgDisplayDrawCopy, pointer(uint32(len(whole) - 17)),
			"src_bitmap", 21, ErrPointer,
		},
		{"largest pointer", MsgDisplayDrawCopy, pointer(0xffffffff), "src_bitmap", 21, ErrPointer},
	} {
		_, err := ParseDrawHead(c.op, uint32(len(c.body)), headOf(c.body))
		var e *DecodeError
		if !errors.As(err, &e) || !errors.Is(err, c.reason) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.reason)
			continue
		}
		want := DecodeError{ChannelDisplay, ServerToClient, c.op, c.field, c.offset, c.reason}
		if *e != want {
			t.Errorf("%s: got %+v, want %+v", c.name, *e, want)
		}
	}
}

// Every draw is refused when it is one byte shorter than its fixed part, and
// accepted when it is not.
func TestParseDrawHeadFixedParts(t *testing.T) {
	sizes := map[uint16]int{
		MsgDisplayCopyBits: 29, MsgDisplayDrawFill: 37, MsgDisplayDrawOpaque: 58,
		MsgDisplayDrawCopy: 57, MsgDisplayDrawBlend: 57, MsgDisplayDrawBlackness: 34,
		MsgDisplayDrawWhiteness: 34, MsgDisplayDrawInvers: 34, MsgDisplayDrawROP3: 57,
		MsgDisplayDrawStroke: 31, MsgDisplayDrawText: 47, MsgDisplayDrawTransparent: 49,
		MsgDisplayDrawAlphaBlend: 43, MsgDisplayDrawComposite: 37,
	}
	for _, op := range drawOps {
		body := make([]byte, sizes[op])
		if _, err := ParseDrawHead(op, uint32(len(body)), body); err != nil {
			t.Errorf("%d bytes: %v", len(body), err)
		}
		short := body[:len(body)-1]
		if _, err := ParseDrawHead(op, uint32(len(short)), short); !errors.Is(err, ErrTruncated) {
			t.Errorf("%d of %d bytes of type %d: %v", len(short), len(body), op, err)
		}
	}
}

// A longer head of a sound body changes nothing, but that it can bring the
// image to light, or that the pointer is there.
func TestParseDrawHeadLongerHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := testDraw{
			op:    rapid.SampledFrom(drawOps).Draw(t, "op"),
			rects: rapid.IntRange(-1, 12).Draw(t, "rects"),
			fill:  rapid.IntRange(0, 200).Draw(t, "fill"),
		}
		body := d.body()
		n := rapid.IntRange(25, len(body)).Draw(t, "head")
		short, shortErr := ParseDrawHead(d.op, uint32(len(body)), body[:n])
		long, longErr := ParseDrawHead(d.op, uint32(len(body)), body)
		if shortErr != nil || longErr != nil {
			t.Fatalf("short head: %v, whole body: %v", shortErr, longErr)
		}
		if !short.ImageKnown {
			long.ImageKnown, long.Image = false, Image{}
		}
		if short != long {
			t.Fatalf("short head: %+v, whole body: %+v", short, long)
		}
	})
}

func FuzzParseDrawHead(f *testing.F) {
	for _, m := range cut(f, golden(f, "display.bin")) {
		f.Add(m.Type, m.Size, headOf(m.body))
	}
	for _, op := range drawOps {
		body := testDraw{op: op, rects: 1}.body()
		f.Add(op, uint32(len(body)), headOf(body))
	}
	f.Fuzz(func(t *testing.T, op uint16, size uint32, head []byte) {
		h, err := ParseDrawHead(op, size, head)
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if !IsDraw(op) || h.Op != op || h.ImageKnown && !h.HasImage {
			t.Fatalf("%+v", h)
		}
		if h.Clip == ClipNone && h.ClipRects != 0 || 16*uint64(h.ClipRects) > uint64(size) {
			t.Fatalf("%+v of a body of %d bytes", h, size)
		}
	})
}

func TestParseDrawHeadDoesNotAllocate(t *testing.T) {
	body := testDraw{op: MsgDisplayDrawCopy, rects: 2}.body()
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := ParseDrawHead(MsgDisplayDrawCopy, uint32(len(body)), body); err != nil {
			panic(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestImageTypeString(t *testing.T) {
	for i, want := range map[ImageType]string{
		ImageBitmap: "bitmap", ImageQUIC: "quic", ImageLZPLT: "lz-plt", ImageLZRGB: "lz-rgb",
		ImageGLZRGB: "glz-rgb", ImageFromCache: "from-cache", ImageSurface: "surface",
		ImageJPEG: "jpeg", ImageFromCacheLossless: "from-cache-lossless",
		ImageZlibGLZRGB: "zlib-glz-rgb", ImageJPEGAlpha: "jpeg-alpha", ImageLZ4: "lz4",
		2: "image-2",
	} {
		if i.String() != want {
			t.Errorf("%d: %q, want %q", i, i.String(), want)
		}
	}
}

func BenchmarkParseDrawHead(b *testing.B) {
	head := headOf(testDraw{op: MsgDisplayDrawCopy, rects: -1}.body())
	size := uint32(len(head))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseDrawHead(MsgDisplayDrawCopy, size, head); err != nil {
			b.Fatal(err)
		}
	}
}
