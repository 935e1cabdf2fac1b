package pcap

import (
	"cmp"
	"slices"
)

// half is one direction of a connection.
type half struct {
	begun, fin, lost bool
	first            uint32 // sequence number of its SYN
	next             uint32 // of the next byte to deliver
	end              uint32 // of the FIN, if fin
	// pending are pieces behind missing bytes, in order of their numbers.
	pending      []piece
	pendingBytes int
}

type piece struct {
	seq uint32
	b   []byte
}

func (h *half) begin(seq uint32) {
	if !h.begun {
		h.begun, h.first, h.next = true, seq, seq+1
	}
}

func (h *half) finished() bool { return h.fin && (h.lost || h.next == h.end) }

// accept returns what of the payload comes next, and keeps a copy of one that
// comes later. Numbers wrap, so their distance counts.
func (h *half) accept(seq uint32, payload []byte) []byte {
	ahead := int32(seq - h.next)
	if ahead > 0 {
		h.keep(piece{seq, payload})
		return nil
	}
	if int64(len(payload)) <= -int64(ahead) {
		return nil // sent before
	}
	payload = payload[-int64(ahead):]
	h.next += uint32(len(payload))
	return payload
}

func (h *half) keep(p piece) {
	at, known := slices.BinarySearchFunc(h.pending, p, func(x, y piece) int {
		return cmp.Compare(int32(x.seq-h.next), int32(y.seq-h.next))
	})
	if known && len(h.pending[at].b) >= len(p.b) {
		return
	}
	p.b = slices.Clone(p.b)
	h.pendingBytes += len(p.b)
	if known {
		h.pendingBytes -= len(h.pending[at].b)
		h.pending[at] = p
		return
	}
	h.pending = slices.Insert(h.pending, at, p)
}

// unblocked returns the next of the kept bytes that have become ready.
func (h *half) unblocked() []byte {
	for len(h.pending) > 0 && int32(h.pending[0].seq-h.next) <= 0 {
		p := h.pending[0]
		h.pending = h.pending[1:]
		h.pendingBytes -= len(p.b)
		if ready := h.accept(p.seq, p.b); len(ready) > 0 {
			return ready
		}
	}
	return nil
}
