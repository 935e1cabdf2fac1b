package pacer

import (
	"time"

	"spicepacer/spiceproto"
)

// calmBefore is how long the link must not have been the limit before the server
// is given back the compression of the client's choice: changing it costs the
// GLZ window, and what an animation pauses for is no calm.
const calmBefore = 10 * time.Second

// preference is the image compression asked of the server.
//
// GLZ images refer to earlier ones, so that none can be dropped and none can
// overtake another. While the queue is to be sorted the server is asked for
// AUTO_LZ, which chooses per image as its own default does, without GLZ.
type preference struct {
	fixed  spiceproto.Compression
	auto   bool
	ready  bool                   // the server has had DISPLAY_INIT
	client spiceproto.Compression // what the client asked for, 0: nothing
	told   spiceproto.Compression // what the server was told last, 0: nothing
	glz    bool                   // it sends GLZ images if it may
	full   time.Time              // when the link was last the limit
}

func (p *preference) arrived(m *Message) {
	if m.Effect.Uses&spiceproto.UsesGLZ != 0 {
		p.glz = true
	}
}

// want returns what the server should be told, 0 for nothing.
func (p *preference) want(now time.Time, full bool) spiceproto.Compression {
	if full {
		p.full = now
	}
	switch {
	case p.fixed != 0:
		return p.fixed
	case p.client != 0 && p.client != spiceproto.CompressionGLZ && p.client != spiceproto.CompressionAutoGLZ:
		return p.client
	case p.auto && p.glz && !p.full.IsZero() && now.Sub(p.full) < calmBefore:
		return spiceproto.CompressionAutoLZ
	case p.client == 0 && p.told != 0:
		// GLZ was seen before the server was told anything: it chooses by itself,
		// as it does unless its administrator said GLZ always.
		return spiceproto.CompressionAutoGLZ
	}
	return p.client
}

// Initialised tells that the client's DISPLAY_INIT has gone to the server, which
// takes preferences from then on.
func (c *Channel) Initialised() { c.preference.ready = true }

// ClientPrefers books the compression the client asks for.
func (c *Channel) ClientPrefers(v spiceproto.Compression) { c.preference.client = v }

// ManagesCompression tells that the client's own requests for a compression must
// not reach the server: Preference has them.
func (c *Channel) ManagesCompression() bool {
	return c.cfg.Compression != 0 || c.cfg.CompressionAuto
}

// Preference returns the compression to ask of the server now, and books it;
// false if there is nothing to ask.
func (c *Channel) Preference(now time.Time) (spiceproto.Compression, bool) {
	p := &c.preference
	if !p.ready || !c.ManagesCompression() {
		return 0, false
	}
	v := p.want(now, c.link.Full())
	if v == p.told || v == 0 {
		return 0, false
	}
	p.told = v
	return v, true
}
