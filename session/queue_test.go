package session

import (
	"bytes"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// queueModel is what a queue must do: keep the bytes of whole messages in order.
type queueModel struct {
	queue   queue
	stored  []byte // all that was ever put in
	ends    []int  // offsets in stored at which messages will end
	taken   int
	ended   int
	missing int // bytes of the message pushed last that were not stored
	pushed  map[*message]bool
}

// noDrop is for queues that keep arrival order.
func noDrop(uint64, int) { panic("dropped") }

func (m *queueModel) push(size int) {
	h := spiceproto.Header{Type: uint16(len(m.ends)), Size: uint32(size)}
	if m.pushed == nil {
		m.pushed = make(map[*message]bool)
		m.queue.order.KeepArrivalOrder()
	}
	m.queue.push(h.Append(nil), h.Size)
	m.pushed[m.queue.arriving] = true
	m.queue.enter(pacer.Message{})
	m.stored = h.Append(m.stored)
	m.missing = size
	m.ends = append(m.ends, len(m.stored)+size)
	m.complete()
}

func (m *queueModel) complete() {
	if m.missing == 0 && m.queue.arriving != nil {
		m.queue.complete(0, 0, noDrop)
	}
}

func (m *queueModel) store(n int) {
	if n == 0 {
		return
	}
	for i := range n {
		m.stored = append(m.stored, byte(len(m.stored)>>8+i))
	}
	m.queue.store(m.stored[len(m.stored)-n:])
	m.missing -= n
	m.complete()
}

// take takes up to n bytes and checks them.
func (m *queueModel) take(t interface{ Fatalf(string, ...any) }, n int) {
	p := make([]byte, n)
	took := m.queue.take(p, 0, 0)
	got, ended := took.bytes, took.messages
	if want := min(n, len(m.stored)-m.taken); got != want {
		t.Fatalf("took %d bytes of %d, want %d", got, n, want)
	}
	if want := m.stored[m.taken : m.taken+got]; !bytes.Equal(p[:got], want) {
		t.Fatalf("took % x, want % x", p[:got], want)
	}
	m.taken += got
	for _, end := range m.ends[m.ended:] {
		if end <= m.taken {
			ended--
			m.ended++
		}
	}
	if ended != 0 {
		t.Fatalf("messages ended wrong by %d at offset %d", ended, m.taken)
	}
}

// takeOne takes up to n bytes of the next message alone.
func (m *queueModel) takeOne(t interface{ Fatalf(string, ...any) }, n int) {
	p := make([]byte, n)
	took := m.queue.take(p, 0, n)
	want := min(n, len(m.stored)-m.taken)
	if m.ended < len(m.ends) {
		want = min(want, m.ends[m.ended]-m.taken)
	}
	if took.bytes != want || !bytes.Equal(p[:want], m.stored[m.taken:m.taken+want]) {
		t.Fatalf("took % x of one message, want %d bytes of it", p[:took.bytes], want)
	}
	m.taken += want
	m.ended += took.messages
	if took.messages > 0 && !m.queue.between() {
		t.Fatalf("a message ended, and another was begun")
	}
}

// check compares the queue's books with its content.
func (m *queueModel) check(t interface{ Fatalf(string, ...any) }) {
	if want := len(m.stored) - m.taken; m.queue.available != want {
		t.Fatalf("%d bytes available, want %d", m.queue.available, want)
	}
	if used := m.memory(); m.queue.memory < used {
		t.Fatalf("books show %d bytes of memory, %d are in use", m.queue.memory, used)
	}
	if len(m.ends) == m.ended && (m.queue.memory != 0 || m.queue.current != nil) {
		t.Fatalf("empty queue uses %d bytes, current %p", m.queue.memory, m.queue.current)
	}
}

// memory adds up what the queue holds. A message given back has no value, until
// it is one of those pushed again.
func (m *queueModel) memory() (n int) {
	for q := range m.pushed {
		if q.entry.Value == nil {
			continue
		}
		n += int(unsafe.Sizeof(*q))
		for b := q.first; b != nil; b = b.next {
			n += int(unsafe.Sizeof(*b)) + cap(b.buf)
		}
	}
	return n
}

func TestQueueKeepsEveryByteInOrder(t *testing.T) {
	sizes := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(240, 260), rapid.IntRange(0, 5000), rapid.IntRange(0, 150_000))
	rapid.Check(t, func(t *rapid.T) {
		var m queueModel
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.check(t) },
			"push": func(t *rapid.T) {
				if m.missing > 0 {
					t.Skip("a message is arriving")
				}
				m.push(sizes.Draw(t, "size"))
			},
			"store": func(t *rapid.T) {
				if m.missing == 0 {
					t.Skip("no message is arriving")
				}
				m.store(rapid.IntRange(0, m.missing).Draw(t, "stored"))
			},
			"take":     func(t *rapid.T) { m.take(t, sizes.Draw(t, "taken")) },
			"take one": func(t *rapid.T) { m.takeOne(t, sizes.Draw(t, "taken of one")) },
		})
		m.store(m.missing)
		m.take(t, len(m.stored))
		m.check(t)
	})
}

