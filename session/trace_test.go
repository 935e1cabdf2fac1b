package session

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spicepacer/pacer"
	"spicepacer/session/authz"
	"spicepacer/spiceproto"
	"spicepacer/spiceproto/spicetest"
)

// memo is a trace that a test reads.
type memo struct {
	mu       sync.Mutex
	messages []string
	states   []pacer.Trace
	orders   []OrderEvent
	inState  bool
	overlaps int
	closed   int
}

func (m *memo) Message(_ time.Time, d spiceproto.Direction, h spiceproto.Header, head []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, fmt.Sprintf("%v %d size %d head %d", d, h.Type, h.Size, len(head)))
}

func (m *memo) State(_ time.Time, s pacer.Trace) {
	m.mu.Lock()
	overlaps := m.inState
	m.inState = true
	m.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if overlaps {
		m.overlaps++
	}
	m.inState = false
	m.states = append(m.states, s)
}

func (m *memo) Order(_ time.Time, e OrderEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orders = append(m.orders, e)
}

func (m *memo) Close(time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed++
}

// Every message of both directions is told once, in every mode, those that the
// proxy keeps to itself too.
func TestTraceTellsMessages(t *testing.T) {
	eachMode(t, func(t *testing.T, o relayOptions) {
		trace := new(memo)
		o.trace = trace
		r := startRelay(t, o)
		draw := spicetest.Draw{Box: spiceproto.Rect{Bottom: 8, Right: 32}, Size: 1000}.Append(nil)
		r.hypervisor.send(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil), draw[:9])
		synctest.Wait()
		r.hypervisor.send(draw[9:])
		r.client.want(append(spiceproto.SetAck{Generation: 1, Window: 20}.Append(nil), draw...))
		r.client.send(spiceproto.AckSync{Generation: 1}.Append(nil), spiceproto.AppendAck(nil))
		synctest.Wait()
		want := []string{
			"s2c 3 size 8 head 8",
			fmt.Sprintf("s2c 304 size %d head %d", len(draw)-6, spiceproto.HeadSize),
			"c2s 1 size 4 head 4", "c2s 2 size 0 head 0",
		}
		if diff := cmp.Diff(want, trace.messages); diff != "" {
			t.Error(diff)
		}
		if paced := o.mode != pacer.Passthrough; (len(trace.states) > 0) != paced || trace.overlaps > 0 {
			t.Errorf("%d states, %d of them at once", len(trace.states), trace.overlaps)
		}
	})
}

// The states show the valve shut and open again, the queue, and ACKs.
func TestTraceTellsStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := new(memo)
		r := startRelay(t, relayOptions{
			mode: pacer.Adaptive, clientLink: slowly, trace: trace,
			pacing: func(p *Pacing) { p.QueueBytes = 64 << 10 },
		})
		go func() {
			r.hypervisor.Write(spiceproto.SetAck{Generation: 1, Window: 1}.Append(nil))
			for range 20 {
				r.hypervisor.Write(opaque(250, 10_000))
			}
		}()
		r.client.want(spiceproto.SetAck{Generation: 1, Window: 1}.Append(nil))
		go io.Copy(io.Discard, r.hypervisor)
		for range 20 {
			r.client.want(opaque(250, 10_000))
			r.client.send(spiceproto.AppendAck(nil)) // else it would count as slow
		}
		synctest.Wait()
		var shut, opened, acked bool
		for _, s := range trace.states {
			shut = shut || !s.Reading
			opened = opened || shut && s.Reading
			acked = acked || s.Acked > 0
		}
		last := trace.states[len(trace.states)-1]
		if !shut || !opened || !acked || last.Framed != 21 || last.QueueBytes != 0 || last.Rate == 0 {
			t.Errorf("shut %v, opened %v, acked %v, at the end %+v", shut, opened, acked, last)
		}
	})
}

// What the queue does with messages is told with its reason: a draw that another
// covers, and one whose place was not sent for longer.
func TestTraceTellsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := new(memo)
		r := startRelay(t, relayOptions{mode: pacer.Adaptive, clientLink: slowly, trace: trace})
		draw := func(left, right int32, size int) []byte {
			return spicetest.Draw{Box: spiceproto.Rect{Left: left, Bottom: 480, Right: right}, Size: size}.Append(nil)
		}
		surface := spiceproto.SurfaceCreate{Width: 640, Height: 480, Format: 32, Flags: 1}.Append(nil)
		earlier, under := draw(0, 32, 100_000), draw(200, 232, 200_000)
		old, newer, key := draw(200, 232, 10_000), draw(200, 232, 11_000), draw(160, 192, 300)
		r.hypervisor.send(surface, earlier, under)
		r.client.want(slices.Concat(surface, earlier, under[:1000])) // its place has had its turn
		r.hypervisor.send(old, newer, key)
		r.client.want(slices.Concat(under[1000:], key, newer))
		// Whether the key is urgent depends on what was charged before, and so on
		// who was faster; its turn comes first in any case.
		if len(trace.orders) == 2 && trace.orders[1].Reason == OrderUrgent {
			trace.orders[1].Reason = OrderTurn
		}
		want := []OrderEvent{
			{Message: 4, Other: 5, Reason: OrderCovered},
			{Message: 6, Other: 5, Reason: OrderTurn},
		}
		if diff := cmp.Diff(want, trace.orders); diff != "" {
			t.Error(diff)
		}
	})
}

// tracer gives each channel a memo, or none.
type tracer struct {
	memo *memo
	info chan ChannelInfo
}

func (tr tracer) Trace(c ChannelInfo) ChannelTrace {
	tr.info <- c
	if tr.memo == nil {
		return nil
	}
	return tr.memo
}

// A trace begins with the relay of its channel and ends with it. A channel without
// one is relayed all the same.
func TestTracer(t *testing.T) {
	for name, m := range map[string]*memo{"traced": new(memo), "not traced": nil} {
		t.Run(name, func(t *testing.T) {
			tr := tracer{m, make(chan ChannelInfo, 1)}
			auth, err := authz.NewStatic([]authz.Entry{{Token: testToken, Target: newHypervisor(t).target()}})
			if err != nil {
				t.Fatal(err)
			}
			p := startProxyWith(t, auth, nil, func(s *Server) { s.tracer = tr })
			c := p.client()
			c.open(linkMess(spiceproto.ChannelInputs))
			c.wantEcho()
			if info := await(t, tr.info, "trace"); info.Type != spiceproto.ChannelInputs || info.Ref == "" {
				t.Errorf("trace of %+v", info)
			}
			c.Close()
			await(t, p.ended, "end of the channel")
			if m == nil {
				return
			}
			want := []string{"c2s 250 size 4 head 4", "s2c 250 size 4 head 4"}
			if diff := cmp.Diff(want, m.messages); diff != "" {
				t.Error(diff)
			}
			if m.closed != 1 {
				t.Errorf("closed %d times, want once", m.closed)
			}
		})
	}
}
