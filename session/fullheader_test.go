package session

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// oldClients are the common capabilities of clients that lack some.
var oldClients = map[string]spiceproto.Caps{
	"no MINI_HEADER":    clientCaps.Without(spiceproto.CapMiniHeader),
	"no AUTH_SELECTION": clientCaps.Without(spiceproto.CapAuthSelection),
	"neither":           {1 << spiceproto.CapAuthSpice},
	"none at all":       nil,
}

// Every channel of an old client works: the hypervisor is told of its headers, the
// reply offers it no more than it has, and what is forwarded keeps its framing.
func TestOldClients(t *testing.T) {
	hv := newHypervisor(t)
	p := startProxy(t, hv.target(), nil)
	for name, common := range oldClients {
		for kind := spiceproto.ChannelMain; kind.Valid(); kind++ {
			t.Run(fmt.Sprintf("%s, %v", name, kind), func(t *testing.T) {
				c := p.client()
				defer c.Close()
				m := linkMess(kind)
				m.Common = common
				reply := c.link(m)
				for _, bit := range []int{spiceproto.CapAuthSelection, spiceproto.CapMiniHeader} {
					if reply.Common.Has(bit) != common.Has(bit) {
						t.Errorf("capability %d: offered %v, the client has it: %v", bit, reply.Common.Has(bit), common.Has(bit))
					}
				}
				c.send(ticketFor(t, reply, testToken))
				if r := c.result(); r != spiceproto.LinkOK {
					t.Fatalf("link result %v", r)
				}
				p.want(kind, Relayed)
				to := await(t, hv.linked, "link")
				want := common.With(spiceproto.CapAuthSelection).With(spiceproto.CapAuthSpice)
				if !equalCaps(to.link.Common, want) || to.password != testTicket {
					t.Errorf("hypervisor was told %x, want %x; password right: %v", to.link.Common, want, to.password == testTicket)
				}
				c.wantEchoes(!common.Has(spiceproto.CapMiniHeader))
			})
		}
	}
}

// wantEchoes expects the hypervisor to return messages unchanged.
func (c *peer) wantEchoes(full bool) {
	c.t.Helper()
	stream := slices.Concat(opaque(250, 4), opaque(251, 0), opaque(252, 300), opaque(253, 1))
	if full {
		stream = new(spiceproto.Serials).Append(nil, stream)
	}
	c.send(stream)
	wantBytes(c.t, c.read(len(stream)), stream)
}

// A hypervisor must be able to do what the client does.
func TestWhatBothEndsAgreeOn(t *testing.T) {
	const (
		selection = 1 << spiceproto.CapAuthSelection
		ticket    = 1 << spiceproto.CapAuthSpice
		sasl      = 1 << spiceproto.CapAuthSASL
		mini      = 1 << spiceproto.CapMiniHeader
	)
	for _, c := range []struct {
		client, hypervisor uint32
		result             Result
	}{
		{selection | ticket | mini, selection | ticket | mini, Relayed},
		{selection | ticket, selection | ticket | mini, Relayed},
		{selection | ticket, selection | ticket, Relayed},
		{0, 0, Relayed},
		{selection | ticket | mini, mini, Relayed},
		{mini, selection | ticket | mini, Relayed},
		{selection | ticket | mini, selection | ticket, BackendFailed},
		{mini, 0, BackendFailed},
		{selection | ticket | mini, selection | sasl | mini, BackendFailed},
		{0, selection | sasl | mini, BackendFailed},
	} {
		t.Run(fmt.Sprintf("client %04b, hypervisor %04b", c.client, c.hypervisor), func(t *testing.T) {
			hv := newHypervisor(t)
			hv.common = spiceproto.Caps{c.hypervisor}
			p := startProxy(t, hv.target(), nil)
			client := p.client()
			m := linkMess(spiceproto.ChannelDisplay)
			m.Common = spiceproto.Caps{c.client}
			client.send(ticketFor(t, client.link(m), testToken))
			if c.result == Relayed {
				if r := client.result(); r != spiceproto.LinkOK {
					t.Fatalf("link result %v; log:\n%s", r, p.log())
				}
				client.wantEchoes(c.client&mini == 0)
			} else {
				client.wantRefusal(spiceproto.LinkErrError)
				p.wantLog(zap.WarnLevel, "hypervisor connection failed", "lacks required SPICE common capabilities")
			}
			p.want(spiceproto.ChannelDisplay, c.result)
		})
	}
}

// The pacer works with full headers: the picture goes on and on, with every
// message, in order, in all modes, and the server's credits last.
func TestFullHeadersArePaced(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink, o.full = slowly, true
		r := startRelay(t, o)
		r.play(func(reply []byte) []byte { return reply })
		s := r.serve(spicetest.ServerConfig{Columns: spicetest.Busy(), FPS: 30})
		time.Sleep(30 * time.Second)
		begun := begunBy(s)
		time.Sleep(30 * time.Second)
		s.Inspect(func(sender *spicetest.Sender, _ *spicetest.Desktop) {
			if sender.Wrapped() || begun < 5*20 || sender.Stats.Begun < begun+5*20 {
				t.Errorf("wrapped %v after %d and %d messages", sender.Wrapped(), begun, sender.Stats.Begun)
			}
		})
		r.wantLogged(surplusClient, 0)
		r.wantRunning()
	})
}

// Sub-messages and serials pass as the hypervisor wrote them, and order is kept
// although the settings would allow another.
func TestSubMessagesPassUntouched(t *testing.T) {
	covered := spicetest.Draw{Box: spiceproto.Rect{Bottom: 64, Right: 64}, Size: 5000}.Append(nil)
	for _, mode := range pacer.Modes() {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode, clientLink: slowly, full: true})
			var down []byte
			for i := range uint64(100) {
				h, _ := spiceproto.ParseHeader(covered)
				full := spiceproto.FullHeader{Serial: 3*i + 7, Type: h.Type, Size: h.Size, SubList: uint32(i)}
				down = append(full.Append(down), covered[spiceproto.MiniHeaderSize:]...)
			}
			raw := farEnd{r.client.Conn.(*widened).Conn, t}
			go r.hypervisor.Conn.(*widened).Conn.Write(down)
			raw.want(down)
		})
	}
}

// Over TLS no record holds bytes of two messages, whatever their headers.
func TestFullHeaderRecordsHoldOneMessage(t *testing.T) {
	var down []byte
	for _, size := range []int{0, 1, 0, 500, 20_000, 3, 0} {
		down = append(down, opaque(250, size)...)
	}
	down = new(spiceproto.Serials).Append(nil, down)
	for _, mode := range pacer.Modes() {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode, clientTLS: true, full: true})
			r.hypervisor.Conn.(*widened).Conn.Write(down)
			records := r.client.Conn.(*widened).Conn // a tls.Conn reads one record at a time
			f := spiceproto.Framer{Full: true}
			buf := make([]byte, 1<<16)
			for left := len(down); left > 0; {
				n, err := records.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				left -= n
				for rest := buf[:n]; len(rest) > 0; {
					s := f.Next(rest)
					rest = rest[len(s.Bytes):]
					if s.End && len(rest) > 0 {
						t.Fatalf("%v: a record goes on for %d bytes behind the end of a message", mode, len(rest))
					}
				}
			}
		})
	}
}
