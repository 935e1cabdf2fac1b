package session

import (
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// A client gets fewer messages than the server counts, once some were replaced:
// its own ACKs then come too late, or never, to give the server its last credits.
// However many messages the guest has to say before it comes to rest, all of them
// arrive.
func TestRestAfterReplacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 20_000
		r := cell{link: path(80, 10), window: 40}.start(t, pacer.Adaptive)
		r.Advance(time.Second)
		id := uint64(1 << 20)
		draw := func(left int32, size int, image spiceproto.ImageType) {
			id++
			box := spiceproto.Rect{Left: left, Right: left + 4, Top: 200, Bottom: 700}
			r.Server.Queue(spicetest.Item{Draw: spicetest.Draw{Box: box, ID: id, Size: size, Type: image}})
		}
		for range 500 { // of which most are replaced
			draw(0, size, spiceproto.ImageLZRGB)
			r.Advance(5 * time.Millisecond)
		}
		for n := 90; n < 130; n++ { // of which none can be
			for i := range int32(40) {
				draw(100+4*i, 200, spiceproto.ImageGLZRGB)
			}
			for range n {
				r.Server.Queue(spicetest.Message(spiceproto.MsgDisplayStreamData, make([]byte, size)))
			}
			r.Advance(time.Duration(n)*20*time.Millisecond + 5*time.Second)
			r.Server.Inspect(func(s *spicetest.Sender, _ *spicetest.Desktop) {
				if !s.Idle() {
					t.Fatalf("%d messages wait in the server after %d were queued; it waits for an ACK: %v", s.PipeLen(), n, s.Waiting())
				}
			})
		}
	})
}
