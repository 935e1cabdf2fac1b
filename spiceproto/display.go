package spiceproto

// DisplayInit is the client's first message on a display channel
// (MSGC_DISPLAY_INIT): u8 pixmap_cache_id, i64 pixmap_cache_size, u8
// glz_dictionary_id, i32 glz_window_size. The server sends nothing before it.
type DisplayInit struct {
	PixmapCacheID uint8
	// PixmapCacheSize is in pixels.
	PixmapCacheSize int64
	GLZDictionaryID uint8
	// GLZWindowSize is in pixels.
	GLZWindowSize int32
}

const displayInitSize = 14

// ParseDisplayInit decodes the body of MsgcDisplayInit. The error is a
// *DecodeError.
func ParseDisplayInit(b []byte) (DisplayInit, error) {
	d := body{b: b, channel: ChannelDisplay, direction: ClientToServer, opcode: MsgcDisplayInit}
	m := DisplayInit{
		PixmapCacheID:   d.u8("pixmap_cache_id"),
		PixmapCacheSize: int64(d.u64("pixmap_cache_size")),
		GLZDictionaryID: d.u8("glz_dictionary_id"),
		GLZWindowSize:   d.i32("glz_dictionary_window_size"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m DisplayInit) Append(b []byte) []byte {
	b = Header{MsgcDisplayInit, displayInitSize}.Append(b)
	b = append(b, m.PixmapCacheID)
	b = le.AppendUint64(b, uint64(m.PixmapCacheSize))
	b = append(b, m.GLZDictionaryID)
	return le.AppendUint32(b, uint32(m.GLZWindowSize))
}

// Compression is how the server should encode images (SPICE_IMAGE_COMPRESSION_*
// in spice/enums.h).
type Compression uint8

// The compressions a client may ask for.
const (
	CompressionOff     Compression = 1
	CompressionAutoGLZ Compression = 2
	CompressionAutoLZ  Compression = 3
	CompressionQUIC    Compression = 4
	CompressionGLZ     Compression = 5
	CompressionLZ      Compression = 6
	CompressionLZ4     Compression = 7
)

// PreferredCompression asks a server with CapDisplayPrefCompression for an
// encoding (MSGC_DISPLAY_PREFERRED_COMPRESSION): one u8.
type PreferredCompression struct{ Compression Compression }

// ParsePreferredCompression decodes the body of MsgcDisplayPreferredCompression.
// The error is a *DecodeError.
func ParsePreferredCompression(b []byte) (PreferredCompression, error) {
	d := body{
		b: b, channel: ChannelDisplay, direction: ClientToServer,
		opcode: MsgcDisplayPreferredCompression,
	}
	m := PreferredCompression{Compression(d.u8("image_compression"))}
	return m, d.err
}

// Append appends header and body to b.
func (m PreferredCompression) Append(b []byte) []byte {
	return append(Header{MsgcDisplayPreferredCompression, 1}.Append(b), byte(m.Compression))
}

// SurfaceCreate makes a surface to draw on (MSG_DISPLAY_SURFACE_CREATE), five
// u32 in the order of the fields below.
type SurfaceCreate struct {
	// ID 0 is the primary surface.
	ID            uint32
	Width, Height uint32
	// Format: 1 1_A, 8 8_A, 16 16_555, 32 32_xRGB, 80 16_565, 96 32_ARGB.
	Format uint32
	// Flags: bit 0 primary, bit 1 streaming mode.
	Flags uint32
}

const surfaceCreateSize = 20

// ParseSurfaceCreate decodes the body of MsgDisplaySurfaceCreate. The error is a
// *DecodeError.
func ParseSurfaceCreate(b []byte) (SurfaceCreate, error) {
	d := body{
		b: b, channel: ChannelDisplay, direction: ServerToClient, opcode: MsgDisplaySurfaceCreate,
	}
	m := SurfaceCreate{
		ID: d.u32("surface_id"), Width: d.u32("width"), Height: d.u32("height"),
		Format: d.u32("format"), Flags: d.u32("flags"),
	}
	return m, d.err
}

// Append appends header and body to b.
func (m SurfaceCreate) Append(b []byte) []byte {
	b = Header{MsgDisplaySurfaceCreate, surfaceCreateSize}.Append(b)
	for _, v := range [...]uint32{m.ID, m.Width, m.Height, m.Format, m.Flags} {
		b = le.AppendUint32(b, v)
	}
	return b
}

// Monitor is one entry of a MonitorsConfig: seven u32. Unlike a Rect it has
// position and size.
type Monitor struct {
	ID, SurfaceID       uint32
	Width, Height, X, Y uint32
	Flags               uint32
}

const monitorSize = 28

// MonitorsConfig places the guest's monitors on their surfaces
// (MSG_DISPLAY_MONITORS_CONFIG): u16 count, u16 max_allowed, the monitors. A
// later one replaces an earlier one.
type MonitorsConfig struct {
	MaxAllowed uint16
	Monitors   []Monitor
}

// ParseMonitorsConfig decodes the body of MsgDisplayMonitorsConfig. The error is
// a *DecodeError.
func ParseMonitorsConfig(b []byte) (MonitorsConfig, error) {
	d := body{
		b: b, channel: ChannelDisplay, direction: ServerToClient, opcode: MsgDisplayMonitorsConfig,
	}
	announced := d.u16("count")
	m := MonitorsConfig{MaxAllowed: d.u16("max_allowed")}
	m.Monitors = make([]Monitor, d.count("count", uint64(announced), monitorSize))
	for i := range m.Monitors {
		m.Monitors[i] = Monitor{
			ID: d.u32("monitor_id"), SurfaceID: d.u32("surface_id"),
			Width: d.u32("width"), Height: d.u32("height"), X: d.u32("x"), Y: d.u32("y"),
			Flags: d.u32("flags"),
		}
	}
	return m, d.err
}

// Append appends header and body to b. It holds at most 65535 monitors.
func (m MonitorsConfig) Append(b []byte) []byte {
	b = Header{MsgDisplayMonitorsConfig, uint32(4 + monitorSize*len(m.Monitors))}.Append(b)
	b = le.AppendUint16(b, uint16(len(m.Monitors)))
	b = le.AppendUint16(b, m.MaxAllowed)
	for _, o := range m.Monitors {
		for _, v := range [...]uint32{o.ID, o.SurfaceID, o.Width, o.Height, o.X, o.Y, o.Flags} {
			b = le.AppendUint32(b, v)
		}
	}
	return b
}
