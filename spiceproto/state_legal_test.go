package spiceproto

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// legalPeers makes up a legal session step by step: a server and a client that
// know what they may do, and do any of it.
type legalPeers struct {
	*rapid.T
	m *Machine

	window, messages, acks uint64
	generation             uint32
	unsynced               []uint32
	pings                  []step
}

// say feeds a message, which must not be found fault with.
func (p *legalPeers) say(s step) {
	p.Helper()
	if s.dir == ServerToClient {
		p.messages++
	}
	for _, f := range s.observe(p.m) {
		p.Fatalf("found %v in %x", f, s.body[:min(len(s.body), 80)])
	}
}

func (p *legalPeers) oneIn(n int) bool { return rapid.IntRange(1, n).Draw(p.T, "one in") == 1 }
func (p *legalPeers) small() uint32    { return rapid.Uint32Range(0, 4).Draw(p.T, "small") }
func (p *legalPeers) bytes(most int) []byte {
	return rapid.SliceOfN(rapid.Byte(), 0, most).Draw(p.T, "bytes")
}

// open opens a window.
func (p *legalPeers) open() {
	p.generation++
	p.window = rapid.Uint64Range(1, 12).Draw(p.T, "window")
	p.say(setAck(p.generation, uint32(p.window)))
	p.messages, p.acks = 1, 0
	p.unsynced = append(p.unsynced, p.generation)
}

// mayServe reports whether the window admits a message of the server.
func (p *legalPeers) mayServe() bool {
	return p.window == 0 || p.messages < p.window*p.acks+2*p.window+2
}

// common takes one step any channel admits.
func (p *legalPeers) common() {
	switch {
	case len(p.unsynced) > 0 && p.oneIn(2):
		p.say(up(MsgcAckSync, u32s(p.unsynced[0])...))
		p.unsynced = p.unsynced[1:]
	case len(p.unsynced) == 0 && p.window*(p.acks+1) <= p.messages && p.window > 0:
		p.acks++
		p.say(up(MsgcAck))
	case len(p.pings) > 0 && p.oneIn(2):
		i := rapid.IntRange(0, len(p.pings)-1).Draw(p.T, "ping")
		p.say(up(MsgcPong, p.pings[i].body...))
		p.pings = slices.Delete(p.pings, i, i+1)
	case len(p.pings) < 16 && p.mayServe():
		s := ping(p.small(), rapid.Uint64().Draw(p.T, "time"))
		p.pings = append(p.pings, s)
		p.say(s)
	}
}

// legalDisplay is a display channel with what it knows.
type legalDisplay struct {
	legalPeers
	surfaces, streams map[uint32]bool
	cached            map[uint64]bool
	palettes          bool
	glDraws           int
}

func pick[K ~uint32 | ~uint64](t *rapid.T, set map[K]bool) K {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(set))).Draw(t, "one of")
}

// clip is a random clip list.
func (d *legalDisplay) clip() []byte {
	n := rapid.Uint32Range(0, 12).Draw(d.T, "clip")
	if n == 0 {
		return []byte{byte(ClipNone)}
	}
	return join([]byte{byte(ClipRects)}, u32s(n), make([]byte, rectSize*n))
}

// source is a random image the client can show, and what it does to the caches.
func (d *legalDisplay) source() []byte {
	id := uint64(d.small())
	switch {
	case d.oneIn(5) && len(d.cached) > 0:
		return image(pick(d.T, d.cached), ImageFromCache, 0)
	case d.oneIn(5):
		return image(id, ImageSurface, 0, u32s(pick(d.T, d.surfaces))...)
	case d.oneIn(5) && d.palettes:
		return bitmap(bitmapPaletteFromCache, 3)
	case d.oneIn(5):
		d.palettes = true
		return bitmap(bitmapPaletteCacheMe, 0)
	case d.oneIn(2):
		d.cached[id] = true
		return image(id, ImageQUIC, ImageCacheMe, u32s(0)...)
	}
	return image(id, ImageGLZRGB, 0, u32s(0)...)
}

// draw paints somewhere with any draw.
func (d *legalDisplay) draw() {
	base := join(u32s(pick(d.T, d.surfaces), 0, 0, 10, 10), d.clip())
	if d.oneIn(2) {
		ptr := u32s(uint32(len(base) + 36))
		d.say(down(MsgDisplayDrawCopy, join(base, ptr, make([]byte, 32), d.source())...))
		return
	}
	op := rapid.Uint16Range(MsgDisplayDrawFill, MsgDisplayDrawComposite).Filter(func(op uint16) bool {
		return IsDraw(op) && op != MsgDisplayDrawTransparent
	}).Draw(d.T, "draw")
	l, _ := drawLayoutOf(op)
	rest := make([]byte, l.size)
	if op == MsgDisplayDrawFill && d.oneIn(2) {
		// A pattern brush and its image, which nobody reads: it stores something.
		rest = join([]byte{2}, u32s(uint32(len(base)+28)), make([]byte, 23), image(9, ImageQUIC, ImageCacheMe, u32s(0)...))
		d.cached[9] = true
	}
	d.say(down(op, join(base, rest)...))
}

func (d *legalDisplay) surface() {
	id := d.small()
	switch {
	case d.surfaces[id] && id != 0:
		delete(d.surfaces, id)
		d.say(down(MsgDisplaySurfaceDestroy, u32s(id)...))
	case !d.surfaces[id]:
		d.surfaces[id] = true
		d.say(surfaceCreate(id))
	}
}

