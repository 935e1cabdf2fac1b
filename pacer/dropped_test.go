package pacer_test

import (
	"testing"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
)

func (r *channelRig) replace(n int) {
	for range n {
		r.messages(1, 100)
		r.queued -= 100
		r.Dropped(100, r.queued)
	}
}

func (r *channelRig) setAck(generation uint32) {
	r.Arrived(pacer.Message{Op: spiceproto.MsgSetAck, Size: 8, SetAck: spiceproto.SetAck{Generation: generation, Window: window}})
	r.store(14)
}

// All that the client ever missed is missing from its count of messages, which
// knows no generations.
func TestMissingOfAllGenerations(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.replace(5)
	r.setAck(2)
	r.replace(3)
	if n := r.Missing(); n != 8 {
		t.Errorf("%d messages are missing, want 8", n)
	}
	for range 8 {
		r.Filled(r.now)
	}
	if n := r.Missing(); n != 0 {
		t.Errorf("%d messages are missing after as many were filled in", n)
	}
}

// Replaced messages count towards the server: the ACKs for them are legal and
// due, though the client will never send as many.
func TestReplacedMessagesCountForTheServer(t *testing.T) {
	r := newRig(t, pacer.Adaptive, nil)
	r.replace(3*window - 1) // and SET_ACK
	if n := r.AcksDue(r.now); n != 3 {
		t.Errorf("%d ACKs due for %d messages, want 3", n, 3*window)
	}
}

// Where the queue has come to keep arrival order, an input event does not open
// the valve, and the server gets back the compression of its choice.
func TestKeepArrivalOrder(t *testing.T) {
	glz := pacer.Message{Op: spiceproto.MsgDisplayDrawCopy, Size: 100}
	glz.Effect.Uses = spiceproto.UsesGLZ
	r := newRig(t, pacer.Adaptive, func(c *pacer.Config) { c.Reorder, c.CompressionAuto = true, true })
	r.Initialised()
	r.messages(1, 50_000)
	r.saturate()
	r.Arrived(glz)
	if v, asks := r.Preference(r.now); !asks || v != spiceproto.CompressionAutoLZ {
		t.Fatalf("asked for compression %v, %v", v, asks)
	}
	r.KeepArrivalOrder()
	if v, asks := r.Preference(r.now); !asks || v != spiceproto.CompressionAutoGLZ {
		t.Errorf("asked for compression %v, %v, want the server's own", v, asks)
	}
	r.shutBySweep()
	if r.MayRead() {
		t.Fatal("the valve is open behind a sweep")
	}
	r.Input(r.now)
	if r.MayRead() {
		t.Error("an input event opened the valve")
	}
}

// shutBySweep lets frames arrive until the read valve is shut.
func (r *channelRig) shutBySweep() {
	r.surface(1280, 800)
	for range 6 {
		r.columns(0, sweepWidth, largeColumn)
	}
}
