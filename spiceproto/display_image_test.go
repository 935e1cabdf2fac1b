package spiceproto

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	testPayload = []byte{0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6}
	testPalette = &Palette{ID: 0x0102030405060708, Entries: []uint32{0x00112233, 0x00445566}}
)

const (
	hexPayload = " a1a2a3a4a5a6 "
	hexPalette = " 0807060504030201 0200 33221100 66554400 "
)

// imageCases are the types of image as the source of a DRAW_COPY, whose fixed
// part ends at 57.
var imageCases = []struct {
	name    string
	kind    ImageType
	payload ImagePayload
	// after is what follows the descriptor.
	after string
	// data is where the pixels begin in the body, or where the image ends.
	data int
}{
	{
		"bitmap without palette", ImageBitmap,
		BitmapData{Format: Bitmap32Bit, Flags: BitmapTopDown, Width: 1, Height: 2, Stride: 3, Data: testPayload},
		"08 04 01000000 02000000 03000000 00000000" + hexPayload, 93,
	},
	{
		"bitmap with palette", ImageBitmap,
		BitmapData{
			Format: Bitmap8Bit, Flags: BitmapPaletteCacheMe, Width: 1, Height: 2, Stride: 3,
			Palette: testPalette, Data: testPayload,
		},
		"05 01 01000000 02000000 03000000 63000000" + hexPayload + hexPalette, 93,
	},
	{
		"bitmap with cached palette", ImageBitmap,
		BitmapData{
			Format: Bitmap8Bit, Flags: BitmapPaletteFromCache, Width: 1, Height: 2, Stride: 3,
			PaletteID: 7, Data: testPayload,
		},
		"05 02 01000000 02000000 03000000 0700000000000000" + hexPayload, 97,
	},
	{"quic", ImageQUIC, EncodedData{testPayload}, "06000000" + hexPayload, 79},
	{"lz rgb", ImageLZRGB, EncodedData{testPayload}, "06000000" + hexPayload, 79},
	{"glz rgb", ImageGLZRGB, EncodedData{testPayload}, "06000000" + hexPayload, 79},
	{"jpeg", ImageJPEG, EncodedData{testPayload}, "06000000" + hexPayload, 79},
	{"lz4", ImageLZ4, EncodedData{testPayload}, "06000000" + hexPayload, 79},
	{
		"lz plt", ImageLZPLT, LZPLTData{Palette: testPalette, Data: testPayload},
		"00 06000000 5a000000" + hexPayload + hexPalette, 84,
	},
	{
		"lz plt with cached palette", ImageLZPLT,
		LZPLTData{Flags: BitmapPaletteFromCache, PaletteID: 7, Data: testPayload},
		"02 06000000 0700000000000000" + hexPayload, 88,
	},
	{
		"zlib glz", ImageZlibGLZRGB, ZlibGLZData{GLZSize: 9, Data: testPayload},
		"09000000 06000000" + hexPayload, 83,
	},
	{
		"jpeg alpha", ImageJPEGAlpha, JPEGAlphaData{Flags: 1, JPEGSize: 4, Data: testPayload},
		"01 04000000 06000000" + hexPayload, 84,
	},
	{"surface", ImageSurface, SurfaceData{5}, "05000000", 79},
	{"from cache", ImageFromCache, nil, "", 75},
	{"from cache lossless", ImageFromCacheLossless, nil, "", 75},
}

