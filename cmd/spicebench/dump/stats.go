package dump

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"spicepacer/spiceproto"
)

const unknownName = spiceproto.UnknownMessage

// stats sums up a dump.
type stats struct {
	messages map[messageKey]*tally
	images   map[spiceproto.ImageType]*imageTally
	notices  int
	errors   int
}

// messageKey is a row of the table of messages.
type messageKey struct {
	channel   spiceproto.ChannelType
	id        uint8
	direction spiceproto.Direction
	opcode    uint16
}

type tally struct {
	name                  string
	count, bytes, largest int64
}

// imageTally counts the source images of draws. plain is what the pixels would
// take at four bytes each, bytes the messages that carried them.
type imageTally struct{ count, bytes, plain int64 }

func newStats() *stats {
	return &stats{
		messages: make(map[messageKey]*tally),
		images:   make(map[spiceproto.ImageType]*imageTally),
	}
}

// add is a Visit.
func (s *stats) add(r *Record) error {
	switch {
	case r.Kind == Notice:
		s.notices++
	case r.Kind == Message:
		s.addMessage(r)
	}
	if r.Err != nil {
		s.errors++
	}
	return nil
}

func (s *stats) addMessage(r *Record) {
	key := messageKey{r.Channel, r.ID, r.Direction, r.Opcode}
	t := s.messages[key]
	if t == nil {
		t = &tally{name: messageName(r)}
		s.messages[key] = t
	}
	size := int64(r.Size + r.Header)
	t.count++
	t.bytes += size
	t.largest = max(t.largest, size)
	if image, ok := sourceImage(r); ok {
		i := s.images[image.Type]
		if i == nil {
			i = new(imageTally)
			s.images[image.Type] = i
		}
		i.count++
		i.bytes += size
		i.plain += 4 * int64(image.Width) * int64(image.Height)
	}
}

// sourceImage returns the image that a message draws, from its body in a capture,
// from its fields in a trace.
func sourceImage(r *Record) (spiceproto.Image, bool) {
	if r.Channel != spiceproto.ChannelDisplay || r.Direction != down || !spiceproto.IsDraw(r.Opcode) {
		return spiceproto.Image{}, false
	}
	if m, ok := r.Fields.(traceMessage); ok {
		return m.image()
	}
	h, err := spiceproto.ParseDrawHead(r.Opcode, uint32(r.Size), r.Body)
	return h.Image, err == nil && h.ImageKnown
}

// hasPixels tells whether images of a type carry pixels, so that a ratio means
// something.
func hasPixels(t spiceproto.ImageType) bool {
	switch t {
	case spiceproto.ImageFromCache, spiceproto.ImageFromCacheLossless, spiceproto.ImageSurface:
		return false
	}
	return true
}

// print writes the tables.
func (s *stats) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "channel\tdirection\topcode\tmessage\tcount\tbytes\tmean\tlargest\t")
	var sum tally
	for _, key := range slices.SortedFunc(maps.Keys(s.messages), compareKeys) {
		t := s.messages[key]
		fmt.Fprintf(w, "%v:%d\t%v\t%d\t%s\t%d\t%d\t%d\t%d\t\n", key.channel, key.id, key.direction, key.opcode,
			t.name, t.count, t.bytes, t.bytes/t.count, t.largest)
		sum.count += t.count
		sum.bytes += t.bytes
	}
	fmt.Fprintf(w, "all\t\t\t\t%d\t%d\t\t\t\n", sum.count, sum.bytes)
	if len(s.images) > 0 {
		fmt.Fprintln(w, "\nimage\tcount\tbytes\tmean\tplain bytes\tratio\t")
	}
	for _, t := range slices.Sorted(maps.Keys(s.images)) {
		i := s.images[t]
		ratio := "-"
		if hasPixels(t) && i.bytes > 0 {
			ratio = fmt.Sprintf("%.2f", float64(i.plain)/float64(i.bytes))
		}
		fmt.Fprintf(w, "%v\t%d\t%d\t%d\t%d\t%s\t\n", t, i.count, i.bytes, i.bytes/i.count, i.plain, ratio)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.notices+s.errors == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "\n%d notices of what was not decoded, %d messages that broke a parser\n", s.notices, s.errors)
	return err
}

func compareKeys(a, b messageKey) int {
	return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.id, b.id),
		cmp.Compare(a.direction, b.direction), cmp.Compare(a.opcode, b.opcode))
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
