package pacer

import "spicepacer/spiceproto"

// maxChain is how many steps Pop follows from a message to one that must go
// before it, and from that to the next; then the oldest of all goes.
const maxChain = 16

// Entry is a message of the display queue as Order sees it. It is part of the
// queue's own message, which Value leads back to.
type Entry struct {
	// Value is the owner's.
	Value any

	f    footprint
	size int
	seq  uint64 // of arrival
	// overtook is the seq of the oldest message when this one went before it.
	overtook uint64
	place    uint64 // its turn: smaller goes first
	since    uint64 // the seq of the oldest message it replaced, or its own
	urgent   bool   // goes before all that are not
	whole    bool   // its last byte has arrived
	queued   bool   // in the order, and not begun
	pinned   bool   // a later message reads what this one writes
	left     remainder

	older, newer *Entry // by seq
	nextChained  *Entry
	nextBarrier  *Entry
	heapIndex    int
	spans        [2]span
	wide         bool
}

// Size returns the message's size in bytes, header included.
func (e *Entry) Size() int { return e.size }

// Number returns the message's number in the order of arrival, from 1.
func (e *Entry) Number() uint64 { return e.seq }

// Overtook returns the number of the oldest message that this one went before, 0
// if it went in its order.
func (e *Entry) Overtook() uint64 { return e.overtook }

// Urgent tells that the message went first, as an update of a place that is
// still.
func (e *Entry) Urgent() bool { return e.urgent }

// Order decides in which order the messages of a display queue go to the client
// and which of them need not go at all.
//
// Correctness and policy are apart. What is right: a message goes only after
// every older one it does not commute with, and is dropped only when newer ones
// cover it. What is good: urgent messages first, then the places of the screen
// in turns, where a message that replaced another has that one's turn. Whatever
// policy picks, the messages it depends on are sent before it.
//
// A message takes part when it is whole; one that still arrives goes only when
// no other is left, and is then streamed. The zero value is ready. An Order is
// not safe for concurrent use.
type Order struct {
	fifo     bool
	grid     grid
	streams  streams
	fair     fairness
	ready    entryHeap // whole messages
	oldest   *Entry
	newest   *Entry
	count    int
	chained  fifo // their mutual order stays
	barriers fifo // all order stays across them
	seq      uint64
	barrier  uint64 // seq of the last barrier that came
	// forgotten: what is queued up to this seq is a barrier.
	forgotten uint64
	dropped   []*Entry
	stats     OrderStats
}

// OrderStats count what an Order did.
type OrderStats struct {
	// Replaced messages were dropped because newer ones cover them; ReplacedBytes
	// is their size, headers included.
	Replaced, ReplacedBytes uint64
	// Overtook messages went before older ones that are not covered.
	Overtook uint64
}

// Stats returns the counts since the start.
func (o *Order) Stats() OrderStats { return o.stats }

// KeepArrivalOrder ends all reordering and dropping, for good.
func (o *Order) KeepArrivalOrder() { o.fifo = true }

// Reorders tells that KeepArrivalOrder has not been called.
func (o *Order) Reorders() bool { return !o.fifo }

// Resize starts over with a primary surface of the given size in pixels. What is
// queued keeps its order.
func (o *Order) Resize(width, height uint32) {
	o.forget()
	o.grid.resize(width, height)
	o.fair.resize(width, height)
}

// forget lets all that is queued keep its place among all. Where that has been
// done before is not gone through again: surfaces may come and go.
func (o *Order) forget() {
	last := o.newest
	for last != nil && last.seq > o.forgotten {
		last = last.older
	}
	next := o.oldest
	if last != nil {
		next = last.newer
	}
	o.chained = fifo{}
	o.barriers.last = last // those that follow are entered once more
	for e := next; e != nil; e = e.newer {
		if e.f.proved {
			o.grid.remove(e)
			e.f = footprint{}
		}
		o.barriers.insert(e, barrierLink)
	}
	o.forgotten = o.seq
}

// Push enters a message whose head has arrived, the newest of all. size is in
// bytes, header included.
func (o *Order) Push(e *Entry, m Message, size int) {
	*e = Entry{Value: e.Value, size: size, heapIndex: -1, queued: true}
	o.seq++
	e.seq, e.place = o.seq, o.fair.sent
	o.link(e)
	o.streams.note(&m)
	f := o.footprint(&m)
	if o.fifo {
		f = footprint{}
	}
	o.enter(e, f)
	if e.f.proved && !e.f.reads.Empty() {
		o.pin(e)
	}
}

func (o *Order) footprint(m *Message) footprint {
	switch m.Op {
	case spiceproto.MsgDisplayStreamData, spiceproto.MsgDisplayStreamDataSized:
		return o.streams.frame(m)
	}
	return o.streams.draw(m)
}