func TestQueueClear(t *testing.T) {
	var m queueModel
	for _, size := range []int{0, 300, 100_000, 100_000} {
		m.push(size)
		m.store(m.missing)
	}
	m.push(50_000)
	m.store(20_000) // the rest has not arrived
	m.take(t, 1000)
	m.queue.clear()
	if q := &m.queue; q.memory != 0 || q.available != 0 || q.arriving != nil || q.current != nil || q.order.Pop() != nil {
		t.Errorf("cleared queue is %+v", q)
	}
}

// A message larger than any bound passes through in its turn, and takes no more
// memory than what of it is held.
func TestQueueCutsThrough(t *testing.T) {
	const piece = 64 << 10
	var m queueModel
	m.push(8 << 20)
	m.take(t, spiceproto.MiniHeaderSize)
	for m.missing > 0 {
		m.store(min(piece, m.missing))
		if most := piece + 2*(32<<10); m.queue.memory > most {
			t.Fatalf("%d bytes of memory for %d bytes, want at most %d", m.queue.memory, piece, most)
		}
		m.take(t, piece)
	}
	m.check(t)
}

// What messages beyond the first add on the wire has its place in a write: else
// each write of several would end in a segment of some bytes.
func TestQueueLeavesRoomForRecords(t *testing.T) {
	for _, c := range []struct{ body, size, overhead, want int }{
		{100, 500, 0, 500},
		{100, 500, 22, 4 * 106}, // the rest has no room for more than an overhead
		{100, 540, 22, 540 - 4*22},
		{1000, 500, 22, 500}, // one message
		{100, 106, 22, 106},
		{100, 107, 22, 106},
	} {
		var m queueModel
		for range 6 {
			m.push(c.body)
			m.store(m.missing)
		}
		if got := m.queue.take(make([]byte, c.size), 0, c.overhead).bytes; got != c.want {
			t.Errorf("%+v: took %d", c, got)
		}
	}
}

// A flood of the smallest messages is seen by a bound on memory.
func TestQueueCountsTinyMessages(t *testing.T) {
	var m queueModel
	for range 1000 {
		m.push(0)
	}
	m.check(t)
	if m.queue.memory < 1000*256 {
		t.Errorf("1000 messages without body show as %d bytes", m.queue.memory)
	}
}

func TestQueueDoesNotAllocate(t *testing.T) {
	skipUnderRace(t)
	var q queue
	q.order.KeepArrivalOrder()
	header, body, out := make([]byte, spiceproto.MiniHeaderSize), make([]byte, 100_000), make([]byte, 16<<10)
	round := func() {
		for _, size := range []int{0, 200, 3000, 100_000} {
			q.push(header, uint32(size))
			q.enter(pacer.Message{})
			q.store(body[:size])
			q.complete(0, 0, noDrop)
		}
		for q.available > 0 {
			q.take(out, 0, 0)
		}
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations in a round of 4 messages", n)
	}
}
