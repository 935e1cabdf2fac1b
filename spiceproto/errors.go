package spiceproto

import (
	"errors"
	"fmt"
)

// Reasons a message cannot be decoded. A DecodeError wraps exactly one of them.
var (
	// ErrTruncated: the body, or the part of it at hand, ends before the field.
	ErrTruncated = errors.New("body ends before the field")
	// ErrPointer: an offset that points outside the body.
	ErrPointer = errors.New("pointer outside the body")
	// ErrCount: a count that announces more than the body holds.
	ErrCount = errors.New("count exceeds the body")
	// ErrValue: a value the protocol does not define, where the layout of what
	// follows depends on it.
	ErrValue = errors.New("undefined value")
	// ErrLimit: a count that the body may hold, but beyond what any peer sends,
	// where the cost of going on would not be bounded by the body's length.
	ErrLimit = errors.New("count exceeds the limit")
	// ErrOpcode: the opcode is not one this parser knows.
	ErrOpcode = errors.New("opcode without such a layout")
)

// DecodeError tells which field of which message broke a parser.
type DecodeError struct {
	// Channel is 0 for the messages common to all channels, whose parsers do
	// not know where the body came from.
	Channel   ChannelType
	Direction Direction
	Opcode    uint16
	// Field is the name spice.proto gives the field.
	Field string
	// Offset is where the field begins, in bytes from the first body byte.
	Offset int
	// Err is one of the reasons above.
	Err error
}

// Error names message, field, offset and reason.
func (e *DecodeError) Error() string {
	channel := "common"
	if e.Channel != 0 {
		channel = e.Channel.String()
	}
	return fmt.Sprintf("decode %s %s %s (%d): %s at offset %d: %v", channel, e.Direction,
		MessageName(e.Channel, e.Direction, e.Opcode), e.Opcode, e.Field, e.Offset, e.Err)
}

// Unwrap returns the reason, for errors.Is.
func (e *DecodeError) Unwrap() error { return e.Err }
