package spiceproto

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var codecHeaderCases = []struct {
	name   string
	kind   ImageType
	header CodecHeader
	wire   string
}{
	{
		"quic", ImageQUIC, QUICHeader{Type: 4, Width: 9, Height: 2},
		"51554943 00000000 04000000 09000000 02000000",
	},
	{
		"lz", ImageLZRGB,
		LZHeader{Type: 8, Width: 720, Height: 400, Stride: 2880, TopDown: 1},
		"20205a4c 00010001 00000008 000002d0 00000190 00000b40 00000001",
	},
	{
		"glz", ImageGLZRGB,
		GLZHeader{
			Type: 8, TopDown: true, Width: 9, Height: 2, Stride: 36, ID: 0x1122334455667788,
			WindowDistance: 3,
		},
		"20205a4c 00010001 18 00000009 00000002 00000024 1122334455667788 00000003",
	},
	{
		"glz bottom up", ImageGLZRGB, GLZHeader{Type: 9, Width: 9, Height: 2, Stride: 36},
		"20205a4c 00010001 09 00000009 00000002 00000024 0000000000000000 00000000",
	},
	{"lz4", ImageLZ4, LZ4Header{TopDown: 1, Format: Bitmap32Bit}, "01 08"},
}

func TestCodecHeaders(t *testing.T) {
	for _, c := range codecHeaderCases {
		t.Run(c.name, func(t *testing.T) {
			wire := fromHex(t, c.wire)
			if got := c.header.Append(nil); !bytes.Equal(got, wire) {
				t.Errorf("Append:\n got %x\nwant %x", got, wire)
			}
			picture := func(data []byte) Picture {
				return Picture{Image: Image{Type: c.kind}, Payload: EncodedData{data}}
			}
			got, err := picture(append(wire, 0xee)).CodecHeader()
			if diff := cmp.Diff(c.header, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			for n := range wire {
				if h, err := picture(wire[:n]).CodecHeader(); !errors.Is(err, ErrTruncated) || h != nil {
					t.Errorf("%d bytes: %+v, %v", n, h, err)
				}
			}
		})
	}
}

func TestCodecHeaderByType(t *testing.T) {
	lz := LZHeader{Type: 5, Width: 1, Height: 2, Stride: 1}
	data := lz.Append(nil)
	for _, c := range []struct {
		name    string
		picture Picture
		want    CodecHeader
	}{
		{"lz plt", Picture{Image{Type: ImageLZPLT}, LZPLTData{Data: data}}, lz},
		{
			"alpha plane",
			Picture{Image{Type: ImageJPEGAlpha}, JPEGAlphaData{
				JPEGSize: 3, Data: append([]byte{1, 2, 3}, data...),
			}},
			lz,
		},
		{"jpeg", Picture{Image{Type: ImageJPEG}, EncodedData{data}}, nil},
		{"zlib glz", Picture{Image{Type: ImageZlibGLZRGB}, ZlibGLZData{Data: data}}, nil},
		{"bitmap", Picture{Image{}, BitmapData{Data: data}}, nil},
		{"surface", Picture{Image{Type: ImageSurface}, SurfaceData{}}, nil},
		{"from cache", Picture{Image: Image{Type: ImageFromCache}}, nil},
	} {
		got, err := c.picture.CodecHeader()
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, err, diff)
		}
	}
}

func TestCodecHeaderErrors(t *testing.T) {
	quic, lz := codecHeaderCases[0], codecHeaderCases[1]
	glz := codecHeaderCases[2]
	for _, c := range []struct {
		name   string
		kind   ImageType
		wire   string
		at     int
		field  string
		offset int
	}{
		{"quic magic", quic.kind, quic.wire, 0, "quic.magic", 0},
		{"quic version", quic.kind, quic.wire, 4, "quic.version", 4},
		{"lz magic", lz.kind, lz.wire, 3, "lz.magic", 0},
		{"lz version", lz.kind, lz.wire, 7, "lz.version", 4},
		{"glz magic", glz.kind, glz.wire, 0, "lz.magic", 0},
		{"glz type", glz.kind, glz.wire, 8, "glz.type", 8},
	} {
		data := fromHex(t, c.wire)
		data[c.at] |= 0x80
		h, err := Picture{Image{Type: c.kind}, EncodedData{data}}.CodecHeader()
		wantReason(t, c.name, err, c.field, c.offset, ErrValue)
		if h != nil {
			t.Errorf("%s: %+v beside the error", c.name, h)
		}
	}
}
