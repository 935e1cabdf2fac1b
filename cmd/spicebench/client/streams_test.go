package client

import (
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/spiceproto"
)

// TestRunReportsStreams follows spice-gtk's rule: a report every max_window frames,
// every timeout, or after three late frames in a row.
func TestRunReportsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeServer(t)
		cfg := s.config()
		cfg.Presses, cfg.Duration = 0, 10*time.Second
		done := start(t.Context(), cfg)
		main, display, _ := s.begin() // multimedia time 1000
		frame := func(mediaTime uint32) {
			display.send(raw{spiceproto.MsgDisplayStreamData, words(3, mediaTime, 0)})
		}
		wantReport := func(what string, want ...uint32) {
			t.Helper()
			m := display.want("STREAM_REPORT")
			if len(m.body) != 32 {
				t.Fatalf("%s: report of %d bytes", what, len(m.body))
			}
			for i, w := range append([]uint32{3, 77}, append(want, 0xffffffff)...) {
				if m.u32(i) != w {
					t.Errorf("%s: field %d is %d, want %d", what, i, int32(m.u32(i)), int32(w))
				}
			}
		}
		minus := func(n int32) uint32 { return uint32(-n) }

		display.send(raw{spiceproto.MsgDisplayStreamCreate, streamCreate(3, keyBox)})
		frame(1000) // nobody asked for reports yet
		display.send(raw{spiceproto.MsgDisplayStreamActivateReport, words(3, 77, 5, 1000)})
		for n := range uint32(5) {
			frame(1100 + n)
		}
		wantReport("window", 1100, 1104, 5, 0, 104)

		frame(1200)
		time.Sleep(1100 * time.Millisecond)
		frame(2300) // 200 ms early
		wantReport("timeout", 1200, 2300, 2, 0, 200)

		frame(2099)
		frame(2098)
		frame(2150)
		frame(2097) // the one in time began the count anew
		display.wantNone()
		frame(2096)
		wantReport("window with drops", 2099, 2096, 5, 4, minus(4))
		frame(2000)
		frame(2001)
		frame(2002)
		wantReport("three late in a row", 2000, 2002, 3, 3, minus(98))

		main.send(raw{spiceproto.MsgMainMultiMediaTime, words(9000)})
		synctest.Wait()
		for n := range uint32(5) {
			frame(9010 + n)
		}
		wantReport("clock set anew", 9010, 9014, 5, 0, 14)
		if got := <-done; got.err != nil {
			t.Fatal(got.err)
		}
	})
}

func TestMediaClockWraps(t *testing.T) {
	var c mediaClock
	c.set(0xffffff00, at(0))
	if got := c.now(at(1000)); got != 1000-256 {
		t.Errorf("multimedia time %d after the wrap, want 744", got)
	}
}
