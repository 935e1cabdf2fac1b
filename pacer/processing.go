package pacer

import "time"

const (
	// processingSlack is how much longer than the link needs a client may take
	// to answer before it counts as slow: several frames of its own drawing.
	processingSlack = 150 * time.Millisecond
	// maxCheckpoints bounds the unanswered ACKs that are remembered. A client
	// further behind is slow whatever the clock says.
	maxCheckpoints = 64
)

// processing watches how fast the client works off what it received.
//
// TCP acknowledges what the client's kernel holds; the client's own SPICE ACK
// says what it has drawn. Once the proxy answers the server's window itself, a
// client slower than its link would fill megabytes of its own receive buffer
// with stale pictures. So each of its ACKs is expected one trip over the link
// after the message that causes it, and while one is overdue the server gets
// no more credit than the client's own ACKs give.
type processing struct {
	expected    [maxCheckpoints]time.Time // ring of ACKs still to come
	first, size int
	ahead       uint64 // ACKs that came before they were expected
	overflow    bool
}

// reset starts over with a new generation of ACKs.
func (p *processing) reset() { *p = processing{} }

// causes books a message that makes the client send an ACK, expected at t.
func (p *processing) causes(t time.Time) {
	switch {
	case p.ahead > 0:
		p.ahead--
		return
	case p.size == maxCheckpoints:
		p.overflow = true
		return
	}
	p.expected[(p.first+p.size)%maxCheckpoints] = t
	p.size++
}

// answered books an ACK of the client. It may be ahead: spice-html5 counts
// SET_ACK and answers one message earlier than spice-gtk.
func (p *processing) answered() {
	if p.size == 0 {
		p.ahead++
		return
	}
	p.first = (p.first + 1) % maxCheckpoints
	p.size--
	p.overflow = false
}

// slow tells whether the client's oldest missing ACK is overdue. One overdue for
// long is not waited for any more: a guest operation may be waiting with it.
func (p *processing) slow(now time.Time) bool {
	if p.size == 0 {
		return false
	}
	overdue := now.Sub(p.expected[p.first])
	return overdue < releaseAfter && (p.overflow || overdue > processingSlack)
}
