package session

import (
	"crypto/tls"
	"sync"
	"time"

	"spicepacer/pacer"
)

const (
	// maxWrite is the most that goes to the client in one write while the link is
	// the limit: one TLS record (RFC 8446, 5.1: 2^14 bytes).
	maxWrite = 16 << 10
	// writeTime is what one write may take on the link: with a record that
	// takes longer, a small message behind it waits for nothing.
	writeTime = 4 * time.Millisecond
	// recordOverhead is what TLS adds to a record in bytes: header, content
	// type and tag in TLS 1.3; header, explicit nonce and tag in 1.2.
	recordOverhead13 = 5 + 1 + 16
	recordOverhead12 = 5 + 8 + 16
)

// displayWriter moves the queue to the client within the byte budget. One
// goroutine has it at a time: its own, or the reader's while the queue is empty but
// for what has just been read and the link has never been the limit. On a free link
// nothing is handed over then. Once it was full, writes are the writer's alone: it
// makes fewer and larger ones of what comes in small reads.
type displayWriter struct {
	d        *display
	out      messageWriter
	overhead int // per record, on the wire
	segment  int // payload of a full segment, 0: unknown
	timer    *time.Timer
	idle     bool // nobody has it: its own goroutine waits. Guarded by d.mu
}

var chunks = sync.Pool{New: func() any { return new([maxWrite]byte) }}

func (w *displayWriter) init(d *display) {
	w.d, w.out.to, w.out.framer = d, d.ch.client, d.ch.framer()
	if c, ok := d.ch.client.conn.(*tls.Conn); ok {
		w.overhead = recordOverhead13
		if c.ConnectionState().Version < tls.VersionTLS13 {
			w.overhead = recordOverhead12
		}
	}
}

// run writes until the hypervisor's stream is complete and sent.
func (w *displayWriter) run() error {
	w.timer = time.NewTimer(time.Hour)
	defer w.timer.Stop()
	for {
		buf, n := w.next()
		if buf == nil {
			return errEnded
		}
		err := w.write(buf[:n])
		chunks.Put(buf)
		if err != nil {
			return err
		}
	}
}

// direct writes what the reader has just stored, if the writer's own goroutine has
// nothing to do and there is room, and leaves the rest to that.
func (w *displayWriter) direct() error {
	d := w.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if !w.idle || d.pace.Limited() || d.pace.Rate() > 0 {
		wake(d.arrived)
		return nil
	}
	w.idle = false
	defer func() { w.idle = true }()
	buf := busyBuffers.Get().(*[busyBuffer]byte)
	defer busyBuffers.Put(buf)
	fresh := false
	for d.queue.ready() > 0 {
		switch {
		case w.mayWrite():
			most := max(min(d.pace.Room(), busyBuffer), maxWrite)
			n := w.take(buf[:most])
			var err error
			w.unlocked(func() { err = w.write(buf[:n]) })
			if err != nil {
				return err
			}
			fresh = false
		case !fresh:
			w.observe()
			fresh = true
		default:
			wake(d.arrived)
			return nil
		}
	}
	w.drained()
	return nil
}

func (w *displayWriter) write(chunk []byte) error {
	if _, err := w.out.write(chunk); err != nil {
		return writeError("client", w.d.ch.client, err)
	}
	w.d.watch.wrote()
	w.sent(len(chunk))
	return nil
}

// next waits until there are bytes and room for them, and takes them from the
// queue. It returns nil when there will be no more.
func (w *displayWriter) next() (buf *[maxWrite]byte, n int) {
	d := w.d
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := false
	for {
		switch {
		case d.queue.ready() == 0 && d.eof:
			return nil, 0
		case d.queue.ready() == 0:
			w.drained()
			w.await()
		case w.mayWrite():
			if wait := w.hesitate(); wait > 0 {
				w.unlocked(func() { w.listen(wait) })
				fresh = false
				continue
			}
			buf = chunks.Get().(*[maxWrite]byte)
			return buf, w.take(buf[:])
		case !fresh:
			w.observe()
			fresh = true
		default:
			wait := d.pace.Wait()
			due := time.Now().Add(wait)
			w.unlocked(func() { w.pause(wait) })
			d.pace.Late(time.Since(due))
			fresh = false
		}
	}
}

