package spiceproto

// EffectHeadSize is how many body bytes ParseEffect can make use of in what
// servers send: they suffice for the fixed part of every draw but the largest
// DRAW_COMPOSITE, with EffectClipRects rectangles, and for the source image up
// to its palette.
const EffectHeadSize = 256

// EffectClipRects is how many clip rectangles an Effect keeps.
const EffectClipRects = 8

// Effect is what a draw does to its surface and to what the client keeps, as
// far as the message's head proves it. It holds nothing of the pixels. The zero
// value proves nothing.
type Effect struct {
	Op uint16
	// Doubt is DoubtNone if the other fields are the whole truth. With any other
	// they are zero and mean nothing: the draw may read and write anything.
	Doubt Doubt

	// Surface is written, and no pixel of it outside Box or outside the clip.
	Surface uint32
	Box     Rect
	Clip    ClipType
	// ClipCount is the length of the clip list, 0 with ClipNone. ClipRects holds
	// it whole if ClipKnown, which is always so with ClipNone.
	ClipCount uint32
	ClipKnown bool
	ClipRects [EffectClipRects]Rect

	// Overwrites: every pixel of the box that is in the clip gets a value that
	// does not depend on any surface.
	Overwrites bool
	// ReadsDest: what a pixel shows afterwards may depend on what Surface showed
	// before, in the same place or, by CopyFrom and by images that are surfaces,
	// in another.
	ReadsDest bool
	// CopyFrom is what a COPY_BITS reads of Surface, before clipping; empty for
	// all others.
	CopyFrom Rect

	// Source is the image of the draw; Brush and BackBrush are the patterns of
	// its brushes, the latter of DRAW_TEXT only.
	Source, Brush, BackBrush, Mask ImageUse
	// Uses is the union of what the images use.
	Uses ImageUses
}

// Doubt is why an Effect proves nothing.
type Doubt uint8

// The doubts.
const (
	// DoubtUnread is the doubt of the zero Effect.
	DoubtUnread Doubt = iota
	// DoubtNone: the effect is known.
	DoubtNone
	// DoubtNoDraw: the message is none that IsDraw knows.
	DoubtNoDraw
	// DoubtHead: a field lies beyond the head.
	DoubtHead
	// DoubtMalformed: the body contradicts itself, or has an undefined clip or
	// brush; a client refuses it.
	DoubtMalformed
	// DoubtArea: the box is empty or inverted, or a copied area has corners that
	// no i32 can tell.
	DoubtArea
	// DoubtImage: an image is of an undefined type, or the source is missing.
	DoubtImage
)

var doubtNames = [...]string{
	DoubtUnread: "unread", DoubtNone: "none", DoubtNoDraw: "no-draw", DoubtHead: "head",
	DoubtMalformed: "malformed", DoubtArea: "area", DoubtImage: "image",
}

// String returns the doubt's name.
func (d Doubt) String() string {
	if int(d) < len(doubtNames) {
		return doubtNames[d]
	}
	return "undefined"
}

// ImageUses are the ties of a draw to what the client keeps: each makes its
// order among others matter, or its absence.
type ImageUses uint8

// The ties.
const (
	// UsesStore: the client's cache changes (CACHE_ME, CACHE_REPLACE_ME).
	UsesStore ImageUses = 1 << iota
	// UsesCache: the image comes from the client's cache.
	UsesCache
	// UsesPaletteStore: the client's palette cache changes.
	UsesPaletteStore
	// UsesPaletteCache: the palette comes from the client's cache.
	UsesPaletteCache
	// UsesGLZ: the image enters the GLZ window, and may refer to others in it.
	UsesGLZ
	// UsesSurface: the image is what a surface shows at that time.
	UsesSurface
)

// ImageUse is one image of a draw. Its zero value is no image.
type ImageUse struct {
	Present bool
	// Image is the descriptor, with the size a client draws: a bitmap's own size,
	// where that is smaller.
	Image Image
	Uses  ImageUses
	// Surface is for UsesSurface.
	Surface uint32
	// PaletteID is for UsesPaletteCache.
	PaletteID uint64
}

// ParseEffect reads the effect of message op from the first bytes of its body.
// size is the size of the whole body; a head of EffectHeadSize bytes is enough.
// It never allocates.
func ParseEffect(op uint16, size uint32, head []byte) Effect {
	if !IsDraw(op) {
		return Effect{Op: op, Doubt: DoubtNoDraw}
	}
	h := effectHead{b: head[:min(uint64(len(head)), uint64(size))], size: uint64(size)}
	e := Effect{Op: op}
	h.base(&e)
	h.draw(&e)
	if h.doubt != DoubtUnread {
		return Effect{Op: op, Doubt: h.doubt}
	}
	e.Doubt = DoubtNone
	e.Uses = e.Source.Uses | e.Brush.Uses | e.BackBrush.Uses | e.Mask.Uses
	if e.Uses&UsesSurface != 0 {
		e.Overwrites = false
		e.ReadsDest = e.ReadsDest || e.showsItself()
	}
	return e
}

// showsItself reports whether an image of the draw is the surface it paints on.
func (e *Effect) showsItself() bool {
	for _, u := range [...]*ImageUse{&e.Source, &e.Brush, &e.BackBrush, &e.Mask} {
		if u.Uses&UsesSurface != 0 && u.Surface == e.Surface {
			return true
		}
	}
	return false
}
