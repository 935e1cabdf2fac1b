// Package spiceproto speaks the SPICE wire protocol as spice-server 0.15 and
// its clients do: the link stage with capabilities and tickets, both data
// headers, message framing, and the messages of every channel, with those of the
// guest agent within. It opens no sockets, starts no goroutines, reads no clock
// and logs nothing.
//
// All integers are little-endian and packed. A pointer in a body is a u32
// offset from the first body byte, 0 for none.
//
// # Link stage
//
// A client links one channel like this; conn is a fresh connection:
//
//	mess := spiceproto.LinkMess{
//		ConnectionID: session, // 0 for the main channel
//		Type:         spiceproto.ChannelDisplay,
//		Common: spiceproto.Caps{}.With(spiceproto.CapAuthSelection).
//			With(spiceproto.CapAuthSpice).With(spiceproto.CapMiniHeader),
//	}
//	conn.Write(mess.Append(nil))
//	reply, err := spiceproto.ReadLinkReply(conn)
//	// reply.Error is the server's refusal, if it is not LinkOK
//	ticket, err := spiceproto.EncryptTicket(&reply.PubKey, password)
//	b := spiceproto.AppendAuthMechanism(nil, spiceproto.AuthMechanismSpice)
//	conn.Write(append(b, ticket[:]...))
//	verdict, err := spiceproto.ReadLinkResult(conn)
//
// The server's side is ReadLinkMess, GenerateTicketKey, LinkReply.Append,
// ReadAuthMechanism, TicketKey.Decrypt and AppendLinkResult, in this order. A
// *LinkFormatError tells it what to answer to a malformed message.
//
// # Messages
//
// After the link stage each direction is a sequence of messages. A Framer cuts
// whatever was read into segments, so that a relay can look at the header and
// the first bytes of each message and pass everything on as it comes:
//
//	var f spiceproto.Framer
//	for {
//		n, err := conn.Read(buf)
//		for p := buf[:n]; len(p) > 0; {
//			seg := f.Next(p)
//			p = p[len(seg.Bytes):]
//			if seg.HeadDone && spiceproto.IsDraw(f.Header().Type) {
//				draw, err := spiceproto.ParseDrawHead(f.Header().Type, f.Header().Size, f.Head())
//				// …
//			}
//			out.Write(seg.Bytes)
//		}
//		// …
//	}
//
// A message type is a struct with a Parse function, which takes the body, and
// an Append method, which writes header and body. Parsers check every offset
// and count against the bytes at hand, allocate no more than these announce and
// hold, ignore surplus bytes as the generated parsers of spice-common do, and
// fail with a *DecodeError; what they return beside an error is meaningless.
// Decode finds the parser for a message of any channel:
//
//	m, err := spiceproto.Decode(channel, direction, header.Type, body)
//	switch m := m.(type) {
//	case spiceproto.ChannelsList:
//		// …
//	case spiceproto.Unknown: // and err is ErrOpcode
//	}
//
// Peers without CapMiniHeader use full headers: Framer.Full, Serials to write them,
// and ParseSubList for the messages that such a header points to.
//
// # Guest agent
//
// The guest's agent and the client exchange messages of their own, in pieces that
// the main channel carries as AgentData and ClientAgentData. An AgentReassembler
// for each direction puts them together, in bounded memory:
//
//	for p := data.Data; len(p) > 0; {
//		n, done, err := r.Next(p)
//		if err != nil {
//			break
//		}
//		p = p[n:]
//		if done {
//			m, err := spiceproto.DecodeAgent(r.Direction, r.Message(), layout)
//			// …
//		}
//	}
//
// layout is AgentLayoutOf what both sides said in AgentAnnounceCapabilities.
package spiceproto
