package session

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

const (
	silentClient  = "client does not acknowledge messages; the hypervisor sends no more"
	surplusClient = "client acknowledges more messages than it was sent"
)

// TestAckWatch plays a server with window 20 that sends some messages, SET_ACK
// included, and a client that answers with ACKs.
func TestAckWatch(t *testing.T) {
	for _, c := range []struct {
		name            string
		kind            spiceproto.ChannelType
		messages, acks  int
		silent, surplus int // lines in the log
	}{
		{"no ACK", spiceproto.ChannelDisplay, 41, 0, 1, 0},
		{"no ACK on a cursor channel", spiceproto.ChannelCursor, 41, 0, 1, 0},
		{"no ACK, none asked for", spiceproto.ChannelMain, 41, 0, 0, 0},
		{"no ACK needed yet", spiceproto.ChannelDisplay, 40, 0, 0, 0},
		{"as spice-gtk acknowledges", spiceproto.ChannelDisplay, 41, 2, 0, 0},
		{"as spice-html5 does", spiceproto.ChannelDisplay, 40, 2, 0, 0},
		{"one too many", spiceproto.ChannelDisplay, 39, 2, 0, 1},
		{"many too many", spiceproto.ChannelDisplay, 39, 20, 0, 1},
		{"many too many on a cursor channel", spiceproto.ChannelCursor, 39, 20, 0, 1},
		{"many, none asked for", spiceproto.ChannelInputs, 39, 20, 0, 0},
	} {
		for _, mode := range pacer.Modes() {
			t.Run(fmt.Sprint(c.name, " ", mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := startRelay(t, relayOptions{kind: c.kind, mode: mode})
					go io.Copy(io.Discard, r.hypervisor)
					m := spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil)
					m = slices.Concat(m, slices.Concat(slices.Repeat([][]byte{opaque(250, 10)}, c.messages-1)...))
					r.hypervisor.send(m)
					r.client.want(m)
					r.client.send(slices.Repeat(spiceproto.AppendAck(nil), c.acks))
					time.Sleep(time.Hour)
					r.wantLogged(silentClient, c.silent)
					r.wantLogged(surplusClient, c.surplus)
				})
			})
		}
	}
}

// A client does not owe ACKs for messages that newer ones replaced, and does for
// those that came in their place.
func TestAckWatchOfReplacedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.WarnLevel)
		w := newAckWatch(&channel{kind: spiceproto.ChannelDisplay, log: zap.New(core)})
		defer w.stop()
		send := func(n int) {
			for range n {
				w.fromServer(spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy}, nil)
			}
		}
		wantLines := func(n int, when string) {
			t.Helper()
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := logs.FilterMessage(silentClient).Len(); got != n {
				t.Errorf("%s: %d lines in the log, want %d", when, got, n)
			}
		}
		w.fromServer(spiceproto.Header{Type: spiceproto.MsgSetAck}, spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil)[spiceproto.MiniHeaderSize:])
		send(60)
		for range 25 {
			w.replaced()
		}
		wantLines(0, "the client got 36 messages")
		w.filled(4)
		send(1)
		wantLines(1, "the client got 41 messages")
	})
}

// A client cannot acknowledge what is still under way to it.
func TestAckWatchWaitsForTheLink(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = slowly // the messages take 17 s
		r := startRelay(t, o)
		go io.Copy(io.Discard, r.hypervisor)
		go io.Copy(io.Discard, r.client)
		r.hypervisor.send(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
		for range 41 {
			r.hypervisor.send(opaque(250, 50_000))
		}
		time.Sleep(15 * time.Second)
		r.wantLogged(silentClient, 0)
		time.Sleep(time.Minute)
		r.wantLogged(silentClient, 1)
	})
}

// wantLogged expects a line to have been logged n times.
func (r *relayed) wantLogged(message string, n int) {
	r.t.Helper()
	synctest.Wait()
	if got := r.logs.FilterMessage(message).Len(); got != n {
		r.t.Errorf("%q was logged %d times, want %d", message, got, n)
	}
}