func TestImages(t *testing.T) {
	for _, c := range imageCases {
		t.Run(c.name, func(t *testing.T) {
			m := DrawCopy{DrawBase: testBase, Rop: RopPut, Src: &Picture{
				Image: Image{
					ID: 0x1122334455667788, Type: c.kind, Flags: ImageCacheMe, Width: 1, Height: 2,
				},
				Payload: c.payload,
			}}
			body := m.Append(nil)[MiniHeaderSize:]
			descriptor := append(fromHex(t, "8877665544332211"), byte(c.kind), ImageCacheMe, 1, 0, 0, 0, 2, 0, 0, 0)
			want := append(descriptor, fromHex(t, c.after)...)
			if !bytes.Equal(body[57:], want) {
				t.Errorf("got  %x\nwant %x", body[57:], want)
			}
			data := bytes.Index(body, testPayload)
			if data < 0 {
				data = len(body)
			}
			if data != c.data {
				t.Errorf("payload at %d, want %d", data, c.data)
			}
			got, err := ParseDrawCopy(body)
			if diff := cmp.Diff(m, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			for n := 57; n < len(body); n++ {
				if _, err := ParseDrawCopy(body[:n]); err == nil {
					t.Errorf("%d of %d bytes are accepted", n, len(body))
				}
			}
		})
	}
}

// With a mask, the server lays out source, mask, then their palettes.
func TestImageOrder(t *testing.T) {
	bitmap := &Picture{Payload: BitmapData{Palette: testPalette, Stride: 6, Height: 1, Data: testPayload}}
	m := DrawCopy{DrawBase: testBase, Src: bitmap, Mask: Mask{Bitmap: bitmap}}
	body := m.Append(nil)[MiniHeaderSize:]
	const source, image, palette = 57, 42, 18
	for _, c := range []struct{ at, want int }{
		{21, source}, {53, source + image},
		{source + 32, source + 2*image}, {source + image + 32, source + 2*image + palette},
	} {
		if got := le.Uint32(body[c.at:]); got != uint32(c.want) {
			t.Errorf("pointer at %d is %d, want %d", c.at, got, c.want)
		}
	}
}

func TestImageErrors(t *testing.T) {
	const image, after = 57, 75
	body := func(p Picture, change func(b []byte)) []byte {
		b := DrawCopy{DrawBase: testBase, Src: &p}.Append(nil)[MiniHeaderSize:]
		change(b)
		return b
	}
	bitmap := Picture{Payload: BitmapData{Palette: testPalette, Stride: 6, Height: 1, Data: testPayload}}
	lzplt := Picture{
		Image:   Image{Type: ImageLZPLT},
		Payload: LZPLTData{Palette: testPalette, Data: testPayload},
	}
	jpeg := Picture{
		Image: Image{Type: ImageJPEGAlpha}, Payload: JPEGAlphaData{JPEGSize: 6, Data: testPayload},
	}
	quic := Picture{Image: Image{Type: ImageQUIC}, Payload: EncodedData{testPayload}}
	for _, c := range []struct {
		name   string
		body   []byte
		field  string
		offset int
		reason error
	}{
		{
			"reserved type", body(quic, func(b []byte) { b[image+8] = 2 }),
			"image.descriptor.type", image + 8, ErrValue,
		},
		{
			"data beyond the body", body(quic, func(b []byte) { b[after]++ }),
			"image.data", after + 4, ErrCount,
		},
		{
			"largest data", body(quic, func(b []byte) { le.PutUint32(b[after:], 0xffffffff) }),
			"image.data", after + 4, ErrCount,
		},
		{
			"largest bitmap", body(bitmap, func(b []byte) {
				le.PutUint32(b[after+6:], 0xffffffff)
				le.PutUint32(b[after+10:], 0xffffffff)
			}),
			"image.bitmap.data", after + 18, ErrCount,
		},
		{
			"palette beyond the body", body(bitmap, func(b []byte) { b[after+18+6+8]++ }),
			"palette.num_ents", after + 18 + 6 + 10, ErrCount,
		},
		{
			"palette pointer", body(bitmap, func(b []byte) { le.PutUint32(b[after+14:], 0xfffffff0) }),
			"palette", after + 14, ErrPointer,
		},
		{
			"no palette", body(lzplt, func(b []byte) { le.PutUint32(b[after+5:], 0) }),
			"palette", after + 5, ErrPointer,
		},
		{
			"jpeg beyond the data", body(jpeg, func(b []byte) { b[after+1]++ }),
			"image.jpeg_alpha.jpeg_size", after + 1, ErrCount,
		},
	} {
		_, err := ParseDrawCopy(c.body)
		wantReason(t, c.name, err, c.field, c.offset, c.reason)
	}
	if _, err := ParseDrawCopy(body(jpeg, func([]byte) {})); err != nil {
		t.Errorf("jpeg without alpha plane: %v", err)
	}
}

// An append to what a parser returned must not reach the bytes behind it.
func TestImageDataIsCapped(t *testing.T) {
	m, err := ParseDrawCopy(DrawCopy{
		DrawBase: testBase, Src: &Picture{Image: Image{Type: ImageQUIC}, Payload: EncodedData{testPayload}},
		Mask: Mask{Bitmap: testCached},
	}.Append(nil)[MiniHeaderSize:])
	if err != nil {
		t.Fatal(err)
	}
	if data := m.Src.Payload.(EncodedData).Data; cap(data) != len(data) {
		t.Errorf("%d bytes with room for %d", len(data), cap(data))
	}
}
