package pacer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"spicepacer/pacer"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// described is a message as the display queue describes it to an Order.
func described(raw []byte) pacer.Message {
	h, _ := spiceproto.ParseHeader(raw)
	body := raw[spiceproto.MiniHeaderSize:]
	head := body[:min(len(body), spiceproto.HeadSize)]
	m := pacer.Message{Op: h.Type, Size: h.Size}
	if spiceproto.IsDraw(h.Type) {
		m.Effect = spiceproto.ParseEffect(h.Type, h.Size, head)
		m.Draw, m.Surface, m.Box = true, m.Effect.Surface, m.Effect.Box
	}
	return m
}

// orderRun plays a server whose messages go through an Order to a client, and
// compares what the client shows with what it would show without.
type orderRun struct {
	pick   func(n int) int
	script *spicetest.Script
	order  pacer.Order
	// direct has had every message that has arrived, client those that went.
	direct, client *spicetest.Renderer

	arriving, sending *queuedMessage
	waiting           map[*pacer.Entry]*queuedMessage
	arrived, gone     uint64 // messages
	dropped           int
	sizes             int // of the messages' pretended sizes, the largest
	burst, horizon    int
	fifo              bool
	last              uint64 // number of the message that went last
}

type queuedMessage struct {
	entry  pacer.Entry
	raw    []byte
	number uint64
}

func newOrderRun(pick func(n int) int) *orderRun {
	script := spicetest.NewScript(pick)
	return &orderRun{
		pick: pick, script: script, waiting: make(map[*pacer.Entry]*queuedMessage),
		direct: spicetest.NewRenderer(script.Grain), client: spicetest.NewRenderer(script.Grain),
		sizes: []int{100, 100_000}[pick(2)], burst: []int{0, 1 << 20}[pick(2)], horizon: []int{0, 1 << 30}[pick(2)],
	}
}

// play takes n steps, then lets all that is left go.
func (r *orderRun) play(n int) error {
	pops := 1 + r.pick(4) // in 8 steps, while nothing arrives
	for range n {
		if err := r.step(pops); err != nil {
			return err
		}
	}
	if r.arriving != nil {
		if err := r.complete(); err != nil {
			return err
		}
	}
	for r.gone < r.arrived {
		if err := r.pop(); err != nil {
			return err
		}
	}
	if e := r.order.Pop(); e != nil {
		return fmt.Errorf("%v is left when all has gone", e.Value)
	}
	return r.compare()
}

func (r *orderRun) step(pops int) error {
	switch c := r.pick(64); {
	case c == 0 && r.pick(8) == 0:
		r.order.KeepArrivalOrder()
		r.fifo = true
	case c == 1 && r.pick(16) == 0:
		sides := []uint32{0, 100, 1000, 1 << 14, 1 << 31}
		r.order.Resize(sides[r.pick(5)], sides[r.pick(5)])
	case c < 2+8*pops:
		return r.pop()
	case r.arriving != nil:
		return r.complete()
	default:
		return r.push()
	}
	return nil
}

func (r *orderRun) push() error {
	r.arrived++
	m := &queuedMessage{raw: r.script.Next(), number: r.arrived}
	m.entry.Value = m
	if err := r.direct.Apply(m.number, m.raw); err != nil {
		return fmt.Errorf("the script is wrong: %w", err)
	}
	d := described(m.raw)
	if d.Op == spiceproto.MsgDisplaySurfaceCreate {
		if s, err := spiceproto.ParseSurfaceCreate(m.raw[spiceproto.MiniHeaderSize:]); err == nil && s.ID == 0 {
			r.order.Resize(s.Width, s.Height)
		}
	}
	r.arriving = m
	r.waiting[&m.entry] = m
	r.order.Push(&m.entry, d, 1+r.pick(r.sizes))
	return nil
}

func (r *orderRun) complete() error {
	m := r.arriving
	r.arriving = nil
	for _, e := range r.order.Complete(&m.entry, r.burst, r.horizon) {
		x := r.waiting[e]
		if x == nil || x == m || r.fifo {
			return fmt.Errorf("message %v is dropped with %d, which must not be", e.Value, m.number)
		}
		delete(r.waiting, e)
		r.gone++
		r.dropped++
	}
	if r.sending == m {
		return r.send()
	}
	return nil
}

func (r *orderRun) pop() error {
	if r.sending != nil {
		return nil // the rest of it has not arrived
	}
	e := r.order.Pop()
	if e == nil {
		if len(r.waiting) > 0 {
			return fmt.Errorf("nothing goes, though %d messages wait", len(r.waiting))
		}
		return nil
	}
	m := r.waiting[e]
	if m == nil {
		return fmt.Errorf("message %v goes twice, or was dropped", e.Value)
	}
	if m == r.arriving && len(r.waiting) > 1 {
		return fmt.Errorf("message %d goes before it is whole, though others wait", m.number)
	}
	delete(r.waiting, e)
	r.sending = m
	if m != r.arriving {
		return r.send()
	}
	return nil
}

// send tells the client the message that goes, now that it is whole.
func (r *orderRun) send() error {
	m := r.sending
	r.sending = nil
	r.gone++
	if r.fifo && m.number < r.last {
		return fmt.Errorf("message %d goes after %d in arrival order", m.number, r.last)
	}
	if r.fifo {
		r.last = m.number
	}
	r.order.Sent(m.entry.Size(), r.burst)
	if err := r.client.Apply(m.number, m.raw); err != nil {
		return err
	}
	if len(r.waiting) == 0 && r.arriving == nil {
		return r.compare()
	}
	return nil
}

func (r *orderRun) compare() error {
	if d := r.client.Diff(r.direct); d != "" {
		return fmt.Errorf("all %d messages went or were dropped, but %s", r.arrived, d)
	}
	return nil
}

// Whatever the server sends and however it comes and goes, the client shows and
// keeps the same as without the queue, whenever it has caught up; nothing newer
// is ever painted over by something older, and nothing is lost.
func TestOrderShowsTheSame(t *testing.T) {
	atLeastChecks(t, 2000)
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		if err := newOrderRun(pick).play(20 + pick(100)); err != nil {
			t.Fatal(err)
		}
	})
}

// The same with a faster source of choices, which finds more in its time; a
// failure names its seed.
func TestOrderShowsTheSameInManyRuns(t *testing.T) {
	var dropped int
	var overtook uint64
	for seed := range uint64(orderRuns) {
		r := newOrderRun(rand.New(rand.NewPCG(seed, 1)).IntN)
		if err := r.play(20 + r.pick(400)); err != nil {
			t.Fatalf("run %d: %v", seed, err)
		}
		if s := r.order.Stats(); s.Replaced != uint64(r.dropped) {
			t.Fatalf("run %d: %d messages dropped, %d counted", seed, r.dropped, s.Replaced)
		}
		dropped += r.dropped
		overtook += r.order.Stats().Overtook
	}
	t.Logf("%d runs: %d messages dropped, %d went before older ones", orderRuns, dropped, overtook)
	if dropped < orderRuns || overtook < orderRuns {
		t.Error("the runs try too little")
	}
}
