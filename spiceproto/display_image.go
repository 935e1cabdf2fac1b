package spiceproto

// Picture is a whole image of a message: its descriptor, and what its type puts
// behind it. Pixels are not decoded.
type Picture struct {
	Image
	// Payload is, by Image.Type: BitmapData for ImageBitmap, LZPLTData for
	// ImageLZPLT, ZlibGLZData for ImageZlibGLZRGB, JPEGAlphaData for
	// ImageJPEGAlpha, SurfaceData for ImageSurface, EncodedData for the other
	// encodings, and nil for the two kinds from the cache.
	Payload ImagePayload
}

// ImagePayload is what follows an image's descriptor. The types listed at
// Picture.Payload are all there are.
type ImagePayload interface{ appendPayload(c *composer) }

// Flags of bitmaps and of LZ_PLT images (bitmap_flags in spice.proto).
const (
	// BitmapPaletteCacheMe: the client stores the palette under its id.
	BitmapPaletteCacheMe = 1 << 0
	// BitmapPaletteFromCache: a palette id stands in the pointer's place.
	BitmapPaletteFromCache = 1 << 1
	BitmapTopDown          = 1 << 2
)

// BitmapFormat is the pixel format of raw images (SPICE_BITMAP_FMT_*).
type BitmapFormat uint8

// The bitmap formats.
const (
	Bitmap1BitLE BitmapFormat = 1
	Bitmap1BitBE BitmapFormat = 2
	Bitmap4BitLE BitmapFormat = 3
	Bitmap4BitBE BitmapFormat = 4
	Bitmap8Bit   BitmapFormat = 5
	Bitmap16Bit  BitmapFormat = 6
	Bitmap24Bit  BitmapFormat = 7
	Bitmap32Bit  BitmapFormat = 8
	BitmapRGBA   BitmapFormat = 9
	Bitmap8BitA  BitmapFormat = 10
)

// BitmapData is a raw image: u8 format, u8 flags, u32 x, u32 y, u32 stride, the
// palette, and stride times y bytes.
type BitmapData struct {
	Format BitmapFormat
	Flags  uint8
	// Width and Height are what a client draws, whatever the descriptor says.
	Width, Height uint32
	// Stride is the size of a row in bytes.
	Stride uint32
	// PaletteID is set, and Palette nil, with BitmapPaletteFromCache in Flags.
	PaletteID uint64
	Palette   *Palette
	// Data aliases the message.
	Data []byte
}

// EncodedData is the payload of the types QUIC, LZ_RGB, GLZ_RGB, JPEG and LZ4
// (BinaryData): u32 data_size, the bytes.
type EncodedData struct {
	// Data aliases the message.
	Data []byte
}

// LZPLTData is a palette image compressed with LZ: u8 flags, u32 data_size, the
// palette, the bytes.
type LZPLTData struct {
	Flags uint8
	// PaletteID is set, and Palette nil, with BitmapPaletteFromCache in Flags;
	// else there is always a palette.
	PaletteID uint64
	Palette   *Palette
	// Data aliases the message.
	Data []byte
}

// ZlibGLZData is a GLZ image inside a zlib stream: u32 glz_data_size, u32
// data_size, the bytes.
type ZlibGLZData struct {
	// GLZSize is the size of the GLZ image in bytes, uncompressed.
	GLZSize uint32
	// Data aliases the message.
	Data []byte
}

// JPEGAlphaData is a JPEG image followed by an alpha plane in LZ: u8 flags, u32
// jpeg_size, u32 data_size, the bytes of both.
type JPEGAlphaData struct {
	// Flags: bit 0 top down.
	Flags uint8
	// JPEGSize is where the alpha plane begins in Data; never beyond its end.
	JPEGSize uint32
	// Data aliases the message.
	Data []byte
}

// SurfaceData names another surface as the image: u32 surface_id.
type SurfaceData struct{ Surface uint32 }

func (d *displayBody) picture() Picture {
	p := Picture{Image: Image{ID: d.u64("image.descriptor.id")}}
	at := d.off
	p.Type = ImageType(d.u8("image.descriptor.type"))
	p.Flags = d.u8("image.descriptor.flags")
	p.Width, p.Height = d.u32("image.descriptor.width"), d.u32("image.descriptor.height")
	switch p.Type {
	case ImageBitmap:
		p.Payload = d.bitmapData()
	case ImageQUIC, ImageLZRGB, ImageGLZRGB, ImageJPEG, ImageLZ4:
		p.Payload = EncodedData{d.data("image.data", uint64(d.u32("image.data_size")))}
	case ImageLZPLT:
		p.Payload = d.lzpltData()
	case ImageZlibGLZRGB:
		p.Payload = d.zlibGLZData()
	case ImageJPEGAlpha:
		p.Payload = d.jpegAlphaData()
	case ImageSurface:
		p.Payload = SurfaceData{d.u32("image.surface.surface_id")}
	case ImageFromCache, ImageFromCacheLossless:
	default:
		d.fail("image.descriptor.type", at, ErrValue)
	}
	return p
}

