package session

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

// ackSilence is how long a client that has received everything may owe an ACK
// before that is logged. spice-server has no such limit: it waits for ever.
const ackSilence = 10 * time.Second

// ackWatch tells the log of a client whose ACKs are wrong: more of them than it
// can owe, which makes spice-server's counter wrap and the picture freeze, or
// none at all, which makes it stop. It only watches, in every mode alike.
type ackWatch struct {
	client leg
	log    *zap.Logger

	mu       sync.Mutex // guards the rest
	window   uint64     // of the last SET_ACK, 0: none
	received uint64     // messages of the generation read and not left out
	acked    uint64     // ACKs of the client in the generation
	timer    *time.Timer
	waiting  bool // timer runs
	surplus  bool // has been logged
	silent   bool // has been logged
	done     bool
}

// newAckWatch returns a watch for a channel on which spice-server wants ACKs, or
// nil for the others.
func newAckWatch(ch *channel) *ackWatch {
	if ch.kind != spiceproto.ChannelDisplay && ch.kind != spiceproto.ChannelCursor {
		return nil
	}
	return &ackWatch{client: ch.client, log: ch.log}
}

// fromServer books a message of the hypervisor.
func (w *ackWatch) fromServer(h spiceproto.Header, head []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.Type == spiceproto.MsgSetAck {
		m, err := spiceproto.ParseSetAck(head)
		if err != nil {
			return
		}
		w.window, w.received, w.acked = uint64(m.Window), 0, 0
	}
	w.received++
	if w.exhausted() && !w.waiting && !w.silent && !w.done {
		w.waiting = true
		w.schedule()
	}
}

// replaced books a message that the client does not get, and acknowledges
// neither; filled books n sent in the place of such.
func (w *ackWatch) replaced() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.received--
}

func (w *ackWatch) filled(n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.received += n
}

// fromClient books a message of the client.
func (w *ackWatch) fromClient(h spiceproto.Header) {
	if h.Type != spiceproto.MsgcAck {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acked++
	w.waiting = false
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.acked*w.window > w.received && !w.surplus {
		w.surplus = true
		w.log.Warn("client acknowledges more messages than it was sent",
			zap.Uint64("acks", w.acked), zap.Uint64("window", w.window), zap.Uint64("messages", w.received))
	}
}

// exhausted tells that the hypervisor has sent all it may without another ACK.
func (w *ackWatch) exhausted() bool {
	return w.window > 0 && w.received > w.window*(w.acked+2)
}

func (w *ackWatch) schedule() {
	if w.timer == nil {
		w.timer = time.AfterFunc(ackSilence, w.check)
		return
	}
	w.timer.Reset(ackSilence)
}

// check looks whether the client owes its ACK still, and only its ACK: while
// bytes are under way to it, it may have nothing to acknowledge yet.
func (w *ackWatch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done || !w.waiting || !w.exhausted() {
		return
	}
	if !w.delivered() {
		w.schedule()
		return
	}
	w.waiting, w.silent = false, true
	w.log.Warn("client does not acknowledge messages; the hypervisor sends no more",
		zap.Duration("for", ackSilence), zap.Uint64("window", w.window), zap.Uint64("messages", w.received))
}

func (w *ackWatch) delivered() bool {
	if w.client.probe == nil {
		return true
	}
	s, err := w.client.probe()
	return err == nil && s.Outstanding == 0
}

func (w *ackWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
