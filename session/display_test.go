package session

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// displayMessage draws a message of a display channel: one that is understood,
// one that lies about itself, or one of any size.
func displayMessage(t *rapid.T) []byte {
	op := rapid.SampledFrom([]uint16{
		spiceproto.MsgSetAck, spiceproto.MsgPing, spiceproto.MsgDisplayDrawCopy, spiceproto.MsgDisplaySurfaceCreate, 250,
	}).Draw(t, "op")
	size := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 5000), rapid.IntRange(0, 300_000)).Draw(t, "size")
	if rapid.Bool().Draw(t, "malformed") {
		return opaque(op, size)
	}
	side := int32(rapid.IntRange(1, 2000).Draw(t, "side"))
	switch op {
	case spiceproto.MsgSetAck:
		return spiceproto.SetAck{
			Generation: rapid.Uint32Range(1, 3).Draw(t, "generation"), Window: rapid.Uint32Range(0, 40).Draw(t, "window"),
		}.Append(nil)
	case spiceproto.MsgDisplaySurfaceCreate:
		return spiceproto.SurfaceCreate{Width: uint32(side), Height: uint32(side), Format: 32}.Append(nil)
	case spiceproto.MsgDisplayDrawCopy:
		return spicetest.Draw{Box: spiceproto.Rect{Bottom: side, Right: side}, Size: size}.Append(nil)
	}
	return opaque(op, size)
}

// clientMessage draws a message of a client's display channel. It may be an ACK
// that nothing asks for.
func clientMessage(t *rapid.T) []byte {
	op := rapid.SampledFrom([]uint16{
		spiceproto.MsgcAck, spiceproto.MsgcAckSync, spiceproto.MsgcPong, spiceproto.MsgcMigrateData, 250,
	}).Draw(t, "op")
	switch op {
	case spiceproto.MsgcAck:
		return spiceproto.AppendAck(nil)
	case spiceproto.MsgcAckSync:
		return spiceproto.AckSync{Generation: rapid.Uint32Range(1, 3).Draw(t, "generation")}.Append(nil)
	}
	return opaque(op, rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, 100_000)).Draw(t, "size"))
}

// Without reordering the client gets what the hypervisor sent, and the hypervisor gets
// what the client sent but for ACKs, in any mode, whatever it is, however it
// comes, however little the queue may hold.
func TestDisplayCarriesEveryByte(t *testing.T) {
	for _, mode := range pacer.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				down := bytes.Join(rapid.SliceOfN(rapid.Custom(displayMessage), 1, 60).Draw(rt, "down"), nil)
				up := bytes.Join(rapid.SliceOfN(rapid.Custom(clientMessage), 1, 30).Draw(rt, "up"), nil)
				toClient, toServer := pieces(rt, down), pieces(rt, up)
				o := relayOptions{mode: mode, full: rapid.Bool().Draw(rt, "full headers")}
				o.clientLink.RTT = time.Duration(rapid.IntRange(0, 100).Draw(rt, "rtt")) * time.Millisecond
				o.clientLink.Rate = rapid.SampledFrom([]float64{0, 1e6, 100e6}).Draw(rt, "rate")
				bound := rapid.SampledFrom([]int{64 << 10, 4 << 20}).Draw(rt, "bound")
				o.pacing = func(p *Pacing) { p.QueueBytes, p.Reorder = bound, false }
				synctest.Test(t, func(t *testing.T) {
					r := startRelay(t, o)
					go func() {
						r.client.send(toServer...)
						time.Sleep(time.Minute) // everything is through
						r.client.Close()
					}()
					go r.hypervisor.send(toClient...)
					var got []byte
					drained := make(chan bool)
					go func() {
						got, _ = io.ReadAll(r.hypervisor)
						close(drained)
					}()
					r.client.want(down)
					r.wantEnd(nil)
					r.hypervisor.Close()
					<-drained
					if mode != pacer.Passthrough {
						got, up = withoutAcks(got), withoutAcks(up)
					}
					wantBytes(t, got, up)
				})
			})
		})
	}
}

// Whatever the segments of the client's path, and whatever part of one a TLS
// record takes.
func TestAnySegmentSize(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		for _, o.mss = range []int{-1, 1, 88, 536, 1448, 9000, 65_483} {
			o.clientLink = slowly
			r := startRelay(t, o)
			m := opaque(250, 200_000)
			r.hypervisor.send(m)
			r.client.want(m)
		}
	})
}

// However much the hypervisor sends to a client that does not read, and however
// small its messages, the proxy takes no more than it may hold.
func TestQueueIsBounded(t *testing.T) {
	const bound = 1 << 20
	for _, mode := range pacedModes {
		for _, size := range []int{0, 200, 40_000, 100 << 20} {
			t.Run(fmt.Sprintf("%v messages of %d bytes", mode, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					small := spicetest.LinkConfig{SendBuffer: 10_000, ReceiveBuffer: 10_000}
					r := startRelay(t, relayOptions{
						mode: mode, clientLink: small, serverLink: small,
						pacing: func(p *Pacing) { p.QueueBytes = bound },
					})
					taken := 0
					done := make(chan struct{})
					go func() {
						defer close(done)
						m := opaque(250, min(size, 40_000))
						copy(m, spiceproto.Header{Type: 250, Size: uint32(size)}.Append(nil))
						for {
							n, err := r.hypervisor.Write(m)
							taken += n
							if err != nil {
								return
							}
						}
					}()
					time.Sleep(20 * time.Second) // held by no valve but the bound
					r.hypervisor.Close()
					<-done
					most := bound + busyBuffer + 40_000 // and the sockets
					if size < 1000 {
						most = bound*(size+6)/256 + busyBuffer + 40_000 // each in a block of its own
					}
					if taken > most || taken < bound/100 {
						t.Errorf("%d bytes taken, want at most %d", taken, most)
					}
				})
			})
		}
	}
}

// withoutAcks returns a client's stream without its ACKs and ACK_SYNCs.
func withoutAcks(stream []byte) []byte {
	return slices.Concat(slices.DeleteFunc(messages(stream), func(m []byte) bool {
		h, _ := spiceproto.ParseHeader(m)
		return h.Type == spiceproto.MsgcAck || h.Type == spiceproto.MsgcAckSync
	})...)
}

// messages cuts a stream into its messages.
func messages(stream []byte) [][]byte {
	var all [][]byte
	for len(stream) > 0 {
		h, ok := spiceproto.ParseHeader(stream)
		if !ok || int(h.Size) > len(stream)-spiceproto.MiniHeaderSize {
			panic(fmt.Sprintf("stream ends inside a message: % x", stream[:min(len(stream), 20)]))
		}
		n := spiceproto.MiniHeaderSize + int(h.Size)
		all, stream = append(all, stream[:n]), stream[n:]
	}
	return all
}
