package session

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"spicepacer/pacer"
	"spicepacer/spiceproto/spicetest"
)

// fast is a link without limits but a round trip.
var fast = spicetest.LinkConfig{Profile: spicetest.Profile{RTT: 20 * time.Millisecond}}

// down is the same link in an outage.
var down = spicetest.Profile{RTT: 20 * time.Millisecond, Down: true}

// wantStall waits for a StallError, which must come between StallTimeout and a
// check later.
func (r *relayed) wantStall(since time.Time) {
	r.t.Helper()
	timeout := DefaultConfig().Pacing.StallTimeout
	err := r.result()
	stall, ok := errors.AsType[*StallError](err)
	if !ok {
		r.t.Fatalf("relay ended with %v, want a stall", err)
	}
	if stall.Outstanding <= 0 || stall.For < timeout || stall.Peer != r.client.LocalAddr().String() {
		r.t.Errorf("%+v", stall)
	}
	if d := time.Since(since); d < timeout || d > timeout+timeout/stallChecks+flushTimeout {
		r.t.Errorf("closed after %v", d)
	}
}

func TestSilentClientIsClosed(t *testing.T) {
	for name, size := range map[string]int{"a byte": 1, "all it can take": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			eachMode(t, func(t *testing.T, o relayOptions) {
				o.clientLink = fast
				r := startRelay(t, o)
				before := opaque(250, 1000)
				r.hypervisor.send(before)
				r.client.want(before)
				time.Sleep(time.Hour) // a watch that slept wakes up
				r.link.Change(down)
				start := time.Now()
				go r.hypervisor.Write(opaque(250, size))
				r.wantStall(start)
			})
		})
	}
}

// A client that acknowledges now and then lives, however little it is.
func TestSlowClientIsNotClosed(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = fast
		r := startRelay(t, o)
		m := opaque(250, 1<<20)
		go r.hypervisor.Write(m)
		trickle := spicetest.Profile{RTT: 20 * time.Millisecond, Rate: 50e3}
		for range 6 {
			r.link.Change(down)
			time.Sleep(25 * time.Second)
			r.link.Change(trickle)
			time.Sleep(time.Second)
		}
		r.wantRunning()
		r.link.Change(fast.Profile)
		r.client.want(m)
	})
}

// A client that reads nothing acknowledges what its kernel takes, and then
// nothing more.
func TestClientThatDoesNotReadIsClosed(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = fast
		o.clientLink.ReceiveBuffer = 100_000
		r := startRelay(t, o)
		start := time.Now()
		go r.hypervisor.Write(opaque(250, 8<<20))
		r.wantStall(start)
	})
}

// Nothing is looked at while nothing is outstanding.
func TestIdleChannelSleeps(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		o.clientLink = slowly
		r := startRelay(t, o)
		for range 3 {
			m := opaque(250, 100_000)
			r.hypervisor.send(m)
			r.client.want(m)
			time.Sleep(time.Minute)
			synctest.Wait()
			before := *r.probes
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := *r.probes - before; got != 0 {
				t.Fatalf("socket of an idle client was looked at %d times in an hour", got)
			}
		}
	})
}

// A write between the watch's look at an empty socket and its going to sleep is
// watched all the same.
func TestStallWatchMissesNoWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *stallWatch
		ended := make(chan error, 1)
		sample, race := pacer.LinkSample{Acked: 1}, true
		near, _ := newTestLink()
		client := leg{conn: near, probe: func() (pacer.LinkSample, error) {
			seen := sample
			if race {
				race, sample.Outstanding = false, 100
				w.wrote()
			}
			return seen, nil
		}}
		w = newStallWatch(client, 30*time.Second, func(err error) { ended <- err })
		defer w.stop()
		w.wrote()
		select {
		case err := <-ended:
			if _, ok := errors.AsType[*StallError](err); !ok {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("a stalled client was not noticed")
		}
	})
}

func TestStallWatchWithoutTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRelay(t, relayOptions{
			clientLink: fast, pacing: func(p *Pacing) { p.StallTimeout = 0 },
		})
		r.link.Change(down)
		go r.hypervisor.Write(opaque(250, 8<<20))
		time.Sleep(time.Hour)
		r.wantRunning()
		if *r.probes != 0 {
			t.Errorf("socket looked at %d times", *r.probes)
		}
	})
}

func newTestLink() (near, far *spicetest.LinkConn) {
	_, near, far = spicetest.NewLink(spicetest.LinkConfig{})
	return near, far
}
