package session

import (
	"sync"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// blockSizes are the capacities in which message bytes are kept. Most display
// messages are either some tens of bytes or some tens of kilobytes.
var blockSizes = [...]int{256, 4 << 10, 32 << 10}

// messageOverhead is what a queued message costs beside its blocks, and
// blockOverhead what a block costs beside its room, in bytes.
const messageOverhead, blockOverhead = 448, 48

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
	entry       pacer.Entry
	first, last *block
	missing     int  // bytes that have not arrived
	read        int  // bytes of first already taken
	held        int  // bytes that have arrived and were not taken
	entered     bool // in the order, or taken out of it to be sent
	filler      bool // of the proxy's own, in the place of one that was dropped
}

// queue is the display queue: messages in the order in which the pacer lets them
// go to the client. A message may be taken while it still arrives, so that one
// larger than the queue's bound passes through it in its turn. It keeps no more
// memory than it says, and allocates nothing once its pools are warm.
type queue struct {
	// overtook is called for a message that goes before an older one; may be nil.
	overtook  func(*pacer.Entry)
	order     pacer.Order
	arriving  *message // pushed last, if it is not complete
	current   *message // being taken
	fillers   uint64   // messages without effect to send before all but current
	available int      // bytes of these and of entered messages stored, not taken
	memory    int      // bytes of memory in use
}

// push begins a message whose header has arrived, which announces size body
// bytes, and stores the header. It waits for enter.
func (q *queue) push(header []byte, size uint32) {
	q.arriving = q.newMessage(header, size)
}

func (q *queue) newMessage(header []byte, size uint32) *message {
	m := messagePool.Get().(*message)
	*m = message{missing: len(header) + int(size)}
	m.entry.Value = m
	q.memory += messageOverhead
	q.storeIn(m, header)
	return m
}

// enter lets the message pushed last take part in the order, its head being
// known.
func (q *queue) enter(d pacer.Message) {
	m := q.arriving
	m.entered = true
	q.available += m.held
	q.order.Push(&m.entry, d, m.held+m.missing)
}

// store adds bytes that have arrived to the message pushed last.
func (q *queue) store(p []byte) { q.storeIn(q.arriving, p) }

func (q *queue) storeIn(m *message, p []byte) {
	m.held += len(p)
	if m.entered {
		q.available += len(p)
	}
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

// complete tells that the message pushed last is all there, and returns it. It
// calls dropped for each message that need not be sent any more, with its number
// and its size in bytes.
func (q *queue) complete(burst, horizon int, dropped func(number uint64, bytes int)) *pacer.Entry {
	m := q.arriving
	q.arriving = nil
	for _, e := range q.order.Complete(&m.entry, burst, horizon) {
		x, number := e.Value.(*message), e.Number()
		bytes := x.held
		q.free(x)
		q.available -= bytes
		dropped(number, bytes)
	}
	return &m.entry
}

// abandon forgets the message pushed last, of which nothing has been entered.
func (q *queue) abandon() {
	if q.arriving != nil {
		q.free(q.arriving)
		q.arriving = nil
	}
}

// end enters what is left of a message whose rest will never come.
func (q *queue) end() {
	if q.arriving != nil && !q.arriving.entered {
		q.enter(pacer.Message{})
	}
}

// fillerSize is the size of a message without effect in bytes, header included.
const fillerSize = spiceproto.MiniHeaderSize + 2

// fill queues n messages without effect, each for one that was dropped. They go
// next, and take no memory before: after hours of replacing they may be millions.
// No message with a full header is ever dropped.
func (q *queue) fill(n uint64) {
	q.fillers += n
	q.available += int(n) * fillerSize
}

// next returns the message to take after the current one, nil if there is none.
func (q *queue) next() *message {
	if q.fillers > 0 {
		q.fillers--
		return q.newFiller()
	}
	e := q.order.Pop()
	if e == nil {
		return nil
	}
	if e.Overtook() > 0 && q.overtook != nil {
		q.overtook(e)
	}
	return e.Value.(*message)
}

func (q *queue) newFiller() *message {
	h := spiceproto.Header{Type: spiceproto.MsgDisplayInvalList, Size: fillerSize - spiceproto.MiniHeaderSize}
	m := q.newMessage(h.Append(nil), h.Size)
	q.storeIn(m, []byte{0, 0}) // no resources
	m.filler = true
	return m
}

// ready returns how many bytes may be taken now: none while the message that is
// being sent waits for more of itself, whatever waits behind it.
func (q *queue) ready() int {
	if q.current != nil && q.current.held == 0 {
		return 0
	}
	return q.available
}

// taken is what take took.
type taken struct {
	bytes    int
	messages int // of the hypervisor's, that ended in these bytes
	fillers  int // of the proxy's own
}

// between tells that no message is half taken.
func (q *queue) between() bool { return q.current == nil }

// take moves up to len(p) bytes of the message that is next, and of those after
// it, into p. burst is for the order; overhead is what each message after the first
// adds on the wire, for which it leaves as many bytes of p empty.
func (q *queue) take(p []byte, burst, overhead int) (t taken) {
	for t.bytes < len(p) {
		if q.current == nil {
			if t.bytes > 0 {
				p = p[:max(len(p)-overhead, t.bytes)]
				if t.bytes == len(p) {
					break
				}
			}
			if q.current = q.next(); q.current == nil {
				break
			}
		}
		m := q.current
		t.bytes += q.takeFrom(m, p[t.bytes:])
		if m.missing > 0 || m.first != nil {
			break
		}
		if m.filler {
			t.fillers++
		} else {
			t.messages++
		}
		q.current = nil
		q.free(m)
	}
	q.available -= t.bytes
	q.order.Sent(t.bytes, burst)
	return t
}

// takeFrom moves bytes of m, freeing each block as it is emptied.
func (q *queue) takeFrom(m *message, p []byte) (n int) {
	for n < len(p) && m.first != nil {
		b := m.first
		k := copy(p[n:], b.buf[m.read:])
		n += k
		m.read += k
		m.held -= k
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

// free gives back what m takes.
func (q *queue) free(m *message) {
	for b := m.first; b != nil; b = m.first {
		m.first = b.next
		q.memory -= b.memory()
		freeBlock(b)
	}
	q.memory -= messageOverhead
	*m = message{}
	messagePool.Put(m)
}

// clear gives everything back.
func (q *queue) clear() {
	if q.arriving != nil && !q.arriving.entered {
		q.free(q.arriving)
	}
	if q.current != nil {
		q.free(q.current)
	}
	for e := q.order.Pop(); e != nil; e = q.order.Pop() {
		q.free(e.Value.(*message))
	}
	q.arriving, q.current, q.fillers, q.available = nil, nil, 0, 0
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