// enter gives e its footprint and enters it where others will look for it. A
// message for which there is no room commutes with none.
func (o *Order) enter(e *Entry, f footprint) {
	e.f = f
	if f.proved && !o.grid.insert(e, o.count) {
		e.f = footprint{}
	}
	switch {
	case !e.f.proved:
		o.barriers.insert(e, barrierLink)
		o.barrier = e.seq
	case f.chained:
		o.chained.insert(e, chainedLink)
	}
}

// pin keeps what e reads.
func (o *Order) pin(e *Entry) {
	o.grid.near(e, o.oldest, func(x *Entry) {
		x.pinned = x.pinned || x.seq < e.seq && x.f.writes.Intersects(e.f.reads)
	})
}

// Complete tells that the last byte of e, the newest message, has arrived. It
// returns the messages that e and others cover: they are out of the order, and
// their bytes must not be sent. The slice is valid until the next call. burst and
// horizon are Channel.Burst and Channel.Horizon, in bytes.
func (o *Order) Complete(e *Entry, burst, horizon int) []*Entry {
	e.whole = true
	if !e.queued {
		return nil
	}
	o.dropped = o.dropped[:0]
	if !o.fifo && !e.f.writes.Empty() {
		e.left.reset(e.f.writes)
		e.place = o.fair.turn(e.f.writes)
		e.urgent = o.fair.urgent(e.f.writes, e.size, horizon)
		if e.urgent && o.count > 1 {
			o.fair.charge(e.size)
		}
		if e.f.overwrites && e != o.oldest {
			o.cover(e)
		}
	}
	o.ready.push(e)
	return o.dropped
}

// cover drops what e leaves nothing of. e takes the turn of the oldest of these.
// Across a barrier nothing is dropped: the picture behind it may be shown before
// e comes.
func (o *Order) cover(e *Entry) {
	o.grid.near(e, o.oldest, func(x *Entry) {
		if x.seq >= e.seq || x.seq < o.barrier || !x.whole || x.pinned || !x.queued || !covers(&e.f, &x.f) {
			return
		}
		if !e.f.writes.Contains(x.f.writes) && !x.left.subtract(e.f.writes) {
			return
		}
		x.queued = false
		e.place = min(e.place, x.place)
		e.urgent = e.urgent || x.urgent
		o.dropped = append(o.dropped, x)
	})
	for _, x := range o.dropped {
		o.stats.Replaced++
		o.stats.ReplacedBytes += uint64(x.size)
		o.unlink(x)
	}
}

// Pop takes the message that goes next out of the order, nil if there is none.
func (o *Order) Pop() *Entry {
	e := o.next()
	if e == nil {
		return nil
	}
	if e != o.oldest {
		e.overtook = o.oldest.seq
		o.stats.Overtook++
	}
	e.queued = false
	o.unlink(e)
	if !o.fifo && !e.f.writes.Empty() {
		o.fair.serve(e.f.writes)
	}
	return e
}

func (o *Order) next() *Entry {
	e := o.ready.first()
	if e == nil || o.fifo {
		return o.oldest
	}
	for range maxChain {
		b := o.before(e)
		if b == nil {
			return e
		}
		e = b
	}
	return o.oldest
}

// before returns the oldest message that must go before e, nil if none must.
func (o *Order) before(e *Entry) *Entry {
	if e == o.oldest {
		return nil
	}
	if !e.f.proved {
		return olderThan(o.oldest, e)
	}
	if b := olderThan(o.barriers.first, e); b != nil {
		return b
	}
	var first *Entry
	if e.f.chained {
		first = olderThan(o.chained.first, e)
	}
	o.grid.near(e, o.oldest, func(x *Entry) {
		if x.seq < e.seq && (first == nil || x.seq < first.seq) && !commutes(&x.f, &e.f) {
			first = x
		}
	})
	return first
}

func olderThan(x, e *Entry) *Entry {
	if x == nil || x.seq >= e.seq {
		return nil
	}
	return x
}

// Sent books n bytes written to the client; burst is Channel.Burst.
func (o *Order) Sent(n, burst int) { o.fair.wrote(n, burst) }

// link enters e as the newest.
func (o *Order) link(e *Entry) {
	e.older = o.newest
	if o.newest == nil {
		o.oldest = e
	} else {
		o.newest.newer = e
	}
	o.newest = e
	o.count++
}

// unlink takes e out of everything.
func (o *Order) unlink(e *Entry) {
	if e.older == nil {
		o.oldest = e.newer
	} else {
		e.older.newer = e.newer
	}
	if e.newer == nil {
		o.newest = e.older
	} else {
		e.newer.older = e.older
	}
	e.older, e.newer = nil, nil
	o.count--
	o.ready.remove(e)
	switch {
	case !e.f.proved:
		o.barriers.remove(e, barrierLink)
		return
	case e.f.chained:
		o.chained.remove(e, chainedLink)
	}
	o.grid.remove(e)
}
