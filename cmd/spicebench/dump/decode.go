package dump

import (
	"errors"

	"spicepacer/spiceproto"
)

const (
	down = spiceproto.ServerToClient
	up   = spiceproto.ClientToServer
)

// decode returns the fields of a message; nil for a type that has no layout, or no
// body.
func decode(t spiceproto.ChannelType, d spiceproto.Direction, op uint16, body []byte) (any, error) {
	fields, err := spiceproto.Decode(t, d, op, body)
	_, empty := fields.(spiceproto.Empty)
	if empty || errors.Is(err, spiceproto.ErrOpcode) {
		return nil, nil
	}
	return fields, err
}
