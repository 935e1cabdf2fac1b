package link

import (
	"math/rand/v2"
	"time"
)

// shaper is one direction of the link as pure arithmetic: a drop-tail queue, a
// serialiser and a delay line. It reads no clock; times are durations since an
// epoch its caller chooses, and must not go backwards.
//
//	offer ─► waiting (queueBytes) ─► serialiser (RateMbit) ─► flying (RTT/2) ─► next
//
// Departures are computed from the departure before, not from when the caller
// happened to look, so a late caller does not slow the link down.
type shaper struct {
	profile Profile
	random  *rand.Rand
	waiting fifo // not yet serialised; the head is being serialised
	flying  fifo // serialised, with the time they come out
	// queued are the bytes in waiting.
	queued int
	// idleSince is when the serialiser finished the packet before waiting's head.
	idleSince time.Duration
	// lastOut keeps the order when the RTT shrinks while packets fly.
	lastOut time.Duration
}

func newShaper(p Profile, seed uint64) *shaper {
	return &shaper{profile: p, random: rand.New(rand.NewPCG(seed, 0))}
}

// setProfile changes the link at now. Packets in flight keep the old delay.
func (s *shaper) setProfile(now time.Duration, p Profile) {
	s.serialise(now)
	s.profile = p
}

// offer hands over a packet that reached the link at now and reports whether
// the link took it; a packet is refused when the queue is full or by random loss.
func (s *shaper) offer(now time.Duration, data []byte) bool {
	s.serialise(now)
	if s.queued+len(data) > s.profile.queueBytes() || s.lost() {
		return false
	}
	if s.waiting.empty() {
		s.idleSince = max(s.idleSince, now)
	}
	s.waiting.push(packet{data: data})
	s.queued += len(data)
	return true
}

// next returns a packet that has left the link by now, or nil.
func (s *shaper) next(now time.Duration) []byte {
	s.serialise(now)
	if s.flying.empty() || s.flying.head().out > now {
		return nil
	}
	return s.flying.pop().data
}

// wake returns when next will have something, and false when the link is empty.
func (s *shaper) wake() (time.Duration, bool) {
	switch {
	case !s.flying.empty():
		return s.flying.head().out, true
	case !s.waiting.empty():
		return s.arrival(s.departure()), true
	}
	return 0, false
}

// serialise moves what has departed by now from the queue to the delay line.
func (s *shaper) serialise(now time.Duration) {
	for !s.waiting.empty() && s.departure() <= now {
		s.idleSince = s.departure()
		p := s.waiting.pop()
		s.queued -= len(p.data)
		p.out = s.arrival(s.idleSince)
		s.lastOut = p.out
		s.flying.push(p)
	}
}

// departure is when the last bit of waiting's head leaves the serialiser.
func (s *shaper) departure() time.Duration {
	return s.idleSince + s.profile.transmission(len(s.waiting.head().data))
}

// arrival is when a packet that departs at the given time comes out.
func (s *shaper) arrival(departure time.Duration) time.Duration {
	return max(departure+s.profile.RTT/2, s.lastOut)
}

func (s *shaper) lost() bool {
	return s.profile.Loss > 0 && s.random.Float64() < s.profile.Loss
}

// packet is one IP packet on the link.
type packet struct {
	data []byte
	out  time.Duration // set once it is serialised
}

// fifo is a queue of packets; the zero value is empty.
type fifo struct {
	packets []packet
	first   int
}

func (f *fifo) empty() bool   { return f.first == len(f.packets) }
func (f *fifo) head() *packet { return &f.packets[f.first] }

func (f *fifo) push(p packet) {
	// Moving the rest down when half the slice is used up costs constant time
	// per packet and keeps the slice from growing for ever.
	if f.first > len(f.packets)/2 {
		n := copy(f.packets, f.packets[f.first:])
		clear(f.packets[n:])
		f.packets, f.first = f.packets[:n], 0
	}
	f.packets = append(f.packets, p)
}

func (f *fifo) pop() packet {
	p := f.packets[f.first]
	f.packets[f.first] = packet{}
	f.first++
	return p
}
