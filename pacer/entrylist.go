package pacer

// fifo is a list of entries by seq, linked through a field of theirs.
type fifo struct{ first, last *Entry }

func chainedLink(e *Entry) **Entry { return &e.nextChained }
func barrierLink(e *Entry) **Entry { return &e.nextBarrier }

// insert enters e, the newest.
func (l *fifo) insert(e *Entry, link func(*Entry) **Entry) {
	*link(e) = nil
	if l.last == nil {
		l.first = e
	} else {
		*link(l.last) = e
	}
	l.last = e
}

// remove takes e out. Nearly always it is the first.
func (l *fifo) remove(e *Entry, link func(*Entry) **Entry) {
	var before *Entry
	for at := &l.first; *at != nil; at = link(*at) {
		if *at == e {
			*at = *link(e)
			if l.last == e {
				l.last = before
			}
			*link(e) = nil
			return
		}
		before = *at
	}
}

// entryHeap is a binary heap of the entries that may go, the next one on top.
type entryHeap []*Entry

// goesBefore is the policy: urgent messages, then turns, then arrival.
func goesBefore(a, b *Entry) bool {
	if a.urgent != b.urgent {
		return a.urgent
	}
	if a.place != b.place {
		return a.place < b.place
	}
	return a.seq < b.seq
}

func (h entryHeap) first() *Entry {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}

func (h *entryHeap) push(e *Entry) {
	e.heapIndex = len(*h)
	*h = append(*h, e)
	h.up(e.heapIndex)
}

// remove takes e out, if it is in.
func (h *entryHeap) remove(e *Entry) {
	i, last := e.heapIndex, len(*h)-1
	if i < 0 {
		return
	}
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	e.heapIndex = -1
	if i < last {
		h.up(i)
		h.down(i)
	}
}

func (h *entryHeap) swap(i, j int) {
	s := *h
	s[i], s[j] = s[j], s[i]
	s[i].heapIndex, s[j].heapIndex = i, j
}

func (h *entryHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !goesBefore((*h)[i], (*h)[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *entryHeap) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(*h) {
			return
		}
		if child+1 < len(*h) && goesBefore((*h)[child+1], (*h)[child]) {
			child++
		}
		if !goesBefore((*h)[child], (*h)[i]) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
