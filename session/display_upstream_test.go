package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// pacedModes are those in which the proxy has a say about ACKs.
var pacedModes = []pacer.Mode{pacer.Withhold, pacer.Adaptive}

// serve plays the hypervisor with a model of spice-server, until the test ends.
func (r *relayed) serve(cfg spicetest.ServerConfig) *spicetest.Server {
	s := spicetest.NewServer(cfg)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(ctx, r.hypervisor.Conn)
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

// play plays the client with a model of spice-gtk until its connection ends;
// answer has the last word on what it sends.
func (r *relayed) play(answer func(reply []byte) []byte) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var c spicetest.Client
		r.client.Write(spiceproto.DisplayInit{}.Append(nil))
		buf := make([]byte, 16<<10)
		for {
			n, err := r.client.Read(buf)
			if err != nil {
				return
			}
			reply, err := c.Receive(time.Now(), buf[:n])
			if err != nil {
				r.t.Error(err)
				return
			}
			r.client.Write(answer(reply))
		}
	}()
	r.t.Cleanup(func() {
		r.client.Close()
		<-done
	})
}

// count returns how many messages of a client's stream have the opcode.
func count(stream []byte, op uint16) (n int) {
	for _, m := range messages(stream) {
		if h, _ := spiceproto.ParseHeader(m); h.Type == op {
			n++
		}
	}
	return n
}

// collect reads all that comes until the end of the relay; the function it
// returns waits for that.
func (e *farEnd) collect() func() []byte {
	var got []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, _ = io.ReadAll(e)
	}()
	return func() []byte {
		<-done
		return got
	}
}

// A client that writes byte by byte, or one that is inside a large message for
// long, gets no ACK of the proxy's into its messages.
func TestAcksStayOutsideMessages(t *testing.T) {
	for _, mode := range pacedModes {
		for name, stream := range map[string][]byte{
			"byte by byte":  slices.Concat(slices.Repeat([][]byte{opaque(spiceproto.MsgcPong, 12), opaque(250, 0), opaque(251, 300)}, 20)...),
			"large message": slices.Concat(opaque(spiceproto.MsgcPong, 12), opaque(spiceproto.MsgcMigrateData, 20_000)),
			"full headers":  slices.Concat(slices.Repeat([][]byte{opaque(spiceproto.MsgcPong, 12), opaque(251, 300)}, 20)...),
		} {
			t.Run(mode.String()+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := startRelay(t, relayOptions{mode: mode, full: name == "full headers"})
					received := r.hypervisor.collect()
					go func() {
						r.hypervisor.send(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
						for range 1000 {
							r.hypervisor.send(opaque(250, 10))
							time.Sleep(10 * time.Millisecond)
						}
					}()
					go io.Copy(io.Discard, r.client)
					time.Sleep(time.Millisecond)
					r.client.send(spiceproto.AckSync{Generation: 1}.Append(nil), slices.Repeat(spiceproto.AppendAck(nil), 100))
					for b := range slices.Chunk(stream, max(len(stream)/5000, 1)) {
						r.client.send(b)
						time.Sleep(time.Millisecond)
					}
					time.Sleep(time.Minute)
					r.client.Close()
					r.wantEnd(nil)
					got := received()
					wantBytes(t, withoutAcks(got), stream)
					if n := count(got, spiceproto.MsgcAck); n != 50 {
						t.Errorf("%d ACKs for 1001 messages, want 50", n)
					}
				})
			})
		}
	}
}

