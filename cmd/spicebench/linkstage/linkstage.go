// Package linkstage is the client's side of a channel's link stage, for whatever
// plays a viewer:
//
//	mess := spiceproto.LinkMess{Type: spiceproto.ChannelDisplay, Common: linkstage.Common()}
//	reply, err := linkstage.Link(conn, mess, "secret")
//	framer := spiceproto.Framer{Full: linkstage.FullHeaders(mess, reply)}
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

// FullHeaders tells whether messages have full headers after the link stage. They
// have unless both sides know better.
func FullHeaders(mess spiceproto.LinkMess, reply spiceproto.LinkReply) bool {
	return !agreed(mess, reply, spiceproto.CapMiniHeader)
}

func agreed(mess spiceproto.LinkMess, reply spiceproto.LinkReply, bit int) bool {
	return mess.Common.Has(bit) && reply.Common.Has(bit)
}

// Link runs the client's side of the link stage (reds.cpp, reds_handle_new_link and
// what follows) and returns the server's capabilities. The mechanism is not sent
// unless both sides know of it. A refusal is a spiceproto.LinkError.
func Link(conn io.ReadWriter, mess spiceproto.LinkMess, password string) (spiceproto.LinkReply, error) {
	if _, err := conn.Write(mess.Append(nil)); err != nil {
		return spiceproto.LinkReply{}, fmt.Errorf("send link message: %w", err)
	}
	reply, err := spiceproto.ReadLinkReply(conn)
	if err != nil {
		return reply, err
	}
	if reply.Error != spiceproto.LinkOK {
		return reply, reply.Error
	}
	ticket, err := spiceproto.EncryptTicket(&reply.PubKey, password)
	if err != nil {
		return reply, err
	}
	var auth []byte
	if agreed(mess, reply, spiceproto.CapAuthSelection) {
		auth = spiceproto.AppendAuthMechanism(auth, spiceproto.AuthMechanismSpice)
	}
	if _, err := conn.Write(append(auth, ticket[:]...)); err != nil {
		return reply, fmt.Errorf("send ticket: %w", err)
	}
	result, err := spiceproto.ReadLinkResult(conn)
	if err == nil && result != spiceproto.LinkOK {
		err = result
	}
	return reply, err
}
