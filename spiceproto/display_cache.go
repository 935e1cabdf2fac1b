package spiceproto

// ResourcePixmap is the only type of Resource: an image in the client's cache.
const ResourcePixmap = 1

// Resource is something a client keeps for the server: u8 type, u64 id.
type Resource struct {
	Type uint8
	ID   uint64
}

const (
	resourceWire   = 9
	resourceMemory = 16
)

// InvalList takes images out of the client's cache (MSG_DISPLAY_INVAL_LIST): u16
// count, the Resources.
type InvalList struct{ Resources []Resource }

// ParseInvalList decodes the body of MsgDisplayInvalList. The error is a
// *DecodeError.
func ParseInvalList(b []byte) (InvalList, error) {
	d := serverDisplayBody(MsgDisplayInvalList, b)
	n := d.elements("count", uint64(d.u16("count")), resourceWire, resourceMemory)
	m := InvalList{make([]Resource, n)}
	for i := range m.Resources {
		m.Resources[i] = Resource{Type: d.u8("resources.type"), ID: d.u64("resources.id")}
	}
	return m, d.err
}

// Append appends header and body to b. It holds at most 65535 resources.
func (m InvalList) Append(b []byte) []byte {
	return compose(b, MsgDisplayInvalList, func(c *composer) {
		c.u16(uint16(len(m.Resources)))
		for _, r := range m.Resources {
			c.u8(r.Type)
			c.u64(r.ID)
		}
	})
}

// InvalAllPixmaps empties the client's image cache, once the other channels that
// share it have come far enough (MSG_DISPLAY_INVAL_ALL_PIXMAPS): u8 count, the
// ChannelWaits.
type InvalAllPixmaps struct{ Waits []ChannelWait }

// ParseInvalAllPixmaps decodes the body of MsgDisplayInvalAllPixmaps. The error
// is a *DecodeError.
func ParseInvalAllPixmaps(b []byte) (InvalAllPixmaps, error) {
	d := serverDisplayBody(MsgDisplayInvalAllPixmaps, b)
	m := InvalAllPixmaps{Waits: d.channelWaits("wait_count")}
	return m, d.err
}

// Append appends header and body to b. It holds at most 255 waits.
func (m InvalAllPixmaps) Append(b []byte) []byte {
	return compose(b, MsgDisplayInvalAllPixmaps, func(c *composer) {
		c.b = appendChannelWaits(c.b, m.Waits)
	})
}

// InvalPalette takes one palette out of the client's cache
// (MSG_DISPLAY_INVAL_PALETTE): u64 id.
type InvalPalette struct{ ID uint64 }

// ParseInvalPalette decodes the body of MsgDisplayInvalPalette. The error is a
// *DecodeError.
func ParseInvalPalette(b []byte) (InvalPalette, error) {
	d := serverDisplayBody(MsgDisplayInvalPalette, b)
	m := InvalPalette{ID: d.u64("id")}
	return m, d.err
}

// Append appends header and body to b.
func (m InvalPalette) Append(b []byte) []byte {
	return compose(b, MsgDisplayInvalPalette, func(c *composer) { c.u64(m.ID) })
}
