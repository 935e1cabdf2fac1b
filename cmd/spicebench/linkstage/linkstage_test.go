package linkstage

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"spicepacer/spiceproto"
)

const password = "secret"

// ticketKey serves all tests: making one takes longer than the rest of a test.
var ticketKey = sync.OnceValue(func() *spiceproto.TicketKey {
	k, err := spiceproto.GenerateTicketKey()
	if err != nil {
		panic(err)
	}
	return k
})

// serve plays a server with the common capabilities for one link, which refuses at
// once or after the ticket unless these are LinkOK. The returned function tells what
// went wrong on its side.
func serve(t *testing.T, common spiceproto.Caps, atOnce, result spiceproto.LinkError) (client net.Conn, wait func() error) {
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	done := make(chan error, 1)
	go func() {
		defer server.Close()
		done <- answer(server, common, atOnce, result)
	}()
	return client, func() error { return <-done }
}

func answer(conn net.Conn, common spiceproto.Caps, atOnce, result spiceproto.LinkError) error {
	mess, err := spiceproto.ReadLinkMess(conn)
	if err != nil {
		return err
	}
	reply := spiceproto.LinkReply{Error: atOnce, PubKey: ticketKey().PubKey(), Common: common}
	if _, err := conn.Write(reply.Append(nil)); err != nil || atOnce != spiceproto.LinkOK {
		return err
	}
	if mess.Common.Has(spiceproto.CapAuthSelection) && common.Has(spiceproto.CapAuthSelection) {
		if m, err := spiceproto.ReadAuthMechanism(conn); err != nil || m != spiceproto.AuthMechanismSpice {
			return fmt.Errorf("mechanism %d: %w", m, err)
		}
	}
	var blob [spiceproto.TicketSize]byte
	if _, err := io.ReadFull(conn, blob[:]); err != nil {
		return err
	}
	if got, err := ticketKey().Decrypt(&blob); err != nil || got != password {
		return fmt.Errorf("password %q: %w", got, err)
	}
	_, err = conn.Write(spiceproto.AppendLinkResult(nil, result))
	return err
}

func TestLink(t *testing.T) {
	old := Common().Without(spiceproto.CapMiniHeader).Without(spiceproto.CapAuthSelection)
	for _, c := range []struct {
		name           string
		client, server spiceproto.Caps
		atOnce, result spiceproto.LinkError
		full           bool
		want           error
	}{
		{name: "today's server", client: Common(), server: Common()},
		{name: "old server", client: Common(), server: old, full: true},
		{name: "old client", client: old, server: Common(), full: true},
		{name: "refused at once", client: Common(), server: Common(), atOnce: spiceproto.LinkErrNeedSecured,
			want: spiceproto.LinkErrNeedSecured},
		{name: "wrong ticket", client: Common(), server: Common(), result: spiceproto.LinkErrPermissionDenied,
			want: spiceproto.LinkErrPermissionDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, wait := serve(t, c.server, c.atOnce, c.result)
			mess := spiceproto.LinkMess{Type: spiceproto.ChannelDisplay, Common: c.client}
			reply, err := Link(conn, mess, password)
			full := FullHeaders(mess, reply)
			if !errors.Is(err, c.want) || err == nil && full != c.full {
				t.Errorf("full headers %v, error %v, want %v and %v", full, err, c.full, c.want)
			}
			if err := wait(); err != nil {
				t.Errorf("the server says %v", err)
			}
		})
	}
}

func TestLinkWithNobody(t *testing.T) {
	client, server := net.Pipe()
	server.Close()
	if _, err := Link(client, spiceproto.LinkMess{Common: Common()}, password); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("link with a closed connection: %v", err)
	}
}