func (d *legalDisplay) stream() {
	id := d.small()
	switch {
	case d.oneIn(20):
		clear(d.streams)
		d.say(down(MsgDisplayStreamDestroyAll))
	case !d.streams[id]:
		d.streams[id] = true
		d.say(streamCreate(id, 1))
	case d.oneIn(4):
		delete(d.streams, id)
		d.say(down(MsgDisplayStreamDestroy, u32s(id)...))
	case d.oneIn(3):
		d.say(down(MsgDisplayStreamClip, join(u32s(id), d.clip())...))
	case d.oneIn(3):
		d.say(up(MsgcDisplayStreamReport, make([]byte, 32)...).with(0, id))
	default:
		d.say(streamData(id))
	}
}

func (d *legalDisplay) caches() {
	switch {
	case d.oneIn(10):
		clear(d.cached)
		d.say(down(MsgDisplayInvalAllPixmaps, 0))
	case d.oneIn(10):
		d.palettes = false
		d.say(down(MsgDisplayInvalAllPalettes))
	case len(d.cached) > 0:
		id := pick(d.T, d.cached)
		delete(d.cached, id)
		d.say(invalList(id, uint64(1000+d.small())))
	}
}

func (d *legalDisplay) gl() {
	if d.glDraws > 0 && d.oneIn(2) {
		d.glDraws--
		d.say(up(MsgcDisplayGLDrawDone))
		return
	}
	d.glDraws++
	d.say(down(MsgDisplayGLDraw, make([]byte, 16)...))
}

func TestMachineAcceptsAnyLegalDisplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &legalDisplay{
			legalPeers: legalPeers{T: t, m: linked(ChannelDisplay)},
			surfaces:   map[uint32]bool{}, streams: map[uint32]bool{}, cached: map[uint64]bool{},
		}
		d.say(displayInit())
		d.open()
		d.surfaces[0] = true
		d.say(surfaceCreate(0))
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			if !d.mayServe() || d.oneIn(3) {
				d.common()
				continue
			}
			rapid.SampledFrom([]func(){d.draw, d.draw, d.surface, d.stream, d.caches, d.gl}).Draw(t, "step")()
			if d.oneIn(60) && d.mayServe() && len(d.unsynced) < 4 {
				d.open()
			}
		}
	})
}

func TestMachineAcceptsAnyLegalMain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &legalPeers{T: t, m: linked(ChannelMain)}
		p.say(mainInit())
		toServer, toClient := uint32(10), uint32(0)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			n := p.small()
			switch {
			case p.oneIn(4):
				p.common()
			case p.oneIn(6):
				// A new agent: the old one's tokens are void.
				toServer = n
				p.say(down(MsgMainAgentDisconnected, u32s(0)...))
				p.say(down(MsgMainAgentConnectedTokens, u32s(n)...))
			case p.oneIn(6):
				toServer += n
				p.say(down(MsgMainAgentToken, u32s(n)...))
			case p.oneIn(6):
				toClient += n
				p.say(up(rapid.SampledFrom([]uint16{MsgcMainAgentStart, MsgcMainAgentToken}).Draw(t, "grant"), u32s(n)...))
			case toServer > 0 && p.oneIn(2):
				toServer--
				p.say(up(MsgcMainAgentData, p.bytes(50)...))
			case toClient > 0:
				toClient--
				p.say(down(MsgMainAgentData, p.bytes(50)...))
			}
		}
	})
}

func TestMachineAcceptsAnyLegalInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &legalPeers{T: t, m: linked(ChannelInputs)}
		p.say(down(MsgInputsInit, 0, 0))
		motions := 0
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch {
			case p.oneIn(5):
				p.common()
			case motions >= motionsPerAck && p.oneIn(2):
				motions -= motionsPerAck
				p.say(down(MsgInputsMouseMotionAck))
			case p.oneIn(4):
				p.say(up(MsgcInputsKeyScancode, p.bytes(8)...))
			default:
				motions++
				p.say(motion())
			}
		}
	})
}

func TestMachineAcceptsAnyLegalSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		channel := rapid.SampledFrom([]ChannelType{ChannelPlayback, ChannelRecord}).Draw(t, "channel")
		p := &legalPeers{T: t, m: linked(channel)}
		playing, ever := false, false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch {
			case p.oneIn(5):
				p.common()
			case p.oneIn(3):
				s := soundStart(channel)
				if playing {
					s = down(s.op + 1)
					if channel == ChannelRecord {
						s = down(MsgRecordStop)
					}
				}
				playing, ever = !playing, true
				p.say(s)
			case channel == ChannelPlayback:
				p.say(down(MsgPlaybackData, make([]byte, 40)...))
			case ever:
				p.say(up(MsgcRecordData, make([]byte, 40)...))
			}
		}
	})
}

// The cache never denies an id that is in it, and knows the ids dropped last.
func TestIDCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c idCache
		held, dropped := map[uint64]bool{}, []uint64{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			id := rapid.Uint64Range(0, 50).Draw(t, "id")
			dropped = slices.DeleteFunc(dropped, func(d uint64) bool { return d == id })
			switch rapid.SampledFrom([]string{"store", "store", "drop", "drop", "drop", "clear"}).Draw(t, "do") {
			case "store":
				c.store(id)
				held[id] = true
			case "drop":
				c.drop(id)
				delete(held, id)
				dropped = append(dropped, id)
			case "clear":
				c.clear()
				clear(held)
				dropped = nil
			}
			for id := range held {
				if !c.holds(id) {
					t.Fatalf("%d is stored and denied", id)
				}
			}
			if len(held) == 0 && len(dropped) == 0 && c.holds(id) {
				t.Fatalf("an empty cache holds %d", id)
			}
			if n := len(dropped); n > 0 && c.holds(dropped[n-1]) {
				t.Fatalf("%d was dropped last and is held", dropped[n-1])
			}
		}
	})
}
