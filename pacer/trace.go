package pacer

import "time"

// Trace is what a trace shows of a Channel beside its State.
type Trace struct {
	State
	// Reading tells that the read valve is open.
	Reading bool
	// Full tells that the client's link is the limit, Delay what its queue adds to
	// the base round trip.
	Full  bool
	Delay time.Duration
	// Waiting tells that the link is kept free for the answer to an input event.
	Waiting bool
	// The ACK ledger: messages begun by the server and messages sent to the client
	// in this generation, ACKs written, and ACKs of the client.
	Generation, Window uint32
	Framed, Delivered  uint64
	Acked, ClientAcks  uint64
}

// Trace returns the figures as they are now. It changes nothing.
func (c *Channel) Trace() Trace {
	return Trace{
		State:   c.State(),
		Reading: c.MayRead(),
		Full:    c.link.Full(), Delay: c.link.Delay(),
		Waiting:    c.anticipation.waits,
		Generation: c.ledger.Generation(), Window: c.ledger.Window(),
		Framed: c.ledger.Framed(), Delivered: c.ledger.Delivered() - c.dropped,
		Acked: c.ledger.Acked(), ClientAcks: c.acks,
	}
}