// The hypervisor gets one ACK_SYNC for each SET_ACK, before any ACK; even when
// the SET_ACK comes while the client is inside a message.
func TestOneAckSyncForEachSetAck(t *testing.T) {
	for _, mode := range pacedModes {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode})
			r.play(func(reply []byte) []byte { return reply })
			received := r.hypervisor.collect()
			for generation := range uint32(3) {
				r.hypervisor.send(spiceproto.SetAck{Generation: generation + 1, Window: 20}.Append(nil))
				for range 100 {
					r.hypervisor.send(opaque(250, 10))
				}
				time.Sleep(time.Second)
			}
			r.hypervisor.Conn.(interface{ CloseWrite() error }).CloseWrite()
			r.wantEnd(nil)
			var sequence []string
			for _, m := range messages(received()) {
				switch h, body := parse(m); h.Type {
				case spiceproto.MsgcAckSync:
					s, err := spiceproto.ParseAckSync(body)
					if err != nil {
						t.Fatal(err)
					}
					sequence = append(sequence, fmt.Sprint("sync ", s.Generation))
				case spiceproto.MsgcAck:
					sequence = append(sequence, "ack")
				}
			}
			acks := slices.Repeat([]string{"ack"}, 5)
			want := slices.Concat([]string{"sync 1"}, acks, []string{"sync 2"}, acks, []string{"sync 3"}, acks)
			if !slices.Equal(sequence, want) {
				t.Errorf("%v: hypervisor got %v, want %v", mode, sequence, want)
			}
		})
	}
}

func parse(message []byte) (spiceproto.Header, []byte) {
	h, _ := spiceproto.ParseHeader(message)
	return h, message[spiceproto.MiniHeaderSize:]
}

// While the client is inside a message, its SET_ACK waits for an answer, which
// is that of the generation then.
func TestSetAckInsideAClientMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{mode: pacer.Adaptive})
		go io.Copy(io.Discard, r.client)
		big := opaque(spiceproto.MsgcMigrateData, 1000)
		r.client.send(big[:500])
		r.hypervisor.want(big[:500])
		r.hypervisor.send(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
		for range 40 {
			r.hypervisor.send(opaque(250, 10))
		}
		r.hypervisor.wantNothing(time.Second)
		answer := slices.Concat(big[500:], spiceproto.AckSync{Generation: 1}.Append(nil), spiceproto.AppendAck(nil), spiceproto.AppendAck(nil))
		r.client.send(answer)
		r.hypervisor.want(answer)
		r.hypervisor.wantNothing(time.Second)
	})
}

// ACKs of one generation that could not be sent in time are not sent in the
// next: there they are early, and the picture freezes for good.
func TestNoAckOutlivesItsGeneration(t *testing.T) {
	for _, mode := range pacedModes {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode})
			sync, ack := spiceproto.AckSync{Generation: 1}.Append(nil), spiceproto.AppendAck(nil)
			read := func(m []byte) { r.hypervisor.send(m); r.client.want(m) }
			read(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
			r.client.send(sync)
			r.hypervisor.want(sync)
			big := opaque(spiceproto.MsgcMigrateData, 1000)
			r.client.send(slices.Repeat(ack, 2), big[:500])
			r.hypervisor.want(big[:500])
			for range 40 {
				read(opaque(250, 10))
			}
			read(spiceproto.SetAck{Generation: 2, Window: 20}.Append(nil))
			r.client.send(big[500:], spiceproto.AckSync{Generation: 2}.Append(nil))
			r.hypervisor.want(slices.Concat(big[500:], spiceproto.AckSync{Generation: 2}.Append(nil)))
			r.hypervisor.wantNothing(time.Second)
		})
	}
}

// SET_ACKs that cannot be answered, because the client is inside a message, do
// not pile up.
func TestFloodOfSetAcks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{mode: pacer.Adaptive})
		go io.Copy(io.Discard, r.client)
		part := opaque(spiceproto.MsgcMigrateData, 1000)[:500]
		r.client.send(part)
		r.hypervisor.want(part)
		for generation := range uint32(maxSyncs) {
			r.hypervisor.send(spiceproto.SetAck{Generation: generation + 1, Window: 20}.Append(nil))
		}
		r.wantRunning()
		r.hypervisor.send(spiceproto.SetAck{Generation: maxSyncs + 1, Window: 20}.Append(nil))
		if err := r.result(); err == nil || !strings.Contains(err.Error(), "SET_ACK") {
			t.Errorf("relay ended with %v", err)
		}
	})
}

