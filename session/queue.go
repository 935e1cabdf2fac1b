package session

import (
	"sync"

	"spicepacer/spiceproto"
)

// blockSizes are the capacities in which message bytes are kept. Most display
// messages are either some tens of bytes or some tens of kilobytes.
var blockSizes = [...]int{256, 4 << 10, 32 << 10}

// messageOverhead is what a queued message costs beside its blocks, and
// blockOverhead what a block costs beside its room, in bytes.
const messageOverhead, blockOverhead = 64, 48

var (
	blockPools  [len(blockSizes)]sync.Pool
	messagePool = sync.Pool{New: func() any { return new(message) }}
)

// block is a piece of a message.
type block struct {
	buf  []byte // bytes stored; its capacity is blockSizes[class]
	next *block
	kind int
}

func (b *block) memory() int { return blockOverhead + cap(b.buf) }

// message is one queued message, complete or still arriving.
type message struct {
	header      spiceproto.Header
	first, last *block
	missing     int // bytes that have not arrived
	read        int // bytes of first already taken
	next        *message
}

// queue is the display queue: whole messages in the order in which they go to
// the client. A message may be taken while it still arrives, so that one larger
// than the queue's bound passes through it in its turn. It keeps no more memory
// than it says, and allocates nothing once its pools are warm.
//
// Order is decided in push alone: there a newer message will take an older
// one's place, or go ahead of it.
type queue struct {
	head, tail *message
	available  int // bytes stored and not taken
	memory     int // bytes of memory in use
}

// push queues a message whose header has arrived and stores the header.
func (q *queue) push(h spiceproto.Header) {
	m := messagePool.Get().(*message)
	*m = message{header: h, missing: spiceproto.MiniHeaderSize + int(h.Size)}
	if q.tail == nil {
		q.head = m
	} else {
		q.tail.next = m
	}
	q.tail = m
	q.memory += messageOverhead
	var raw [spiceproto.MiniHeaderSize]byte
	q.store(h.Append(raw[:0]))
}

// store adds bytes that have arrived to the message pushed last.
func (q *queue) store(p []byte) {
	m := q.tail
	q.available += len(p)
	for len(p) > 0 {
		if m.last == nil || len(m.last.buf) == cap(m.last.buf) {
			q.extend(m)
		}
		b := m.last
		n := min(len(p), cap(b.buf)-len(b.buf))
		b.buf = append(b.buf, p[:n]...)
		m.missing -= n
		p = p[n:]
	}
}

// extend adds a block that holds what is missing, or as much as one can.
func (q *queue) extend(m *message) {
	b := newBlock(m.missing)
	q.memory += b.memory()
	if m.last == nil {
		m.first = b
	} else {
		m.last.next = b
	}
	m.last = b
}

// take moves up to len(p) bytes from the head of the queue into p, and returns
// how many, and how many messages ended in them.
func (q *queue) take(p []byte) (n, ended int) {
	for n < len(p) && q.head != nil {
		m := q.head
		n += q.takeFrom(m, p[n:])
		if m.missing > 0 || m.first != nil {
			break
		}
		q.drop(m)
		ended++
	}
	q.available -= n
	return n, ended
}

// takeFrom moves bytes of m, freeing each block as it is emptied.
func (q *queue) takeFrom(m *message, p []byte) (n int) {
	for n < len(p) && m.first != nil {
		b := m.first
		k := copy(p[n:], b.buf[m.read:])
		n += k
		m.read += k
		if m.read < len(b.buf) || (len(b.buf) < cap(b.buf) && m.missing > 0) {
			if k == 0 {
				break
			}
			continue
		}
		q.memory -= b.memory()
		m.first, m.read = b.next, 0
		if m.first == nil {
			m.last = nil
		}
		freeBlock(b)
	}
	return n
}

// drop unlinks the head.
func (q *queue) drop(m *message) {
	q.head = m.next
	if q.head == nil {
		q.tail = nil
	}
	q.memory -= messageOverhead
	*m = message{}
	messagePool.Put(m)
}

// clear gives everything back.
func (q *queue) clear() {
	for m := q.head; m != nil; m = q.head {
		for b := m.first; b != nil; b = m.first {
			m.first = b.next
			q.memory -= b.memory()
			freeBlock(b)
		}
		q.drop(m)
	}
	q.available = 0
}

// newBlock returns an empty block of the smallest class that holds n bytes, or
// of the largest.
func newBlock(n int) *block {
	kind := 0
	for kind < len(blockSizes)-1 && blockSizes[kind] < n {
		kind++
	}
	if b, ok := blockPools[kind].Get().(*block); ok {
		return b
	}
	return &block{buf: make([]byte, 0, blockSizes[kind]), kind: kind}
}

func freeBlock(b *block) {
	b.buf, b.next = b.buf[:0], nil
	blockPools[b.kind].Put(b)
}
