package session

import (
	"fmt"
	"time"

	"spicepacer/spiceproto"
)

// maxSyncs is how many SET_ACKs may wait for an answer. spice-server sends one
// for each connection.
const maxSyncs = 16

// uplink is the only writer of a paced channel's hypervisor leg. It forwards the
// client's bytes, and sends the proxy's own ACK_SYNCs and ACKs between the
// client's messages. Whoever finds one due leaves it to the uplink, so that only
// the client waits for a hypervisor that does not read.
type uplink struct {
	d       *display
	chunks  chan chunk    // of the client; closed behind the last
	written chan struct{} // a chunk was written
	stopped chan struct{} // closed when nothing is written any more
	due     chan struct{} // something of the proxy's own is to be sent
	inside  bool          // the last chunk ends inside a message
	syncs   []uint32
	buf     []byte
	// serials numbers everything sent, the client's messages anew: of those some
	// stay here and others join them. spice-server reads no serial at all
	// (red-channel-client.cpp). Unused with mini headers.
	serials spiceproto.Serials
	full    []byte
}

// chunk is bytes of the client.
type chunk struct {
	bytes   []byte
	headers []int // where full headers begin
	open    bool  // bytes ends inside a message
}

func newUplink(d *display) *uplink {
	return &uplink{
		d:       d,
		chunks:  make(chan chunk),
		written: make(chan struct{}),
		stopped: make(chan struct{}),
		due:     make(chan struct{}, 1),
	}
}

// forward returns when the hypervisor's socket has taken c.
func (u *uplink) forward(c chunk) error {
	select {
	case u.chunks <- c:
	case <-u.stopped:
		return errEnded
	}
	select {
	case <-u.written:
		return nil
	case <-u.stopped:
		return errEnded
	}
}

// run writes until the client's last chunk.
func (u *uplink) run() error {
	for {
		select {
		case c, more := <-u.chunks:
			if !more {
				return errEnded
			}
			for _, at := range c.headers {
				u.serials.Stamp(c.bytes[at:])
			}
			if err := u.write(c.bytes); err != nil {
				return err
			}
			u.inside = c.open
			u.written <- struct{}{}
		case <-u.due:
		}
		if u.inside {
			continue
		}
		if err := u.answer(); err != nil {
			return err
		}
	}
}

// answer sends what is due: the ACK_SYNC of each SET_ACK, ACKs, and the
// compression to use. With an ACK_SYNC more ACKs may become due at once: the
// server may have spent its credits already.
func (u *uplink) answer() error {
	d := u.d
	for {
		u.buf = u.buf[:0]
		d.mu.Lock()
		u.syncs, d.syncs = d.syncs, u.syncs[:0]
		for _, g := range u.syncs {
			u.buf = spiceproto.AckSync{Generation: g}.Append(u.buf)
		}
		for ; d.acksDue > 0; d.acksDue-- {
			u.buf = spiceproto.AppendAck(u.buf)
		}
		if d.prefer != 0 {
			u.buf = spiceproto.PreferredCompression{Compression: d.prefer}.Append(u.buf)
			d.prefer = 0
		}
		d.mu.Unlock()
		if len(u.buf) == 0 {
			return nil
		}
		if err := u.write(u.framed(u.buf)); err != nil {
			return err
		}
		d.synced(u.syncs)
	}
}

// framed returns messages with mini headers with those of the channel.
func (u *uplink) framed(messages []byte) []byte {
	if !u.d.ch.fullHeaders {
		return messages
	}
	u.full = u.serials.Append(u.full[:0], messages)
	return u.full
}

func (u *uplink) write(b []byte) error {
	n, err := u.d.ch.server.conn.Write(b)
	u.d.ch.stats.BytesToServer.Add(uint64(n))
	if err != nil {
		return writeError("hypervisor", u.d.ch.server, err)
	}
	return nil
}

// synced books ACK_SYNCs that went to the hypervisor, and the ACKs due by then.
func (d *display) synced(generations []uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range generations {
		d.pace.Synced(g)
	}
	d.bookAcks(time.Now())
}

// bookAcks leaves the ACKs that are due, and what else is to be asked of the
// hypervisor, to the uplink. The caller holds mu.
func (d *display) bookAcks(now time.Time) {
	n := d.pace.AcksDue(now)
	d.acksDue += n
	prefer, asks := d.pace.Preference(now)
	if asks {
		d.prefer = prefer
	}
	if n > 0 || asks {
		wake(d.uplink.due)
	}
}

// bookSetAck books a SET_ACK. ACKs of the generation before that have not left
// must not leave any more: after the ACK_SYNC they would count for the new one,
// too early. The caller holds mu.
func (d *display) bookSetAck(generation uint32) error {
	d.acksDue = 0
	if !d.adaptive {
		return nil
	}
	if len(d.syncs) == maxSyncs {
		return fmt.Errorf("hypervisor sent %d SET_ACKs in a row", maxSyncs+1)
	}
	d.syncs = append(d.syncs, generation)
	wake(d.uplink.due)
	return nil
}
