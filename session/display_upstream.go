package session

import (
	"time"

	"spicepacer/spiceproto"
)

// upstream reads the client's messages of a paced display channel and forwards
// them, without the client's ACKs and, in adaptive mode, ACK_SYNC and what it
// prefers: those are inputs to the pacer.
type upstream struct {
	d       *display
	framer  spiceproto.Framer
	out     []byte // what to forward of the read under way
	headers []int  // where in out full headers begin
	open    bool   // the message under way is being forwarded
	keep    bool   // it stays in the proxy
	gate    gate
	syncs   []uint32 // generations of the client's ACK_SYNCs in out
	inits   int      // DISPLAY_INITs that end in out
	buf     readBuffer
}

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

func (u *upstream) accept(b []byte) (refusal error) {
	u.out, u.headers, u.syncs, u.inits = u.out[:0], u.headers[:0], u.syncs[:0], 0
	for len(b) > 0 && refusal == nil {
		s := u.framer.Next(b)
		refusal = u.segment(s)
		b = b[len(s.Bytes):]
	}
	if len(u.out) > 0 {
		if err := u.d.uplink.forward(chunk{u.out, u.headers, u.open}); err != nil {
			return err
		}
	}
	u.d.synced(u.syncs)
	if u.inits > 0 {
		u.d.initialised()
	}
	return refusal
}

// segment adds what is to be forwarded of a segment. A header goes out when it
// is complete and the gate is open, with the head if that is complete by then.
func (u *upstream) segment(s spiceproto.Segment) error {
	if err := u.gate.judge(s, &u.framer); err != nil {
		return err
	}
	h := u.framer.Header()
	if s.HeaderDone {
		u.keep = u.keeps(h)
	}
	switch {
	case u.open:
		u.out = append(u.out, s.Bytes...)
	case (s.HeaderDone || s.HeadDone) && !u.keep && u.gate.open():
		u.open = true
		u.header()
		u.out = append(u.out, u.framer.Head()...)
	}
	if s.HeadDone {
		u.look(h)
		u.d.traceMessage(spiceproto.ClientToServer, &u.framer)
	}
	u.open = u.open && !s.End
	return nil
}

func (u *upstream) header() {
	if u.framer.Full {
		u.headers = append(u.headers, len(u.out))
	}
	u.out = append(u.out, u.framer.RawHeader()...)
}

// look books what a message says, its head being complete.
func (u *upstream) look(h spiceproto.Header) {
	switch {
	case u.open && h.Type == spiceproto.MsgcAckSync:
		if m, err := spiceproto.ParseAckSync(u.framer.Head()); err == nil {
			u.syncs = append(u.syncs, m.Generation)
		}
	case u.open && h.Type == spiceproto.MsgcDisplayInit:
		u.inits++
	case !u.open && h.Type == spiceproto.MsgcDisplayPreferredCompression:
		if m, err := spiceproto.ParsePreferredCompression(u.framer.Head()); err == nil {
			u.d.clientPrefers(m.Compression)
		}
	}
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
	case spiceproto.MsgcDisplayPreferredCompression:
		return u.d.pace.ManagesCompression()
	}
	return false
}

// initialised tells that the hypervisor has the client's DISPLAY_INIT.
func (d *display) initialised() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pace.Initialised()
	d.bookAcks(time.Now())
}

// clientPrefers books a compression the client asks for.
func (d *display) clientPrefers(v spiceproto.Compression) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pace.ClientPrefers(v)
	d.bookAcks(time.Now())
}

// clientAck books an ACK of the client.
func (d *display) clientAck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pace.ClientAck()
}
