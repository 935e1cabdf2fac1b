package session

import (
	"sync"
	"sync/atomic"
	"time"

	"spicepacer/spiceproto"
)

// upstream carries the client's messages of a paced display channel to the
// hypervisor, without the client's ACKs and, in adaptive mode, ACK_SYNC: those
// are inputs to the pacer. It is the leg's only writer, and what others send
// never lands inside a message.
type upstream struct {
	d      *display
	framer spiceproto.Framer
	out    []byte   // what to forward of the read under way
	open   bool     // the message under way is being forwarded
	syncs  []uint32 // generations of the client's ACK_SYNCs in out
	buf    readBuffer

	pending atomic.Int64 // ACKs to send when no message is under way
	mu      sync.Mutex   // guards the connection's sending side and the following
	inside  bool         // the last write ended inside a message
	own     []byte       // messages of the proxy's own to send after it
}

func newUpstream(d *display) *upstream { return &upstream{d: d} }

// run forwards until the client's stream ends.
func (u *upstream) run() error {
	client := u.d.ch.client
	defer u.buf.release()
	for {
		n, err := client.conn.Read(u.buf.bytes())
		if n > 0 {
			if err := u.accept(u.buf.bytes()[:n]); err != nil {
				return err
			}
			u.buf.read(n)
		}
		if err != nil {
			return readError("client", client, err)
		}
	}
}

func (u *upstream) accept(b []byte) error {
	u.out, u.syncs = u.out[:0], u.syncs[:0]
	for len(b) > 0 {
		s := u.framer.Next(b)
		u.segment(s)
		b = b[len(s.Bytes):]
	}
	if len(u.out) > 0 {
		if err := u.write(u.out); err != nil {
			return err
		}
	}
	return u.d.clientMoved(u.syncs)
}

// segment adds what is to be forwarded of a segment. A header goes out when it
// is complete.
func (u *upstream) segment(s spiceproto.Segment) {
	h := u.framer.Header()
	switch {
	case s.HeaderDone:
		u.open = !u.keeps(h)
		if u.open {
			u.out = h.Append(u.out)
		}
	case u.open:
		u.out = append(u.out, s.Bytes...)
	}
	if u.open && s.HeadDone && h.Type == spiceproto.MsgcAckSync {
		if m, err := spiceproto.ParseAckSync(u.framer.Head()); err == nil {
			u.syncs = append(u.syncs, m.Generation)
		}
	}
	u.open = u.open && !s.End
}

// keeps tells whether a message stays in the proxy, and books it.
func (u *upstream) keeps(h spiceproto.Header) bool {
	switch h.Type {
	case spiceproto.MsgcAck:
		u.d.acks.fromClient(h)
		u.d.clientAck()
		return true
	case spiceproto.MsgcAckSync:
		return u.d.adaptive
	}
	return false
}

// write sends bytes of client messages.
func (u *upstream) write(b []byte) error {
	u.mu.Lock()
	err := u.writeLocked(b)
	u.inside = u.open
	if err == nil && !u.inside && len(u.own) > 0 {
		err = u.writeLocked(u.own)
		u.own = nil
	}
	u.mu.Unlock()
	if err != nil {
		return err
	}
	return u.flush()
}

// send sends a whole message of the proxy's own, after the client message under
// way and before any ACK that becomes due later.
func (u *upstream) send(b []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.inside {
		u.own = append(u.own, b...)
		return nil
	}
	return u.writeLocked(b)
}

func (u *upstream) writeLocked(b []byte) error {
	n, err := u.d.ch.server.conn.Write(b)
	u.d.ch.stats.BytesToServer.Add(uint64(n))
	if err != nil {
		return writeError("hypervisor", u.d.ch.server, err)
	}
	return nil
}

// acks sends n ACKs, at once or after the message that another goroutine is
// writing: nobody waits here for a hypervisor that does not read.
func (u *upstream) acks(n int) error {
	if n == 0 {
		return nil
	}
	u.pending.Add(int64(n))
	return u.flush()
}

// flush sends pending ACKs unless someone else is about to.
func (u *upstream) flush() error {
	for u.pending.Load() > 0 && u.mu.TryLock() {
		if u.inside {
			u.mu.Unlock()
			return nil
		}
		err := u.writeAcks()
		u.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *upstream) writeAcks() error {
	var buf [16 * spiceproto.MiniHeaderSize]byte
	b := buf[:0]
	for n := u.pending.Swap(0); n > 0; n-- {
		b = spiceproto.AppendAck(b)
		if len(b) == len(buf) || n == 1 {
			if err := u.writeLocked(b); err != nil {
				return err
			}
			b = buf[:0]
		}
	}
	return nil
}

// clientAck books an ACK of the client.
func (d *display) clientAck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pace.ClientAck()
}

// clientMoved books the client's ACK_SYNCs that went to the hypervisor, and
// sends what its messages made due.
func (d *display) clientMoved(generations []uint32) error {
	d.mu.Lock()
	for _, g := range generations {
		d.pace.Synced(g)
	}
	acks := d.pace.AcksDue(time.Now())
	d.mu.Unlock()
	return d.up.acks(acks)
}
