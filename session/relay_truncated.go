package session

import (
	"errors"
	"fmt"
	"io"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

// TruncatedError ends a channel whose peer closed its stream in the middle of a
// message. Something at that end died, or counts bytes wrongly.
type TruncatedError struct {
	// Side is "client" or "hypervisor", Peer its address.
	Side, Peer string
	// HeaderKnown: the message's header is complete and Type its opcode.
	HeaderKnown bool
	Type        uint16
	// Missing is how many bytes of the message did not come; of one whose header is
	// incomplete, how many of that.
	Missing uint32

	err error
}

func (e *TruncatedError) Error() string {
	what := "a header"
	if e.HeaderKnown {
		what = fmt.Sprintf("message %d", e.Type)
	}
	return fmt.Sprintf("%s %s closed in the middle of %s: %d of its bytes are missing: %v", e.Side, e.Peer, what, e.Missing, e.err)
}

// Unwrap returns io.ErrUnexpectedEOF.
func (e *TruncatedError) Unwrap() error { return e.err }

// truncation returns why the channel ended: with a *TruncatedError if its cause
// is the end of a stream inside a message, which it counts. No direction runs any
// more.
func (r *relaying) truncation() error {
	failed, ok := errors.AsType[*legError](r.cause)
	if !ok || !errors.Is(r.cause, io.EOF) && !errors.Is(r.cause, io.ErrUnexpectedEOF) {
		return r.cause
	}
	framer, direction := r.fromServer, spiceproto.ServerToClient
	if failed.leg == "client" {
		framer, direction = r.fromClient, spiceproto.ClientToServer
	}
	if !framer.InMessage() {
		return r.cause
	}
	r.ch.stats.Truncated[direction].Add(1)
	e := &TruncatedError{Side: failed.leg, Peer: failed.peer, err: io.ErrUnexpectedEOF}
	e.Missing, e.HeaderKnown = framer.Missing()
	e.Type = framer.Header().Type
	return e
}

// truncatedFields are what a line of the log tells of a truncated message beside
// the reason.
func truncatedFields(err error) []zap.Field {
	e, ok := errors.AsType[*TruncatedError](err)
	if !ok {
		return nil
	}
	return []zap.Field{
		zap.String("truncated_by", e.Side), zap.String("truncated_peer", e.Peer), zap.Uint32("missing_bytes", e.Missing),
	}
}
