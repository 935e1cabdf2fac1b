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
	// gate keeps messages back; the zero gate none.
	gate gate
}

// write writes b and returns how many bytes that were, with what was held back
// before and without what is held back now. An error may be a gate's.
func (w *messageWriter) write(b []byte) (written int, err error) {
	if r := w.to.records; r != nil {
		r.hold()
		written, err = w.writePieces(b)
		return written, errors.Join(err, r.flush())
	}
	return w.writePieces(b)
}

func (w *messageWriter) writePieces(b []byte) (written int, err error) {
	for len(b) > 0 {
		pass, n, refusal := w.piece(b, w.to.tls)
		for _, part := range [...][]byte{w.gate.release(pass), b[:pass]} {
			if len(part) == 0 {
				continue
			}
			k, err := w.to.conn.Write(part)
			written += k
			if err != nil {
				return written, err
			}
		}
		if refusal != nil {
			skip(&w.framer, b[n:])
			return written, refusal
		}
		w.gate.hold(b[pass:n])
		b = b[n:]
	}
	return written, nil
}

// piece looks at the messages in b, up to the first end of one if cut is set,
// and returns how many bytes that are, and how many of them may pass.
func (w *messageWriter) piece(b []byte, cut bool) (pass, n int, refusal error) {
	for n < len(b) {
		s := w.framer.Next(b[n:])
		n += len(s.Bytes)
		if refusal = w.gate.judge(s, &w.framer); refusal != nil {
			break
		}
		if w.gate.open() {
			pass = n
		}
		if s.HeadDone && w.message != nil {
			w.message(w.framer.Header(), w.framer.Head())
		}
		if s.End && cut {
			break
		}
	}
	return pass, n, refusal
}
