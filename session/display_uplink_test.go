package session

import (
	"net"
	"testing"

	"spicepacer/pacer"
)

// writeSizes is a connection that keeps the sizes of its writes.
type writeSizes struct {
	net.Conn
	sizes []int
}

func (w *writeSizes) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	return len(p), nil
}

// A hypervisor that owes itself a million ACKs, having asked for one for each of
// its messages and not read them, gets them in pieces of bounded memory.
func TestUplinkWritesAcksInPieces(t *testing.T) {
	const due, ackSize = 3*mostAcks + 7, 6
	conn := new(writeSizes)
	d := &display{
		relaying: &relaying{ch: &channel{server: leg{conn: conn}, stats: new(Stats)}},
		pace:     pacer.NewChannel(pacer.Config{Mode: pacer.Adaptive}),
		acksDue:  due,
	}
	d.uplink = newUplink(d)
	if err := d.uplink.answer(); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range conn.sizes {
		sum += n
		if n > mostAcks*ackSize {
			t.Errorf("a write of %d bytes", n)
		}
	}
	if sum != due*ackSize || d.acksDue != 0 {
		t.Errorf("%d bytes written for %d ACKs, %d still due", sum, due, d.acksDue)
	}
}
