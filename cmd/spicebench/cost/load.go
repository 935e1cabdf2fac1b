package cost

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"spicepacer/spiceproto"
)

// load is what the hypervisor sends on one channel.
type load struct {
	name    string
	channel spiceproto.ChannelType
	// opening are the whole messages that come first.
	opening []byte
	// window is W of the SET_ACK in opening; 0: nothing is acknowledged.
	window uint32
	// cycle are the whole messages that then come again and again.
	cycle [][]byte
	// rate bounds the bytes per second; 0: as fast as they are taken.
	rate float64
	// receive is how many bytes per second the viewer takes; 0: all that come.
	receive float64
}

// rates are those of the display loads, in bytes per second.
type rates struct{ display, link float64 }

// loads are made by name. The point of display is a connection that is busy but
// never full, that of saturated one that never has room.
var loads = map[string]func(r rates) load{
	"bulk":      func(rates) load { return bulk() },
	"display":   func(r rates) load { return display(r.display) },
	"saturated": func(r rates) load { return saturated(r.link) },
}

// bulk is a redirected USB device at full speed: messages of 32 to 64 KiB.
func bulk() load {
	l := load{name: "bulk", channel: spiceproto.ChannelUSBRedir}
	for size := uint32(32 << 10); size <= 64<<10; size += 8 << 10 {
		h := spiceproto.Header{Type: spiceproto.MsgVMCData, Size: size}
		l.cycle = append(l.cycle, append(h.Append(nil), make([]byte, size)...))
	}
	return l
}

// Screen and encoding of the display load: QEMU sends a changed picture in
// columns, one message each. The cycle is one frame.
const (
	screenWidth  = 1920
	screenHeight = 1080
	columnWidth  = 16
	columnBytes  = 16 << 10
	windowSize   = 20 // what spice-server chooses on a fast link
)

// display is a full-screen animation.
func display(rate float64) load {
	l := load{name: "display", channel: spiceproto.ChannelDisplay, window: windowSize, rate: rate}
	l.opening = spiceproto.SetAck{Generation: 1, Window: windowSize}.Append(nil)
	l.opening = spiceproto.SurfaceCreate{
		Width: screenWidth, Height: screenHeight, Format: 32, Flags: 1,
	}.Append(l.opening)
	for left := int32(0); left < screenWidth; left += columnWidth {
		box := spiceproto.Rect{Left: left, Right: left + columnWidth, Bottom: screenHeight}
		l.cycle = append(l.cycle, appendDraw(nil, box, columnBytes))
	}
	return l
}

// saturated is the same animation, as fast as it is taken by a viewer whose link
// carries so many bytes per second.
func saturated(link float64) load {
	l := display(0)
	l.name, l.receive = "saturated", link
	return l
}

// Sizes in the body of a DRAW_COPY without clip and mask (spice.proto).
const (
	drawFixed = 21 + 36 // DisplayBase, DRAW_COPY
	drawImage = 18 + 4  // image descriptor, u32 size of its data
)

// appendDraw appends a DRAW_COPY of an LZ image to box on surface 0, whose body
// takes size bytes. A relay looks at the head only; the image is zeros.
func appendDraw(b []byte, box spiceproto.Rect, size uint32) []byte {
	const ropPut = 8
	le := binary.LittleEndian
	b = spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy, Size: size}.Append(b)
	b = le.AppendUint32(b, 0) // surface
	b = appendRect(b, box)
	b = append(b, byte(spiceproto.ClipNone))
	b = le.AppendUint32(b, drawFixed) // where the image is
	b = appendRect(b, spiceproto.Rect{Right: int32(box.Width()), Bottom: int32(box.Height())})
	b = le.AppendUint16(b, ropPut)
	b = append(b, make([]byte, 1+13)...) // scale mode, no mask
	b = le.AppendUint64(b, 1)            // the image's id
	b = append(b, byte(spiceproto.ImageLZRGB), 0)
	b = le.AppendUint32(b, uint32(box.Width()))
	b = le.AppendUint32(b, uint32(box.Height()))
	b = le.AppendUint32(b, size-drawFixed-drawImage)
	return append(b, make([]byte, size-drawFixed-drawImage)...)
}

func appendRect(b []byte, r spiceproto.Rect) []byte {
	for _, v := range [...]int32{r.Top, r.Left, r.Bottom, r.Right} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// parseLoads makes the named loads.
func parseLoads(names []string, r rates) ([]load, error) {
	var made []load
	for _, name := range names {
		build, ok := loads[name]
		if !ok {
			return nil, fmt.Errorf("load %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(loads)), ", "))
		}
		made = append(made, build(r))
	}
	return made, nil
}

// cycleBytes is the size of one cycle.
func (l load) cycleBytes() int {
	n := 0
	for _, m := range l.cycle {
		n += len(m)
	}
	return n
}

// tally counts whole messages and all bytes of one direction after the link
// stage.
type tally struct{ bytes, messages uint64 }
