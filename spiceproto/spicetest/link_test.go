package spicetest_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/spiceproto/spicetest"
)

// drain reads c to its end, counting the bytes in *n.
func drain(c net.Conn, n *int64) {
	*n, _ = io.Copy(io.Discard, c)
}

func near(got, want, tolerance float64) bool {
	return got > want*(1-tolerance) && got < want*(1+tolerance)
}

func TestLinkCarriesItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := spicetest.NewLink(thin)
		done := make(chan struct{})
		start := time.Now()
		var got int64
		go func() {
			defer close(done)
			drain(b, &got)
		}()
		const total = 10 << 20
		if _, err := a.Write(make([]byte, total)); err != nil {
			t.Fatal(err)
		}
		a.Close()
		<-done
		// 1448 of 1500 bytes of each packet are payload.
		want := float64(total) * 8 / 10e6 * 1500 / 1448
		if got != total || !near(time.Since(start).Seconds(), want, 0.03) {
			t.Errorf("%d bytes in %v, want %d in %.1f s", got, time.Since(start), total, want)
		}
	})
}

func TestLinkRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := spicetest.NewLink(thin)
		done := make(chan struct{})
		go func() {
			defer close(done)
			io.Copy(b, b)
		}()
		start := time.Now()
		a.Write([]byte{1})
		if _, err := io.ReadFull(a, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if rtt := time.Since(start); !near(rtt.Seconds(), 0.080, 0.03) {
			t.Errorf("round trip of a byte: %v, want 80 ms", rtt)
		}
		time.Sleep(time.Second)
		info := a.Info()
		if info.BytesAcked != 1 || info.SendQueue != 0 || !near(info.MinRTT.Seconds(), 0.080, 0.03) {
			t.Errorf("%+v, want one byte acknowledged after 80 ms", info)
		}
		a.CloseWrite()
		<-done
	})
}

// With the queue full, a byte takes the path and one product's worth of queue.
func TestLinkQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, a, b := spicetest.NewLink(thin)
		var got int64
		go drain(b, &got)
		go a.Write(make([]byte, 20<<20))
		time.Sleep(3 * time.Second)
		before := a.Info()
		if !near(before.RTT.Seconds(), 0.160, 0.1) || before.SendQueue < 3<<20 {
			t.Errorf("%+v, want twice the round trip and a full send buffer", before)
		}
		if inFlight := before.SendQueue - before.NotSent; !near(float64(inFlight), 200_000, 0.02) {
			t.Errorf("%d bytes in flight, want path and queue, 200 kB", inFlight)
		}
		link.Change(spicetest.Profile{RTT: 80 * time.Millisecond, Rate: 2e6})
		time.Sleep(time.Second)
		middle := a.Info()
		time.Sleep(4 * time.Second)
		rate := float64(a.Info().BytesAcked-middle.BytesAcked) / 4 * 8
		if !near(rate, 2e6*1448/1500, 0.03) {
			t.Errorf("%.0f bit/s after the step to 2 Mbit/s", rate)
		}
		a.Close()
		b.Close()
	})
}

func TestLinkOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, a, b := spicetest.NewLink(thin)
		var got int64
		go drain(b, &got)
		go a.Write(make([]byte, 20<<20))
		time.Sleep(time.Second)
		down := link.Profile()
		down.Down = true
		link.Change(down)
		time.Sleep(time.Second)
		before := a.Info().BytesAcked
		time.Sleep(time.Minute)
		if now := a.Info().BytesAcked; now != before {
			t.Errorf("%d bytes acknowledged during an outage", now-before)
		}
		link.Change(thin.Profile)
		time.Sleep(time.Second)
		if a.Info().BytesAcked <= before {
			t.Error("nothing acknowledged after the outage")
		}
		a.Close()
		b.Close()
	})
}

// A reader that stops fills its receive buffer, then the sender's.
func TestLinkBuffersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := thin
		cfg.SendBuffer, cfg.ReceiveBuffer = 50_000, 30_000
		_, a, b := spicetest.NewLink(cfg)
		a.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := a.Write(make([]byte, 1<<20))
		if n != 80_000 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d bytes (%v), want 80000 and a timeout", n, err)
		}
		if s, r := a.Info(), b.Info(); s.SendQueue != 50_000 || s.NotSent != 50_000 || r.ReceiveQueue != 30_000 {
			t.Errorf("send queue %d, not sent %d, receive queue %d", s.SendQueue, s.NotSent, r.ReceiveQueue)
		}
	})
}

func TestLinkClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := spicetest.NewLink(thin)
		a.Write([]byte("last words"))
		a.Close()
		if p, err := io.ReadAll(b); string(p) != "last words" || err != nil {
			t.Errorf("read %q, %v", p, err)
		}
		if _, err := b.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed peer: %v", err)
		}
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
		b.SetReadDeadline(time.Now().Add(-time.Second))
		if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read after the deadline: %v", err)
		}
	})
}
