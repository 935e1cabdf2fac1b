package session

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"spicepacer/spiceproto"
)

const (
	// idleBuffer is what a direction holds while little comes, and for as long as
	// the channel lives; busyBuffer while reads fill it: four TLS records, past
	// which larger reads save nothing measurable.
	idleBuffer = 1 << 10
	busyBuffer = 64 << 10
	// pacedBuffer is idleBuffer behind a read valve, which acts between reads:
	// the pacer's figures were found with reads of this size.
	pacedBuffer = 4 << 10
	// calmReads is how many reads of less than calmSize in a row give the large
	// buffer back. That is more than idleBuffer, so that messages of some
	// kilobytes do not exchange buffers all the time.
	calmReads = 16
	calmSize  = 4 << 10
)

var busyBuffers = sync.Pool{New: func() any { return new([busyBuffer]byte) }}

// readBuffer is a read buffer that is small on a quiet channel. The zero value is
// ready.
type readBuffer struct {
	idle  int // size while little comes; 0: idleBuffer
	small []byte
	large *[busyBuffer]byte
	calm  int
}

func (b *readBuffer) bytes() []byte {
	if b.large != nil {
		return b.large[:]
	}
	if b.small == nil {
		b.small = make([]byte, cmp.Or(b.idle, idleBuffer))
	}
	return b.small
}

// read tells how many bytes the last read brought. The bytes themselves must
// not be used any more.
func (b *readBuffer) read(n int) {
	switch {
	case b.large == nil && n == len(b.small):
		b.large, b.calm = busyBuffers.Get().(*[busyBuffer]byte), 0
	case b.large != nil && n >= calmSize:
		b.calm = 0
	case b.large != nil:
		if b.calm++; b.calm >= calmReads {
			b.release()
		}
	}
}

func (b *readBuffer) release() {
	if b.large != nil {
		busyBuffers.Put(b.large)
		b.large = nil
	}
}

// pipe is one direction of a channel without pacing: bytes go on as they come,
// cut-through; messages are only looked at.
type pipe struct {
	from             leg
	to               messageWriter
	fromName, toName string
	// wrote is called after each write; may be nil.
	wrote func()
	bytes *atomic.Uint64
	buf   readBuffer
}

// runPipes relays both directions until one ends, one of them itself: a goroutine
// that only waits would cost every channel its stack.
func (r *relaying) runPipes() {
	toClient := &pipe{
		from: r.ch.server, fromName: "hypervisor", toName: "client",
		to:    r.ch.writer(spiceproto.ServerToClient, r.observer()),
		wrote: r.watch.wrote, bytes: &r.ch.stats.BytesToClient,
	}
	toServer := &pipe{
		from: r.ch.client, fromName: "client", toName: "hypervisor",
		to:    r.ch.writer(spiceproto.ClientToServer, r.clientObserver()),
		bytes: &r.ch.stats.BytesToServer,
	}
	r.fromServer, r.fromClient = &toClient.to.framer, &toServer.to.framer
	var wg sync.WaitGroup
	r.direction(&wg, toClient.run)
	r.end(toServer.run())
	wg.Wait()
}

// writer returns what writes the messages of one direction, after the firewall,
// the trace, if there is one, and observe, which may be nil, have seen them.
func (ch *channel) writer(d spiceproto.Direction, observe func(spiceproto.Header, []byte)) messageWriter {
	to := ch.client
	if d == spiceproto.ClientToServer {
		to = ch.server
	}
	return messageWriter{
		to: to, framer: ch.framer(), message: ch.traced(d, observe), gate: gate{guard: ch.guard, direction: d},
	}
}

// observer returns what looks at the hypervisor's messages on this channel.
func (r *relaying) observer() func(spiceproto.Header, []byte) {
	switch {
	case r.acks != nil:
		return r.acks.fromServer
	case r.ch.kind == spiceproto.ChannelMain:
		migration := &migrationWatch{log: r.ch.log}
		return func(h spiceproto.Header, head []byte) {
			r.learnSession(h, head)
			migration.fromServer(h, head)
		}
	}
	return nil
}

// clientObserver returns what looks at the client's messages on this channel.
func (r *relaying) clientObserver() func(spiceproto.Header, []byte) {
	switch {
	case r.acks != nil:
		return func(h spiceproto.Header, _ []byte) { r.acks.fromClient(h) }
	case r.ch.kind == spiceproto.ChannelInputs && r.cfg.displays != nil:
		return r.clientInput
	}
	return nil
}

// clientInput tells the session's displays of a key or a mouse button, a drag
// included. A pointer that only moves has its answer drawn by the client itself,
// and a key that is let go seldom has one.
func (r *relaying) clientInput(h spiceproto.Header, head []byte) {
	if isKeyOrButton(h.Type, head) {
		r.cfg.displays.input(time.Now())
	}
}

func isKeyOrButton(op uint16, head []byte) bool {
	switch op {
	case spiceproto.MsgcInputsKeyDown, spiceproto.MsgcInputsKeyScancode,
		spiceproto.MsgcInputsMousePress, spiceproto.MsgcInputsMouseRelease:
		return true
	case spiceproto.MsgcInputsMouseMotion, spiceproto.MsgcInputsMousePosition:
		// Both carry the buttons held down, a u16, behind two 32-bit numbers.
		const buttons = 8
		return len(head) >= buttons+2 && head[buttons]|head[buttons+1] != 0
	}
	return false
}

func (r *relaying) learnSession(h spiceproto.Header, head []byte) {
	if h.Type != spiceproto.MsgMainInit || r.cfg.onSession == nil {
		return
	}
	if init, err := spiceproto.ParseMainInit(head); err == nil {
		r.cfg.onSession(init.SessionID)
	}
}

func (p *pipe) run() error {
	defer p.buf.release()
	for {
		n, err := p.from.conn.Read(p.buf.bytes())
		if n > 0 {
			if err := p.forward(p.buf.bytes()[:n]); err != nil {
				return err
			}
			p.buf.read(n)
		}
		if err != nil {
			return readError(p.fromName, p.from, err)
		}
	}
}

func (p *pipe) forward(b []byte) error {
	n, err := p.to.write(b)
	p.bytes.Add(uint64(n))
	if err != nil {
		return forwardError(p.toName, p.to.to, err)
	}
	if p.wrote != nil {
		p.wrote()
	}
	return nil
}
