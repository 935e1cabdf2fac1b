package session

import (
	"net"
	"sync"
	"testing"

	"spicepacer/spiceproto"
)

// widened is the test's end of a connection whose messages have full headers: the
// test writes and reads mini ones. It fails the test if the serials that come do
// not count from 1.
type widened struct {
	net.Conn
	t *testing.T

	mu      sync.Mutex // guards the following, of the way out
	out     spiceproto.Framer
	serials spiceproto.Serials
	body    bool // the header of the message under way has been sent

	in      spiceproto.Framer
	began   bool   // the header of the message under way has been read
	serial  uint64 // of the last message read
	pending []byte // translated and not read by the test
}

func widen(t *testing.T, c net.Conn) *widened {
	return &widened{Conn: c, t: t, in: spiceproto.Framer{Full: true}}
}

// Write holds back an incomplete header and nothing else.
func (w *widened) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var wide []byte
	for rest := p; len(rest) > 0; {
		s := w.out.Next(rest)
		rest = rest[len(s.Bytes):]
		switch {
		case s.HeaderDone:
			at := len(wide)
			wide = spiceproto.FullHeader{Type: w.out.Header().Type, Size: w.out.Header().Size}.Append(wide)
			w.serials.Stamp(wide[at:])
			w.body = true
		case w.body:
			wide = append(wide, s.Bytes...)
		}
		w.body = w.body && !s.End
	}
	if len(wide) > 0 {
		if _, err := w.Conn.Write(wide); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (w *widened) Read(p []byte) (int, error) {
	for len(w.pending) == 0 {
		buf := make([]byte, len(p))
		n, err := w.Conn.Read(buf)
		w.narrow(buf[:n])
		if err != nil && len(w.pending) == 0 {
			return 0, err
		}
	}
	n := copy(p, w.pending)
	w.pending = w.pending[n:]
	return n, nil
}

func (w *widened) narrow(b []byte) {
	for len(b) > 0 {
		s := w.in.Next(b)
		b = b[len(s.Bytes):]
		switch {
		case s.HeaderDone:
			w.serial++
			if h := w.in.FullHeader(); h.Serial != w.serial || h.SubList != 0 {
				w.t.Errorf("message %d has the header %+v", w.serial, h)
			}
			w.pending = w.in.Header().Append(w.pending)
			w.began = true
		case w.began:
			w.pending = append(w.pending, s.Bytes...)
		}
		w.began = w.began && !s.End
	}
}

// CloseWrite implements halfCloser.
func (w *widened) CloseWrite() error { return w.Conn.(halfCloser).CloseWrite() }
