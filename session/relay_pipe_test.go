package session

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"spicepacer/spiceproto"
)

// pieces cuts b at random into pieces, most of them small.
func pieces(t *rapid.T, b []byte) [][]byte {
	var cut [][]byte
	sizes := rapid.OneOf(rapid.Just(1), rapid.IntRange(1, 10), rapid.IntRange(1, 5000), rapid.IntRange(1, 200_000))
	for len(b) > 0 {
		n := min(sizes.Draw(t, "piece"), len(b))
		cut, b = append(cut, b[:n]), b[n:]
	}
	return cut
}

// noise returns n random bytes, which no parser makes sense of.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	src := rand.New(rand.NewPCG(seed, 0))
	for i := range b {
		b[i] = byte(src.Uint32())
	}
	return b
}

// A pipe changes nothing, whatever the bytes, the pieces and the channel.
func TestPipeCarriesEveryByte(t *testing.T) {
	down, up := noise(1, 300_000), noise(2, 300_000)
	for _, c := range []relayOptions{
		{kind: spiceproto.ChannelMain},
		{kind: spiceproto.ChannelDisplay},
		{kind: spiceproto.ChannelInputs, clientTLS: true},
		{kind: spiceproto.ChannelCursor, clientTLS: true, serverTLS: true},
	} {
		t.Run(fmt.Sprintf("%v tls %v %v", c.kind, c.clientTLS, c.serverTLS), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n := rapid.IntRange(1, len(down)).Draw(rt, "bytes")
				toClient, toServer := pieces(rt, down[:n]), pieces(rt, up[:n])
				synctest.Test(t, func(t *testing.T) {
					r := startRelay(t, c)
					go r.hypervisor.send(toClient...)
					go r.client.send(toServer...)
					r.client.want(down[:n])
					r.hypervisor.want(up[:n])
					r.hypervisor.Close()
					r.client.wantRest(nil)
					r.wantClose()
					wantCount(t, "to client", r.stats.BytesToClient.Load(), n)
					wantCount(t, "to server", r.stats.BytesToServer.Load(), n)
				})
			})
		})
	}
}

func wantCount(t *testing.T, what string, got uint64, want int) {
	t.Helper()
	if got != uint64(want) {
		t.Errorf("%d bytes %s counted, want %d", got, what, want)
	}
}

// The session id is known before the client can act on MAIN_INIT, at any
// chunking, and only from that message of that channel.
func TestSessionIDIsLearned(t *testing.T) {
	init := spiceproto.MainInit{SessionID: 0x1234, DisplayChannelsHint: 1}.Append(nil)
	before := opaque(250, 5)
	stream := slices.Concat(before, init, opaque(251, 3000))
	for _, c := range []struct {
		kind spiceproto.ChannelType
		full bool
		want []uint32
	}{
		{spiceproto.ChannelMain, false, []uint32{0x1234}},
		{spiceproto.ChannelMain, true, []uint32{0x1234}},
		{spiceproto.ChannelInputs, false, nil},
	} {
		end := len(before) + len(init) // of MAIN_INIT, for the client
		if c.full {
			end += 2 * (spiceproto.FullHeaderSize - spiceproto.MiniHeaderSize)
		}
		for _, size := range []int{1, 7, len(stream)} {
			synctest.Test(t, func(t *testing.T) {
				var learned []uint32
				var r *relayed
				r = startRelay(t, relayOptions{kind: c.kind, full: c.full, onSession: func(id uint32) {
					learned = append(learned, id)
					if sent := int(r.stats.BytesToClient.Load()); sent >= end {
						t.Errorf("learned when the client had %d bytes", sent)
					}
				}})
				for piece := range slices.Chunk(stream, size) {
					r.hypervisor.send(piece)
					if !c.full { // else an incomplete header waits in the test's own end
						r.client.want(piece)
					}
				}
				if c.full {
					r.client.want(stream)
				}
				if !slices.Equal(learned, c.want) {
					t.Errorf("%v in pieces of %d: learned sessions %v, want %v", c.kind, size, learned, c.want)
				}
			})
		}
	}
}

// A busy direction takes a large buffer from the pool, and gives it back.
func TestReadBufferGrowsAndShrinks(t *testing.T) {
	for _, idle := range []int{idleBuffer, pacedBuffer} {
		b := readBuffer{idle: idle}
		if got := len(b.bytes()); got != idle {
			t.Errorf("%d bytes at first, want %d", got, idle)
		}
		b.read(idle - 1)
		if got := len(b.bytes()); got != idle {
			t.Errorf("%d bytes while little comes, want %d", got, idle)
		}
		b.read(idle)
		if got := len(b.bytes()); got != busyBuffer {
			t.Errorf("%d bytes after a read that filled the buffer", got)
		}
		for range calmReads - 1 {
			b.read(10)
		}
		b.read(calmSize)
		for range calmReads - 1 {
			b.read(calmSize - 1)
		}
		if b.large == nil {
			t.Error("large buffer given back although a large read came")
		}
		b.read(10)
		if b.large != nil {
			t.Errorf("large buffer kept after %d small reads", calmReads)
		}
	}
}
