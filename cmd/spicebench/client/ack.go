package client

// ackWindow counts messages as spice-gtk 0.42 does (spice-channel.c and
// channel-base.c): SET_ACK sets window and countdown, the SET_ACK message itself
// is counted down before that, and an ACK is due when the countdown reaches zero.
// So the first ACK follows message 1+W, SET_ACK being the first.
type ackWindow struct {
	window uint32 // W; 0: no ACKs
	left   uint32
	acks   uint64 // due so far
}

// set begins a window of w messages.
func (a *ackWindow) set(w uint32) { a.window, a.left = w, w }

// message counts a completely received message and reports whether an ACK is due.
func (a *ackWindow) message() bool {
	if a.left == 0 {
		return false
	}
	a.left--
	if a.left > 0 {
		return false
	}
	a.left = a.window
	a.acks++
	return true
}
