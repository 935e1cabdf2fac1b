package session

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"spicepacer/spiceproto"
)

// A peer that closes in the middle of a message did not close in good order,
// whatever it told TLS.
func TestEndInsideAMessage(t *testing.T) {
	const body = 1000
	message := opaque(250, body)
	for _, tc := range []struct {
		name string
		sent int
		want TruncatedError
	}{
		{"inside the header", 4, TruncatedError{Missing: 2}},
		{"behind the header", spiceproto.MiniHeaderSize, TruncatedError{HeaderKnown: true, Type: 250, Missing: body}},
		{"inside the body", len(message) - 7, TruncatedError{HeaderKnown: true, Type: 250, Missing: 7}},
	} {
		for _, side := range []string{"client", "hypervisor"} {
			t.Run(tc.name+" of the "+side, func(t *testing.T) {
				eachMode(t, func(t *testing.T, o relayOptions) {
					r := startRelay(t, o)
					from, to, direction := r.client, r.hypervisor, spiceproto.ClientToServer
					if side == "hypervisor" {
						from, to, direction = r.hypervisor, r.client, spiceproto.ServerToClient
					}
					from.send(message, message[:tc.sent])
					from.Close()
					io.Copy(io.Discard, to)
					to.Close()
					err := r.result()
					truncated, ok := errors.AsType[*TruncatedError](err)
					if !ok {
						t.Fatalf("relay ended with %v, want a truncated message", err)
					}
					want := tc.want
					want.Side, want.Peer, want.err = side, truncated.Peer, truncated.err
					if *truncated != want || want.Peer == "" {
						t.Errorf("%+v, want %+v", *truncated, want)
					}
					for d := range r.stats.Truncated {
						if got := r.stats.Truncated[d].Load(); (got == 1) != (spiceproto.Direction(d) == direction) {
							t.Errorf("%v: %d truncated messages counted", spiceproto.Direction(d), got)
						}
					}
				})
			})
		}
	}
}

// A full header is longer, and so is what may be missing of it.
func TestEndInsideAFullHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{kind: spiceproto.ChannelMain, full: true})
		if _, err := r.hypervisor.Conn.(*widened).Conn.Write(make([]byte, spiceproto.FullHeaderSize-5)); err != nil {
			t.Fatal(err)
		}
		r.hypervisor.Close()
		r.client.wantRest(nil)
		r.client.Close()
		err := r.result()
		if truncated, ok := errors.AsType[*TruncatedError](err); !ok || truncated.Missing != 5 {
			t.Errorf("relay ended with %v, want 5 bytes of a header missing", err)
		}
	})
}

// Who closes a channel between two messages is told, and is no reason to warn.
func TestCloserIsLogged(t *testing.T) {
	for _, closer := range []string{"client", "hypervisor"} {
		h := newHypervisor(t)
		if closer == "hypervisor" {
			h.then = func(c net.Conn) { c.Write(opaque(250, 10)) }
		}
		p := startProxy(t, h.target(), nil)
		c := p.client()
		c.open(linkMess(spiceproto.ChannelInputs))
		if closer == "client" {
			c.wantEcho()
		} else {
			c.wantEnd(opaque(250, 10))
		}
		c.Close()
		await(t, p.ended, "end")
		p.wantLog(zap.InfoLevel, "relay ended", "closed_by:"+closer)
	}
}

// The last line of a channel names the side, the peer and how much was missing.
func TestTruncatedMessageIsLogged(t *testing.T) {
	p := startProxy(t, newHypervisor(t).target(), nil)
	c := p.client()
	c.open(linkMess(spiceproto.ChannelInputs))
	c.wantEcho()
	c.send(opaque(250, 100)[:30])
	client := c.LocalAddr().String()
	c.Close()
	await(t, p.ended, "end")
	p.wantLog(zap.WarnLevel, "relay ended", "truncated_by:client", "truncated_peer:"+client, "missing_bytes:76",
		"client "+client+" closed in the middle of message 250: 76 of its bytes are missing")
}

// A hypervisor that dies is told apart from a client that does.
func TestTruncatedMessageOfTheHypervisorIsLogged(t *testing.T) {
	h := newHypervisor(t)
	h.then = func(c net.Conn) { c.Write(opaque(250, 100)[:4]) }
	target := h.target()
	p := startProxy(t, target, nil)
	c := p.client()
	c.open(linkMess(spiceproto.ChannelInputs))
	c.wantEnd(nil)
	c.Close()
	await(t, p.ended, "end")
	p.wantLog(zap.WarnLevel, "relay ended", "truncated_by:hypervisor", "missing_bytes:2",
		fmt.Sprintf("hypervisor 127.0.0.1:%d closed in the middle of a header: 2 of its bytes are missing", target.InsecurePort))
}
