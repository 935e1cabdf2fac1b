package spicetest

// Socket is the kernel's send buffer of a non-blocking socket: bounded, and
// what was written to it can not be recalled. The zero value has no room.
type Socket struct {
	fifo
	// Capacity is the bound in bytes.
	Capacity int
}

// Write takes as much of p as fits and returns how much. Less than len(p) is
// EAGAIN.
func (s *Socket) Write(p []byte) int {
	n := min(len(p), max(s.Capacity-s.Len(), 0))
	s.append(p[:n])
	return n
}

// Writable tells whether poll reports the socket writable: free room of at
// least half of what is queued (Linux sk_stream_is_writeable).
func (s *Socket) Writable() bool {
	free := s.Capacity - s.Len()
	return free > 0 && free >= s.Len()/2
}

// fifo is a queue of bytes. Its zero value is empty.
type fifo struct {
	buf   []byte
	start int
}

// Len returns the bytes queued.
func (f *fifo) Len() int { return len(f.buf) - f.start }

// Bytes returns the bytes queued, oldest first, valid until the next write.
func (f *fifo) Bytes() []byte { return f.buf[f.start:] }

// Discard removes the oldest n bytes, which must be there.
func (f *fifo) Discard(n int) {
	f.start += n
	if f.start == len(f.buf) {
		f.buf, f.start = f.buf[:0], 0
	}
}

func (f *fifo) append(p []byte) {
	if f.start > cap(f.buf)/2 {
		f.buf = f.buf[:copy(f.buf, f.buf[f.start:])]
		f.start = 0
	}
	f.buf = append(f.buf, p...)
}
