package firewall

import (
	"time"

	"spicepacer/spiceproto"
)

// Rate is what one direction of a channel may carry in a second, headers
// included; 0 is no limit.
type Rate struct{ Messages, Bytes uint64 }

// window counts what comes in each second by the clock; its zero value admits
// everything and never looks at one.
type window struct {
	most  Rate
	start time.Time
	seen  Rate
}

// admits counts a message and tells whether the window has room for it.
func (w *window) admits(h spiceproto.Header) bool {
	if w.most == (Rate{}) {
		return true
	}
	if now := time.Now(); now.Sub(w.start) >= time.Second {
		w.start, w.seen = now, Rate{}
	}
	w.seen.Messages++
	w.seen.Bytes += spiceproto.MiniHeaderSize + uint64(h.Size)
	return within(w.seen.Messages, w.most.Messages) && within(w.seen.Bytes, w.most.Bytes)
}

func within(seen, most uint64) bool { return most == 0 || seen <= most }
