package session

import (
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// gate keeps a message of one direction back until the firewall has judged it,
// which takes its header and the start of its body. These few bytes are of no
// use to a peer without the rest. The zero gate lets everything pass.
type gate struct {
	guard     *firewall.Channel // nil: no firewall
	direction spiceproto.Direction
	shut      bool   // the message under way is not judged
	held      []byte // of it, from earlier reads
}

// judge is told each segment that a framer cuts. After an error the message must
// not be passed on, nor anything behind it.
func (g *gate) judge(s spiceproto.Segment, f *spiceproto.Framer) error {
	if g.guard == nil {
		return nil
	}
	if s.Start {
		g.shut = true
	}
	if s.HeaderDone {
		if err := g.guard.Header(g.direction, f.Header()); err != nil {
			return err
		}
	}
	if s.HeadDone {
		if err := g.guard.Head(g.direction, f.Header(), f.Head()); err != nil {
			return err
		}
		g.shut = false
	}
	return nil
}

// open tells that what came last may pass, and all before it.
func (g *gate) open() bool { return !g.shut }

// hold keeps the start of a message that is not judged yet.
func (g *gate) hold(b []byte) {
	if len(b) > 0 {
		g.held = append(g.held, b...)
	}
}

// release returns what was held if anything behind it may pass, until the next
// hold.
func (g *gate) release(pass int) []byte {
	if pass == 0 {
		return nil
	}
	held := g.held
	g.held = held[:0]
	return held
}

// skip takes bytes that go nowhere, so that f still knows where the stream is.
func skip(f *spiceproto.Framer, b []byte) {
	for len(b) > 0 {
		b = b[len(f.Next(b).Bytes):]
	}
}
