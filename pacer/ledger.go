package pacer

import (
	"fmt"
	"math"
)

// Ledger keeps the ACK books of one channel towards spice-server.
//
// The server counts every message it begins, SET_ACK being the first of its
// generation, and stops once messages − W·ACKs > 2W (spice-server
// red-channel-client.cpp, is_waiting_for_ack and begin_send_message). An ACK
// subtracts W from that unsigned counter unchecked: one ACK before message
// W·(A+1) was begun wraps it, and the channel waits for ever. Hence, with R
// messages framed and A ACKs written in this generation:
//
//	legal      R ≥ W·(A+1)           the server begun at least as many as we saw
//	credits    W·A + 2W + 1 − R      messages it may begin before it waits
//	due late   F ≥ W·A + 2W + 1 − h  with F forwarded and 1 ≤ h ≤ W+1
//
// The server counts before it writes the first byte, so framing a header is
// proof enough. For h ≤ W+1 a due ACK is a legal one. h is at least 1 because
// a server that has begun message W·A + 2W + 1 may stop writing in the middle
// of it: waiting for its end would wait for ever.
//
// More than one ACK can be legal or due at once, notably when ACK_SYNC passes
// after the server spent its credits, so callers ask in a loop, after every
// Received, Forwarded and Synced.
//
// The zero value has seen no SET_ACK and finds no ACK legal. A Ledger is not
// safe for concurrent use.
type Ledger struct {
	generation, window uint32 // of the last SET_ACK; window 0: no ACKs wanted

	synced    uint32 // generation of the last ACK_SYNC written, if hasSynced
	hasSynced bool

	framed    uint64 // messages whose header was seen, since connect
	forwarded uint64 // messages that have left the proxy, since connect
	before    uint64 // value of framed when the last SET_ACK came
	acked     uint64 // ACKs written in this generation
}

// ErrEarlyAck reports an ACK that would have wrapped the server's counter.
type ErrEarlyAck struct {
	Generation, Window uint32
	Synced             bool   // ACK_SYNC of this generation has been written
	Framed, Acked      uint64 // messages and ACKs of this generation so far
}

func (e *ErrEarlyAck) Error() string {
	if e.Window == 0 {
		return "ACK without a window from the server"
	}
	if !e.Synced {
		return fmt.Sprintf("ACK before ACK_SYNC of generation %d", e.Generation)
	}
	return fmt.Sprintf("early ACK: number %d of generation %d is legal from message %d on, seen %d",
		e.Acked+1, e.Generation, uint64(e.Window)*(e.Acked+1), e.Framed)
}

// SetAck books the header and body of a SET_ACK from the server. It is message
// 1 of its generation; Received is not called for it. A window of 0 means that
// the server wants no ACKs.
func (l *Ledger) SetAck(generation, window uint32) {
	l.generation, l.window = generation, window
	l.before = l.framed
	l.acked = 0
	l.framed++
}

// Received books any other message whose header was framed from the server.
func (l *Ledger) Received() { l.framed++ }

// Forwarded books a message, SET_ACK included, that has left the proxy: handed
// to the client leg completely, or dropped as replaced.
func (l *Ledger) Forwarded() { l.forwarded++ }

// Synced books an ACK_SYNC written to the server. As in the server the last one
// counts, whatever its value: with that of another generation no ACK is
// accepted, and one that is early for its SET_ACK is remembered.
func (l *Ledger) Synced(generation uint32) {
	l.synced, l.hasSynced = generation, true
}

// MayAck reports whether one ACK is legal now.
func (l *Ledger) MayAck() bool {
	return l.window > 0 && l.isSynced() && l.Framed() >= l.granted()+uint64(l.window)
}

// DueWithheld reports whether one ACK is legal and due under the rule that
// keeps at most W + h messages between the server and the client. h counts the
// credits left unforwarded when the server gets new ones, and is taken as the
// nearest of 1 to W+1.
func (l *Ledger) DueWithheld(h uint32) bool {
	held := min(max(uint64(h), 1), uint64(l.window)+1)
	return l.MayAck() && l.Delivered()+held >= l.limit()
}

// Ack books one ACK written to the server. If it is not legal it returns an
// *ErrEarlyAck and books nothing; the ACK must then not be written.
func (l *Ledger) Ack() error {
	if !l.MayAck() {
		return &ErrEarlyAck{
			Generation: l.generation, Window: l.window, Synced: l.isSynced(),
			Framed: l.Framed(), Acked: l.acked,
		}
	}
	l.acked++
	return nil
}

// Credits returns how many messages the server may still begin before it waits
// for an ACK, math.MaxUint64 if it never waits. One of them may bring another:
// a drawing that needs a LIST of invalidations first takes two messages.
func (l *Ledger) Credits() uint64 {
	if l.window == 0 {
		return math.MaxUint64
	}
	limit, framed := l.limit(), l.Framed()
	if framed >= limit {
		return 0
	}
	return limit - framed
}

// Generation returns that of the last SET_ACK, 0 before the first.
func (l *Ledger) Generation() uint32 { return l.generation }

// Window returns W, messages per ACK; 0 if the server wants no ACKs.
func (l *Ledger) Window() uint32 { return l.window }

// Framed returns R, the messages of this generation whose header was seen.
func (l *Ledger) Framed() uint64 { return l.framed - l.before }

// Delivered returns F, the messages of this generation that have left the
// proxy. Those framed before the SET_ACK leave first and do not count.
func (l *Ledger) Delivered() uint64 {
	if l.forwarded < l.before {
		return 0
	}
	return l.forwarded - l.before
}

// Acked returns A, the ACKs written in this generation.
func (l *Ledger) Acked() uint64 { return l.acked }

// Backlog returns the messages framed and not yet forwarded, R − F, those of
// earlier generations included.
func (l *Ledger) Backlog() uint64 { return l.framed - l.forwarded }

func (l *Ledger) isSynced() bool { return l.hasSynced && l.synced == l.generation }

// granted is W·A, the messages paid for. It never exceeds Framed.
func (l *Ledger) granted() uint64 { return uint64(l.window) * l.acked }

// limit is the number of the last message the server begins before it waits.
func (l *Ledger) limit() uint64 { return l.granted() + 2*uint64(l.window) + 1 }
