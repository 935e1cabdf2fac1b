package session

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// slowly is a link that carries 1 Mbit/s.
var slowly = spicetest.LinkConfig{Profile: spicetest.Profile{RTT: 20 * time.Millisecond, Rate: 1e6}}

// eachMode runs f for every mode, over plaintext and over TLS.
func eachMode(t *testing.T, f func(t *testing.T, o relayOptions)) {
	for _, mode := range pacer.Modes() {
		for _, encrypt := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v tls %v", mode, encrypt), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f(t, relayOptions{mode: mode, clientTLS: encrypt, serverTLS: encrypt})
				})
			})
		}
	}
}

// What the hypervisor sent before it closed arrives, followed by the end of the
// stream, which TLS is told of.
func TestEndOfHypervisorIsFlushed(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = slowly
		r := startRelay(t, o)
		m := opaque(250, 150_000) // 1.2 s
		r.hypervisor.send(m)
		r.hypervisor.Close()
		r.client.wantRest(m)
		r.client.Close()
		r.wantEnd(nil)
	})
}

func TestEndOfClientIsFlushed(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.serverLink = slowly
		r := startRelay(t, o)
		m := opaque(250, 150_000)
		r.client.send(m)
		r.client.Close()
		r.hypervisor.wantRest(m)
		r.hypervisor.Close()
		r.wantEnd(nil)
	})
}

// The cause of the context's end is the relay's, and both sides are told in
// good order.
func TestEndOfContext(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = slowly
		r := startRelay(t, o)
		m := opaque(250, 100_000)
		r.hypervisor.send(m)
		synctest.Wait()
		shutdown := errors.New("shutdown")
		r.cancel(shutdown)
		r.client.wantRest(m)
		r.hypervisor.wantRest(nil)
		r.client.Close()
		r.hypervisor.Close()
		r.wantEnd(shutdown)
	})
}

// Whatever the peers do not read, the end takes no longer than flushTimeout.
func TestEndIsBounded(t *testing.T) {
	full := spicetest.LinkConfig{SendBuffer: 20_000, ReceiveBuffer: 10_000}
	for name, end := range map[string]func(*relayed){
		"client closes": func(r *relayed) { r.client.Close() },
		"context ends":  func(r *relayed) { r.cancel(errors.New("stop")) },
	} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, o relayOptions) {
				o.clientLink, o.serverLink = full, full
				r := startRelay(t, o)
				go r.hypervisor.Write(opaque(250, 300_000))
				go r.client.Write(opaque(250, 300_000))
				time.Sleep(time.Second)
				r.wantEndWithin(flushTimeout, end)
			})
		})
	}
	t.Run("hypervisor closes", func(t *testing.T) {
		eachMode(t, func(t *testing.T, o relayOptions) {
			o.clientLink = full
			r := startRelay(t, o)
			r.hypervisor.send(opaque(250, 29_000))
			time.Sleep(time.Second)
			r.wantEndWithin(flushTimeout, func(r *relayed) { r.hypervisor.Close() })
		})
	})
}

// A session that is terminated is gone within a second, however much is held
// for a client that reads nothing.
func TestTerminationIsQuick(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = spicetest.LinkConfig{SendBuffer: 20_000, ReceiveBuffer: 10_000}
		r := startRelay(t, o)
		go r.hypervisor.Write(opaque(250, 300_000))
		time.Sleep(time.Second)
		go func() { // a server that closes when its client has
			io.Copy(io.Discard, r.hypervisor)
			r.hypervisor.Close()
		}()
		r.wantEndWithin(time.Second, func(r *relayed) { r.cancel(errTerminated) })
	})
}

// A client of a terminated session is gone within a second also when what it sent
// last waits for a hypervisor that does not read.
func TestTerminationDoesNotWaitForTheHypervisor(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.serverLink = spicetest.LinkConfig{SendBuffer: 20_000, ReceiveBuffer: 10_000}
		r := startRelay(t, o)
		go r.client.Write(opaque(250, 300_000))
		time.Sleep(time.Second)
		r.wantRunning()
		start := time.Now()
		r.cancel(errTerminated)
		io.Copy(io.Discard, r.client)
		if d := time.Since(start); d > time.Second {
			t.Errorf("the client was closed after %v", d)
		}
		r.client.Close()
		r.wantEnd(errTerminated)
		if d := time.Since(start); d > flushTimeout {
			t.Errorf("the end took %v", d)
		}
	})
}

// wantEndWithin brings the relay to its end, which must not take longer than d.
func (r *relayed) wantEndWithin(d time.Duration, end func(*relayed)) {
	r.t.Helper()
	r.wantRunning()
	start := time.Now()
	end(r)
	r.result()
	if got := time.Since(start); got > d {
		r.t.Errorf("the end took %v", got)
	}
}

// A TLS connection announces its end; a peer that reads nothing at all must not
// hold that up.
func TestCloseNotifyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := issue(t, nil, "peer")
		near, far := net.Pipe() // takes no byte that is not read
		server, peer := net.Pipe()
		secure := tls.Server(near, &tls.Config{Certificates: []tls.Certificate{own.pair}, SessionTicketsDisabled: true})
		go tls.Client(far, &tls.Config{RootCAs: own.pool, ServerName: "peer"}).Handshake()
		if err := secure.Handshake(); err != nil {
			t.Fatal(err)
		}
		ch := &channel{
			kind: spiceproto.ChannelInputs, log: zap.NewNop(), stats: new(Stats),
			client: leg{conn: secure, tls: true}, server: leg{conn: server},
		}
		peer.Close()
		start := time.Now()
		if err := relay(t.Context(), ch, relayConfig{}); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d > flushTimeout {
			t.Errorf("the end took %v", d)
		}
	})
}

// The first cause counts, however the directions end after it.
func TestEndTellsTheFirstCause(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		r := startRelay(t, o)
		m := opaque(250, 10)
		r.hypervisor.send(m)
		r.client.want(m)
		r.hypervisor.Conn.(interface{ CloseWrite() error }).CloseWrite()
		r.client.wantRest(nil)
		r.client.Close()
		r.wantEnd(nil)
	})
}

// A failing connection shows which leg failed, at what.
func TestEndNamesTheLeg(t *testing.T) {
	for _, mode := range pacer.Modes() {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode, clientTLS: true})
			r.client.Conn.(*tls.Conn).NetConn().(tearing).Conn.Write([]byte("this is no TLS record"))
			err := r.result()
			var failed *legError
			if !errors.As(err, &failed) || failed.leg != "client" || failed.verb != "read from" {
				t.Errorf("%v: relay ended with %v, want a failed read from the client", mode, err)
			}
		})
	}
}

// On real sockets, a connection that is closed while its peer still writes is
// reset, and the reset destroys what is on its way to the peer.
func TestEndDoesNotResetTheClient(t *testing.T) {
	for _, encrypt := range []bool{false, true} {
		t.Run(fmt.Sprint("tls ", encrypt), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			l := startLoopback(t, pacer.Passthrough, encrypt, nil)
			go func() {
				l.hypervisor.Write(l.window)
				l.hypervisor.(*net.TCPConn).CloseWrite()
			}()
			<-l.drained // the relay is closing its legs
			if _, err := l.client.Write(opaque(250, 1000)); err != nil {
				t.Error(err)
			}
			got, err := io.ReadAll(l.client)
			if err != nil {
				t.Errorf("%d bytes, then %v", len(got), err)
			}
			wantBytes(t, got, l.window)
			if err := l.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// tcpPair returns both ends of a connection on loopback, open until the test
// ends.
func tcpPair(t testing.TB) (dialled, accepted *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}