// In withhold mode no ACK goes that the client has not sent.
func TestWithholdSendsOnlyTheClientsAcks(t *testing.T) {
	for _, acks := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: pacer.Withhold})
			go io.Copy(io.Discard, r.client)
			received := r.hypervisor.collect()
			r.hypervisor.send(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil))
			r.client.send(spiceproto.AckSync{Generation: 1}.Append(nil))
			for range 200 {
				r.hypervisor.send(opaque(250, 10))
			}
			for range acks {
				time.Sleep(time.Second)
				r.client.send(spiceproto.AppendAck(nil))
			}
			time.Sleep(time.Minute)
			r.client.Close()
			r.wantEnd(nil)
			if n := count(received(), spiceproto.MsgcAck); n != acks {
				t.Errorf("%d ACKs, the client sent %d", n, acks)
			}
		})
	}
}

// A client that never acknowledges stops the server after as many messages as
// it would without a proxy, and shows in the log.
func TestClientThatNeverAcks(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = fast
		r := startRelay(t, o)
		r.play(func(reply []byte) []byte {
			return reply[:len(reply)-len(spiceproto.AppendAck(nil))*count(reply, spiceproto.MsgcAck)]
		})
		s := r.serve(spicetest.ServerConfig{Columns: spicetest.Busy(), FPS: 30})
		time.Sleep(30 * time.Second)
		begun := begunBy(s)
		time.Sleep(30 * time.Second)
		if now := begunBy(s); now != begun {
			t.Errorf("the server goes on: %d messages, then %d", begun, now)
		}
		if most := uint64(2*20 + 1); o.mode != pacer.Adaptive && begun != most {
			t.Errorf("the server stopped after %d messages, want %d", begun, most)
		}
		r.wantLogged(silentClient, 1)
	})
}

func begunBy(s *spicetest.Server) (n uint64) {
	s.Inspect(func(sender *spicetest.Sender, _ *spicetest.Desktop) { n = sender.Stats.Begun })
	return n
}

// Surplus ACKs, which would freeze the picture, are kept back and logged once;
// the client is served on.
func TestSurplusAcksAreKeptBack(t *testing.T) {
	for _, mode := range pacedModes {
		synctest.Test(t, func(t *testing.T) {
			r := startRelay(t, relayOptions{mode: mode, clientLink: fast})
			r.play(func(reply []byte) []byte {
				return slices.Concat(reply, slices.Repeat(spiceproto.AppendAck(nil), 3*count(reply, spiceproto.MsgcAck)))
			})
			s := r.serve(spicetest.ServerConfig{Columns: spicetest.Busy(), FPS: 30})
			time.Sleep(10 * time.Second)
			s.Inspect(func(sender *spicetest.Sender, _ *spicetest.Desktop) {
				if sender.Wrapped() || sender.Stats.Begun < 1000 {
					t.Errorf("%v: wrapped %v after %d messages", mode, sender.Wrapped(), sender.Stats.Begun)
				}
			})
			r.wantLogged(surplusClient, 1)
		})
	}
}

// A hypervisor that does not read holds up the client's messages to it, and
// nothing else, however full its socket is.
func TestHypervisorThatDoesNotRead(t *testing.T) {
	full := spicetest.LinkConfig{SendBuffer: 3000, ReceiveBuffer: 2000}
	for _, mode := range pacer.Modes() {
		for _, n := range []int{4990, 4994, 5000, 100_000} {
			synctest.Test(t, func(t *testing.T) {
				r := startRelay(t, relayOptions{mode: mode, serverLink: full})
				upstream := opaque(250, n-spiceproto.MiniHeaderSize)
				go r.client.Write(upstream)
				synctest.Wait()
				var down []byte
				for generation := range uint32(3) {
					down = spiceproto.SetAck{Generation: generation + 1, Window: 20}.Append(down)
					down = append(down, slices.Concat(slices.Repeat([][]byte{opaque(250, 1000)}, 100)...)...)
				}
				go r.hypervisor.Write(down)
				r.client.want(down)
				r.hypervisor.want(upstream)
			})
		}
	}
}
