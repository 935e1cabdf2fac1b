// Package linkstage is the client's side of a channel's link stage, for whatever
// plays a viewer:
//
//	mess := spiceproto.LinkMess{Type: spiceproto.ChannelDisplay, Common: linkstage.Common()}
//	full, err := linkstage.Link(conn, mess, "secret")
//	framer := spiceproto.Framer{Full: full}
package linkstage

import (
	"fmt"
	"io"

	"spicepacer/spiceproto"
)

// Common returns the common capabilities of a viewer. spice-gtk has SASL in the
// place of AuthSpice, which makes a difference only to a server that asks for SASL.
func Common() spiceproto.Caps {
	return spiceproto.Caps(nil).
		With(spiceproto.CapAuthSelection).With(spiceproto.CapAuthSpice).With(spiceproto.CapMiniHeader)
}

// Link runs the client's side of the link stage (reds.cpp, reds_handle_new_link and
// what follows) and tells whether messages have full headers from then on. They
// have, and the mechanism is not sent, unless both sides know better. A refusal is a
// spiceproto.LinkError.
func Link(conn io.ReadWriter, mess spiceproto.LinkMess, password string) (full bool, err error) {
	if _, err := conn.Write(mess.Append(nil)); err != nil {
		return false, fmt.Errorf("send link message: %w", err)
	}
	reply, err := spiceproto.ReadLinkReply(conn)
	if err != nil {
		return false, err
	}
	if reply.Error != spiceproto.LinkOK {
		return false, reply.Error
	}
	agreed := func(bit int) bool { return mess.Common.Has(bit) && reply.Common.Has(bit) }
	ticket, err := spiceproto.EncryptTicket(&reply.PubKey, password)
	if err != nil {
		return false, err
	}
	var auth []byte
	if agreed(spiceproto.CapAuthSelection) {
		auth = spiceproto.AppendAuthMechanism(auth, spiceproto.AuthMechanismSpice)
	}
	if _, err := conn.Write(append(auth, ticket[:]...)); err != nil {
		return false, fmt.Errorf("send ticket: %w", err)
	}
	result, err := spiceproto.ReadLinkResult(conn)
	if err == nil && result != spiceproto.LinkOK {
		err = result
	}
	return !agreed(spiceproto.CapMiniHeader), err
}
