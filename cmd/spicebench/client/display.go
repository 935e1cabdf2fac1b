package client

import (
	"errors"
	"sync"
	"time"

	"spicepacer/spiceproto"
)

// displayInit is what spice-gtk 0.42 sends: 80 MiB of image cache and a GLZ window
// of half the guest's video memory, but 12 to 64 MiB (spice-session.c); both are
// counted in pixels of four bytes.
func displayInit(ramHint uint32) spiceproto.DisplayInit {
	window := min(max(ramHint/2, 12<<20), 64<<20)
	return spiceproto.DisplayInit{
		PixmapCacheID: 1, PixmapCacheSize: 80 << 20 / 4,
		GLZDictionaryID: 1, GLZWindowSize: int32(window / 4),
	}
}

// beginDisplay sends what a display channel begins with.
func (c Config) beginDisplay(ch *channel, ramHint uint32) error {
	b := displayInit(ramHint).Append(nil)
	if c.Compression != 0 {
		if !ch.caps.Has(spiceproto.CapDisplayPrefCompression) {
			return ch.fail("ask for a compression", errNoChoice)
		}
		b = spiceproto.PreferredCompression{Compression: c.Compression}.Append(b)
	}
	return ch.send(b)
}

var errNoChoice = errors.New("the server leaves no choice of it")

// paint is what a message painted on surface 0.
type paint struct {
	box    spiceproto.Rect
	kind   string // of Result.Images; empty: nothing was painted, on any surface
	pixels uint64 // on any surface
}

// display handles the display channel: it tells the driver of draws over the key
// box and keeps the books of the measuring window.
type display struct {
	keyBox  spiceproto.Rect
	regions regions
	clock   *mediaClock
	logf    func(format string, args ...any)
	streams streams

	// draws gets the time of every draw over the key box, until done is closed.
	draws chan<- time.Time
	done  <-chan struct{}

	mu    sync.Mutex
	books *books // of the measuring window; nil before it
}

// books are what the display channel contributes to a Result.
type books struct {
	start  time.Time
	images map[string]Tally
	age    *ageRecorder
}

// open begins the measuring window.
func (d *display) open(start time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.books = &books{start: start, images: map[string]Tally{}, age: newAgeRecorder(d.regions.count(), start)}
}

func (d *display) isOpen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.books != nil
}

// close ends the measuring window and writes it into a result.
func (d *display) close(r *Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now() // under the lock: no update in the books is later
	r.Elapsed = now.Sub(d.books.start)
	r.Images = d.books.images
	r.Age = d.books.age.age(now)
	d.books = nil
}

func (d *display) handle(c *channel, m message) error {
	p, err := d.paint(c, m)
	if err != nil {
		return err
	}
	if p.kind != "" {
		d.book(m, p)
	}
	if p.box.Intersects(d.keyBox) {
		select {
		case d.draws <- m.at:
		case <-d.done:
		}
	}
	return nil
}

// book enters a message that painted in the books.
func (d *display) book(m message, p paint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.books == nil || m.at.Before(d.books.start) {
		return
	}
	d.books.images[p.kind] = d.books.images[p.kind].Plus(Tally{1, m.size, p.pixels})
	d.regions.covered(p.box, func(i int) { d.books.age.updated(i, m.at) })
}

// paint follows the streams and tells what a message painted.
func (d *display) paint(c *channel, m message) (paint, error) {
	switch m.Type {
	case spiceproto.MsgDisplaySurfaceCreate:
		return paint{}, d.surface(m)
	case spiceproto.MsgDisplayStreamCreate:
		return paint{}, d.streams.create(m)
	case spiceproto.MsgDisplayStreamDestroy:
		return paint{}, d.streams.destroy(m)
	case spiceproto.MsgDisplayStreamDestroyAll:
		clear(d.streams)
	case spiceproto.MsgDisplayStreamActivateReport:
		return paint{}, d.streams.activateReport(m)
	case spiceproto.MsgDisplayStreamData, spiceproto.MsgDisplayStreamDataSized:
		box, err := d.streams.frame(c, m, d.clock.now(m.at))
		return paint{box, messageName(m), area(box)}, err
	}
	if !spiceproto.IsDraw(m.Type) {
		return paint{}, nil
	}
	return drawn(m)
}

// drawn tells what a draw painted. Its clip rectangles are not looked at: what
// lies in the box counts.
func drawn(m message) (paint, error) {
	h, err := spiceproto.ParseDrawHead(m.Type, m.Size, m.head)
	if err != nil {
		return paint{}, err
	}
	p := paint{kind: messageName(m), pixels: area(h.Box)}
	if h.ImageKnown {
		p.kind = h.Image.Type.String()
	}
	if h.Surface == 0 {
		p.box = h.Box
	}
	return p, nil
}

// area is the number of pixels in a box.
func area(box spiceproto.Rect) uint64 { return uint64(box.Width()) * uint64(box.Height()) }

// surface notes the size of the screen, by which wrong rectangles are found.
func (d *display) surface(m message) error {
	s, err := spiceproto.ParseSurfaceCreate(m.head)
	if err == nil && s.ID == 0 {
		d.logf("display channel: surface 0 has %dx%d pixels", s.Width, s.Height)
	}
	return err
}

func messageName(m message) string {
	return spiceproto.MessageName(spiceproto.ChannelDisplay, spiceproto.ServerToClient, m.Type)
}
