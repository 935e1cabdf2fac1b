package spiceproto_test

import (
	"fmt"
	"net"

	"spicepacer/spiceproto"
)

// serve is the server's side of one link, then a single message. It checks no
// errors: the client would notice.
func serve(conn net.Conn) {
	defer conn.Close()
	mess, _ := spiceproto.ReadLinkMess(conn)
	key, _ := spiceproto.GenerateTicketKey()
	reply := spiceproto.LinkReply{PubKey: key.PubKey()}
	reply.Common, reply.Channel = spiceproto.ServerCaps(mess.Type)
	conn.Write(reply.Append(nil))

	spiceproto.ReadAuthMechanism(conn)
	var ticket [spiceproto.TicketSize]byte
	conn.Read(ticket[:])
	if password, _ := key.Decrypt(&ticket); password != "secret" {
		conn.Write(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrPermissionDenied))
		return
	}
	conn.Write(spiceproto.AppendLinkResult(nil, spiceproto.LinkOK))
	conn.Write(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
}

func Example() {
	conn, server := net.Pipe()
	go serve(server)

	common, channel := spiceproto.ServerCaps(spiceproto.ChannelDisplay)
	mess := spiceproto.LinkMess{
		Type: spiceproto.ChannelDisplay, Common: common, Channel: channel,
	}
	conn.Write(mess.Append(nil))
	reply, err := spiceproto.ReadLinkReply(conn)
	if err != nil || reply.Error != spiceproto.LinkOK {
		fmt.Println("refused:", reply.Error, err)
		return
	}
	fmt.Println(spiceproto.ChannelCapNames(mess.Type, reply.Channel))

	ticket, err := spiceproto.EncryptTicket(&reply.PubKey, "secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	conn.Write(spiceproto.AppendAuthMechanism(nil, spiceproto.AuthMechanismSpice))
	conn.Write(ticket[:])
	verdict, err := spiceproto.ReadLinkResult(conn)
	fmt.Println(verdict.String(), err)

	var f spiceproto.Framer
	buf := make([]byte, 4096)
	for n, err := conn.Read(buf); err == nil; n, err = conn.Read(buf) {
		for p := buf[:n]; len(p) > 0; {
			seg := f.Next(p)
			p = p[len(seg.Bytes):]
			if seg.HeadDone && f.Header().Type == spiceproto.MsgSetAck {
				ack, err := spiceproto.ParseSetAck(f.Head())
				fmt.Printf("%+v %v\n", ack, err)
			}
		}
	}
	// Output:
	// [monitors-config stream-report pref-compression pref-video-codec-type]
	// ok <nil>
	// {Generation:1 Window:20} <nil>
}
