package session

import (
	"errors"
	"net"
	"sync"

	"spicepacer/spiceproto"
)

// recordBuffer stands between a client's tls.Conn and its socket. Records
// written while it holds leave together, in one system call.
type recordBuffer struct {
	net.Conn

	mu      sync.Mutex // guards the rest
	holding bool
	buf     *[]byte
}

var recordBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Write implements net.Conn.
func (r *recordBuffer) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holding {
		return r.Conn.Write(p)
	}
	*r.buf = append(*r.buf, p...)
	return len(p), nil
}

// CloseWrite ends the socket's sending side, if it has one of its own.
func (r *recordBuffer) CloseWrite() error {
	if c, ok := r.Conn.(halfCloser); ok {
		return c.CloseWrite()
	}
	return nil
}

func (r *recordBuffer) hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding, r.buf = true, recordBuffers.Get().(*[]byte)
}

// flush sends what was held.
func (r *recordBuffer) flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.Conn.Write(*r.buf)
	*r.buf = (*r.buf)[:0]
	recordBuffers.Put(r.buf)
	r.holding, r.buf = false, nil
	return err
}

// messageWriter writes a stream of messages to a leg.
//
// Over TLS no record holds bytes of two messages: spice-gtk waits for its
// socket to become readable and does not ask the TLS library whether it holds
// more (spice-channel.c, spice_channel_iterate_read), so it would not see the
// second message before another record comes. spice-server never makes it wait:
// it writes each piece of a message in records of its own.
type messageWriter struct {
	to     leg
	framer spiceproto.Framer
	// message is called for each message once its head is known, before the
	// head is written; may be nil.
	message func(h spiceproto.Header, head []byte)
}

func (w *messageWriter) write(b []byte) error {
	if r := w.to.records; r != nil {
		r.hold()
		return errors.Join(w.writePieces(b), r.flush())
	}
	return w.writePieces(b)
}

func (w *messageWriter) writePieces(b []byte) error {
	for len(b) > 0 {
		n := w.piece(b, w.to.tls)
		if _, err := w.to.conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// piece looks at the messages in b, up to the first end of one if cut is set,
// and returns how many bytes that are.
func (w *messageWriter) piece(b []byte, cut bool) (n int) {
	for n < len(b) {
		s := w.framer.Next(b[n:])
		n += len(s.Bytes)
		if s.HeadDone && w.message != nil {
			w.message(w.framer.Header(), w.framer.Head())
		}
		if s.End && cut {
			break
		}
	}
	return n
}