func (d *displayBody) bitmapData() BitmapData {
	m := BitmapData{
		Format: BitmapFormat(d.u8("image.bitmap.format")), Flags: d.u8("image.bitmap.flags"),
		Width: d.u32("image.bitmap.x"), Height: d.u32("image.bitmap.y"),
		Stride: d.u32("image.bitmap.stride"),
	}
	m.PaletteID, m.Palette = d.paletteOf(m.Flags, true)
	m.Data = d.data("image.bitmap.data", uint64(m.Stride)*uint64(m.Height))
	return m
}

func (d *displayBody) lzpltData() LZPLTData {
	m := LZPLTData{Flags: d.u8("image.lz_plt.flags")}
	size := d.u32("image.lz_plt.data_size")
	m.PaletteID, m.Palette = d.paletteOf(m.Flags, false)
	m.Data = d.data("image.lz_plt.data", uint64(size))
	return m
}

func (d *displayBody) zlibGLZData() ZlibGLZData {
	m := ZlibGLZData{GLZSize: d.u32("image.zlib_glz.glz_data_size")}
	m.Data = d.data("image.zlib_glz.data", uint64(d.u32("image.zlib_glz.data_size")))
	return m
}

func (d *displayBody) jpegAlphaData() JPEGAlphaData {
	m := JPEGAlphaData{Flags: d.u8("image.jpeg_alpha.flags")}
	at := d.off
	m.JPEGSize = d.u32("image.jpeg_alpha.jpeg_size")
	m.Data = d.data("image.jpeg_alpha.data", uint64(d.u32("image.jpeg_alpha.data_size")))
	if uint64(m.JPEGSize) > uint64(len(m.Data)) {
		d.fail("image.jpeg_alpha.jpeg_size", at, ErrCount)
	}
	return m
}

// picture writes a pointer to p, null when p is nil.
func (c *composer) picture(p *Picture) {
	if p == nil {
		c.u32(0)
		return
	}
	c.pointer(func(c *composer) {
		c.u64(p.ID)
		c.u8(uint8(p.Type))
		c.u8(p.Flags)
		c.u32(p.Width, p.Height)
		if p.Payload != nil {
			p.Payload.appendPayload(c)
		}
	})
}

func (m BitmapData) appendPayload(c *composer) {
	c.u8(uint8(m.Format))
	c.u8(m.Flags)
	c.u32(m.Width, m.Height, m.Stride)
	c.paletteOf(m.Flags, m.PaletteID, m.Palette)
	c.bytes(m.Data)
}

func (m EncodedData) appendPayload(c *composer) {
	c.u32(uint32(len(m.Data)))
	c.bytes(m.Data)
}

func (m LZPLTData) appendPayload(c *composer) {
	c.u8(m.Flags)
	c.u32(uint32(len(m.Data)))
	c.paletteOf(m.Flags, m.PaletteID, m.Palette)
	c.bytes(m.Data)
}

func (m ZlibGLZData) appendPayload(c *composer) {
	c.u32(m.GLZSize, uint32(len(m.Data)))
	c.bytes(m.Data)
}

func (m JPEGAlphaData) appendPayload(c *composer) {
	c.u8(m.Flags)
	c.u32(m.JPEGSize, uint32(len(m.Data)))
	c.bytes(m.Data)
}

func (m SurfaceData) appendPayload(c *composer) { c.u32(m.Surface) }

// Palette is the colour table of an image: u64 unique, u16 num_ents, the
// colours.
type Palette struct {
	// ID is the palette's key in the client's palette cache.
	ID uint64
	// Entries are u32 colours.
	Entries []uint32
}

func (d *displayBody) palette() Palette {
	p := Palette{ID: d.u64("palette.unique")}
	n := d.elements("palette.num_ents", uint64(d.u16("palette.num_ents")), 4, 4)
	p.Entries = make([]uint32, n)
	for i := range p.Entries {
		p.Entries[i] = d.u32("palette.ents")
	}
	return p
}

// paletteOf reads a palette's id or the pointer to it, as the flags say.
func (d *displayBody) paletteOf(flags uint8, null nullable) (uint64, *Palette) {
	if flags&BitmapPaletteFromCache != 0 {
		return d.u64("palette_id"), nil
	}
	return 0, target(d, "palette", null, (*displayBody).palette)
}

func (c *composer) paletteOf(flags uint8, id uint64, p *Palette) {
	switch {
	case flags&BitmapPaletteFromCache != 0:
		c.u64(id)
	case p == nil:
		c.u32(0)
	default:
		c.pointer(func(c *composer) {
			c.u64(p.ID)
			c.u16(uint16(len(p.Entries)))
			c.u32(p.Entries...)
		})
	}
}