// drained does what follows from an empty queue. The caller holds mu.
func (w *displayWriter) drained() {
	d := w.d
	d.pace.Drained()
	// What was held because the link was the limit is held no more, and nothing
	// else may come that would tell: once messages were replaced, the client's own
	// ACKs need not suffice for the server to go on.
	d.bookAcks(time.Now())
	d.publish()
}

// await returns when something may have arrived that is not the reader's to write.
// The caller holds mu.
func (w *displayWriter) await() {
	w.idle = true
	for woken := false; !woken || !w.idle; woken = true {
		w.unlocked(func() { <-w.d.arrived })
	}
	w.idle = false
}

// take moves what to write at once into buf and returns how many bytes that are. It
// books them before they are written: the client's answer to them may come before
// the writer does anything else. The caller holds mu.
func (w *displayWriter) take(buf []byte) int {
	d, now := w.d, time.Now()
	overhead := w.overhead
	if d.pace.Anticipates(now) {
		overhead = len(buf) // leaves no room for a second message
	}
	t := d.queue.take(buf[:w.size(len(buf))], d.pace.Burst(), overhead)
	d.pace.Sent(now, t.bytes, t.messages, d.queue.memory)
	for range t.fillers {
		d.pace.Filled(now)
	}
	return t.bytes
}

// mayWrite tells whether the budget has room for a write worth making. When the
// channel ends, what is left goes to the kernel as it is.
func (w *displayWriter) mayWrite() bool {
	d := w.d
	if d.eof || d.ch.client.probe == nil {
		return true
	}
	return d.pace.Room() >= min(d.pace.Quantum(), d.queue.ready())
}

// size returns how much to write at once, at most most: what the link carries in
// writeTime, in whole segments including the record's overhead, so that a paced
// stream of records does not leave a short segment behind each.
func (w *displayWriter) size(most int) int {
	n := most
	if r := w.d.pace.Rate(); r > 0 {
		n = min(n, int(r*writeTime.Seconds()))
	}
	if w.segment > 0 {
		n = max(n/w.segment, 1)*w.segment - w.overhead
	}
	return min(max(n, 1), most) // a segment may be larger, as on loopback
}

// observe samples the client's socket. The caller holds mu.
func (w *displayWriter) observe() {
	d := w.d
	var s pacer.LinkSample
	var err error
	w.unlocked(func() { s, err = d.ch.client.probe() })
	if err != nil {
		return
	}
	w.segment = s.MSS
	now := time.Now()
	d.pace.Observe(now, s)
	d.bookAcks(now)
	d.publish()
	wake(d.opened)
}

// hesitate returns how long to wait for an answer to the user before the next
// message is begun. The caller holds mu.
func (w *displayWriter) hesitate() time.Duration {
	d := w.d
	if d.eof || !d.queue.between() {
		return 0
	}
	wait := d.pace.Hesitate(time.Now())
	if wait > 0 {
		d.traceState()
	}
	return wait
}

// listen waits for something to arrive, for at most the given time.
func (w *displayWriter) listen(most time.Duration) {
	w.timer.Reset(most)
	select {
	case <-w.timer.C:
	case <-w.d.arrived:
	case <-w.d.ended:
	}
}

// pause waits for room.
func (w *displayWriter) pause(wait time.Duration) {
	w.timer.Reset(wait)
	select {
	case <-w.timer.C:
	case <-w.d.ended:
	}
}

// sent does what follows from n bytes written.
func (w *displayWriter) sent(n int) {
	d := w.d
	d.ch.stats.BytesToClient.Add(uint64(n))
	d.mu.Lock()
	d.bookAcks(time.Now())
	d.traceState()
	open := d.pace.MayRead()
	d.mu.Unlock()
	if open {
		wake(d.opened)
	}
}

// unlocked runs f without the lock.
func (w *displayWriter) unlocked(f func()) {
	w.d.mu.Unlock()
	defer w.d.mu.Lock()
	f()
}
