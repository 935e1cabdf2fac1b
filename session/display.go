package session

import (
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

// display relays one display channel under a pacer. Four goroutines share it:
// the reader fills the queue from the hypervisor, the writer empties it to the
// client, upstream reads the client, and the uplink writes to the hypervisor.
// They meet at the queue: its lock guards the queue and every decision about it,
// so that an ACK can go the moment it is due, whoever finds out.
type display struct {
	*relaying
	adaptive bool

	mu    sync.Mutex // guards the following
	queue queue
	pace  *pacer.Channel
	eof   bool // the hypervisor's stream is complete
	// syncs are the generations of SET_ACKs to answer, acksDue the ACKs to send:
	// booked, and not yet taken by the uplink.
	syncs   []uint32
	acksDue int
	// prefer is a compression to ask of the hypervisor, 0: none.
	prefer spiceproto.Compression

	arrived chan struct{} // the writer has something to look at
	opened  chan struct{} // the read valve may have opened
	up      upstream
	uplink  *uplink
	framer  spiceproto.Framer // the reader's
	gate    gate              // of what the reader gets
	inBody  bool              // its message's header is queued, its body not all
	writer  displayWriter
}

// newDisplay makes a paced display channel that does not run yet.
func newDisplay(r *relaying) *display {
	d := &display{
		relaying: r,
		adaptive: r.ch.mode == pacer.Adaptive,
		pace:     pacer.NewChannel(r.pacerConfig()),
		arrived:  make(chan struct{}, 1),
		opened:   make(chan struct{}, 1),
		framer:   r.ch.framer(),
	}
	r.fromServer, r.fromClient = &d.framer, &d.up.framer
	if !d.reorders() {
		d.queue.order.KeepArrivalOrder()
	}
	d.gate = gate{guard: r.ch.guard, direction: spiceproto.ServerToClient}
	d.up.gate = gate{guard: r.ch.guard, direction: spiceproto.ClientToServer}
	if r.ch.trace != nil {
		d.queue.overtook = d.traceOvertook
	}
	d.up.d, d.up.framer, d.uplink = d, r.ch.framer(), newUplink(d)
	d.writer.init(d)
	return d
}

// runDisplay relays a paced display channel until one direction ends.
func (r *relaying) runDisplay() {
	d := newDisplay(r)
	defer d.finish()
	defer r.cfg.displays.enter(d)()
	var wg sync.WaitGroup
	wg.Go(func() { d.readerEnded(d.read()) })
	r.direction(&wg, d.writer.run)
	wg.Go(func() { d.upstreamEnded(d.up.run()) })
	d.uplinkEnded(d.uplink.run()) // here, as in runPipes
	wg.Wait()
}

// pacerConfig translates the settings for this channel.
func (r *relaying) pacerConfig() pacer.Config {
	p := r.cfg.pacing
	cfg := pacer.Config{
		Mode: r.ch.mode, QueueTarget: p.QueueTarget, QueueBytes: p.QueueBytes,
		Sweeps: !p.RawValve, BackendRTT: r.ch.server.rtt, Reorder: r.reorders(),
	}
	if r.ch.serverCaps.Has(spiceproto.CapDisplayPrefCompression) {
		cfg.Compression = p.Compression
		cfg.CompressionAuto = p.CompressionAuto && cfg.Reorder
	}
	if b := r.ch.server.receiveBuffer; b > 0 {
		cfg.BackendBuffer, cfg.BackendMost = b, widestBackend
	}
	return cfg
}

// reorders tells that the display queue may change the order of messages, and
// leave out what newer ones cover. Messages with full headers keep theirs: they
// carry serials, which clients take to grow, and sub-messages, of which the order
// knows nothing.
func (r *relaying) reorders() bool {
	return r.cfg.pacing.Reorder && r.ch.mode == pacer.Adaptive && !r.cfg.pacing.RawValve && !r.ch.fullHeaders
}

// errEnded is what a direction returns that stops because the channel ends.
var errEnded = errors.New("channel ended")

// widestBackend is the receive buffer beyond which a hypervisor leg is not
// widened, in bytes. The window has long stopped to grow then
// (sockopt.OpenWindow), but more fits into one read.
const widestBackend = 4 << 20

// readerEnded ends the channel, and the writer once it has sent what is queued.
// It does so in this order, as those below, because the end of one goroutine that
// follows from another's must not be taken for the cause.
func (d *display) readerEnded(err error) {
	d.end(err)
	d.mu.Lock()
	d.eof = true
	d.queue.end()
	d.mu.Unlock()
	wake(d.arrived)
}

func (d *display) upstreamEnded(err error) {
	d.end(err)
	close(d.uplink.chunks)
}

func (d *display) uplinkEnded(err error) {
	d.end(err)
	close(d.uplink.stopped)
}

// read moves the hypervisor's messages into the queue while the read valve is
// open.
func (d *display) read() error {
	server := d.ch.server
	buf := readBuffer{idle: pacedBuffer}
	defer buf.release()
	for {
		if !d.awaitValve() {
			return errEnded
		}
		n, err := server.conn.Read(buf.bytes())
		if n > 0 {
			if err := d.accept(buf.bytes()[:n]); err != nil {
				return err
			}
			buf.read(n)
		}
		if err != nil {
			return readError("hypervisor", server, err)
		}
	}
}

// awaitValve waits until the hypervisor may be read; false: the channel ended.
func (d *display) awaitValve() bool {
	for {
		d.mu.Lock()
		open := d.pace.MayRead()
		d.mu.Unlock()
		if open {
			return true
		}
		select {
		case <-d.opened:
		case <-d.ended:
			return false
		}
	}
}

// accept queues what arrived and does what the pacer makes of it.
func (d *display) accept(b []byte) error {
	widen, err := d.store(time.Now(), b)
	d.widen(widen)
	if err != nil || d.ch.client.probe == nil {
		wake(d.arrived)
		return err
	}
	return d.writer.direct()
}

// widening is a receive buffer to give the hypervisor's socket, in bytes; 0: none.
type widening struct {
	bytes int
	free  bool // with the window that goes with it
}

// store returns what to give the hypervisor's socket.
func (d *display) store(now time.Time, b []byte) (widen widening, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for rest := b; len(rest) > 0; {
		s := d.framer.Next(rest)
		rest = rest[len(s.Bytes):]
		if err := d.storeSegment(s); err != nil {
			skip(&d.framer, rest)
			return widen, err
		}
	}
	d.bookAcks(now)
	d.traceState()
	widen.bytes = d.pace.BackendRead(now, len(b))
	widen.free = d.pace.BackendFree()
	return widen, nil
}

// storeSegment queues one segment. A message takes part once its head is known,
// so that the queue holds nothing it cannot name, and in full once it is whole.
func (d *display) storeSegment(s spiceproto.Segment) (err error) {
	if err := d.gate.judge(s, &d.framer); err != nil {
		d.queue.abandon()
		return err
	}
	n := 0
	switch {
	case s.HeaderDone:
		header := d.framer.RawHeader()
		d.queue.push(header, d.framer.Header().Size)
		n, d.inBody = len(header), true
	case d.inBody:
		d.queue.store(s.Bytes)
		n = len(s.Bytes)
	}
	d.inBody = d.inBody && !s.End
	if s.HeadDone {
		err = d.arrivedHead()
	}
	if n > 0 {
		d.pace.Stored(n, d.queue.memory)
	}
	if s.End {
		d.completed()
	}
	return err
}

func (d *display) arrivedHead() error {
	h, head := d.framer.Header(), d.framer.Head()
	d.traceMessage(spiceproto.ServerToClient, &d.framer)
	m := describe(h, head)
	d.pace.Arrived(m)
	if m.Op == spiceproto.MsgDisplaySurfaceCreate && m.Surface == 0 {
		d.queue.order.Resize(m.Width, m.Height)
	}
	d.queue.enter(m)
	d.acks.fromServer(h, head)
	if m.Op == spiceproto.MsgSetAck {
		return d.bookSetAck(m.SetAck.Generation)
	}
	return nil
}

// completed lets the message that has just ended take its place among others.
func (d *display) completed() {
	by := d.queue.arriving.entry.Number()
	e := d.queue.complete(d.pace.Burst(), d.pace.Horizon(), func(number uint64, bytes int) {
		d.pace.Dropped(bytes, d.queue.memory)
		d.acks.replaced()
		d.traceReplaced(number, by)
	})
	if e.Urgent() {
		d.pace.Answered(time.Now())
	}
}

// describe tells the pacer what a message is. What cannot be parsed is still
// counted, as the server counts it.
func describe(h spiceproto.Header, head []byte) pacer.Message {
	m := pacer.Message{Op: h.Type, Size: h.Size}
	switch {
	case h.Type == spiceproto.MsgSetAck:
		m.SetAck, _ = spiceproto.ParseSetAck(head)
	case h.Type == spiceproto.MsgDisplaySurfaceCreate:
		if s, err := spiceproto.ParseSurfaceCreate(head); err == nil {
			m.Surface, m.Width, m.Height = s.ID, s.Width, s.Height
		}
	case spiceproto.IsDraw(h.Type):
		if draw, err := spiceproto.ParseDrawHead(h.Type, h.Size, head); err == nil {
			m.Draw, m.Surface, m.Box = true, draw.Surface, draw.Box
		}
		m.Effect = spiceproto.ParseEffect(h.Type, h.Size, head)
	default:
		m.Stream, _ = spiceproto.ParseStreamHead(h.Type, head)
	}
	return m
}

// widen gives the hypervisor's socket a larger receive buffer, if w has one.
func (d *display) widen(w widening) {
	if w.bytes == 0 {
		return
	}
	err := d.ch.server.setReceiveBuffer(w.bytes)
	if w.free {
		err = errors.Join(err, d.ch.server.openWindow(w.bytes))
	}
	if err != nil {
		d.ch.log.Debug("hypervisor socket not widened", zap.Int("bytes", w.bytes), zap.Error(err))
		return
	}
	d.ch.log.Debug("hypervisor socket widened", zap.Int("bytes", w.bytes), zap.Bool("window", w.free))
}

// publish shows the pacer's state on the metrics page. The caller holds mu.
func (d *display) publish() {
	s, st := d.ch.stats, d.pace.State()
	s.QueueBytes.Store(int64(st.QueueBytes))
	s.BudgetBytes.Store(int64(st.BudgetBytes))
	s.RateBytes.Store(int64(st.Rate))
	s.MinRTT.Store(int64(st.Base))
	s.AcksHeld.Store(st.AcksHeld)
	s.HoldTime.Store(int64(st.HoldTime))
	s.Sweeps.Store(st.Sweeps)
	o := d.queue.order.Stats()
	s.Replaced.Store(o.Replaced)
	s.ReplacedBytes.Store(o.ReplacedBytes)
	s.Overtook.Store(o.Overtook)
	d.traceState()
}

// finish gives the queue's memory back.
func (d *display) finish() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.publish()
	d.queue.clear()
}

// wake leaves a sign in a channel of capacity one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
