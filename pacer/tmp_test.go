package pacer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"spicepacer/pacer"
)

type wr struct {
	p       *clientLink
	l       *pacer.Link
	backlog int
	next    func(now time.Duration) (at time.Duration, n int)
	fresh   bool
	trace   func()
	fulls   int
}

func (w *wr) run(until time.Duration) {
	for w.p.now < until {
		if w.backlog == 0 {
			w.l.Idle()
			at, n := w.next(w.p.now)
			w.p.advance(max(at-w.p.now, 0))
			w.backlog += n
			continue
		}
		if w.l.Room() >= min(w.l.Quantum(), w.backlog) {
			n := mostWrite
			if r := w.l.Rate(); r > 0 {
				n = min(n, int(r*writeTime.Seconds()))
			}
			n = min(max(n/mss, 1)*mss, w.backlog)
			w.p.write(n)
			w.l.Wrote(n)
			w.backlog -= n
			continue
		}
		if !w.fresh {
			w.l.Observe(epoch.Add(w.p.now), w.p.socket(), true)
			if w.l.Full() { w.fulls++ }
			if w.trace != nil { w.trace() }
			w.fresh = true
			continue
		}
		w.fresh = false
		w.p.advance(w.l.Wait())
	}
}

func TestTmpConverge(t *testing.T) {
	for _, m := range []float64{0.5, 1, 2, 10, 50, 1000} {
		for _, r := range []time.Duration{1, 20, 80, 300} {
			w := &wr{p: newClientLink(m*mbit, r*time.Millisecond), l: &pacer.Link{Target: 10 * time.Millisecond}, backlog: 1 << 40}
			st := time.Now()
			target := max(10*time.Millisecond, time.Duration(4*mss/(m*mbit)*1e9))
			want := max(m*mbit*(r*time.Millisecond+target).Seconds(), 8192)
			s := ""
			for k := 1; k <= 12; k++ {
				a0 := w.p.acked
				w.run(time.Duration(k) * 1500 * time.Millisecond)
				s += fmt.Sprintf(" %.2f(%.0f%%,q%dms)", float64(w.l.Budget())/want, 100*float64(w.p.acked-a0)/1.5/(m*mbit), w.p.queueTime().Milliseconds())
			}
			t.Logf("%v Mbit %v ms full %t: %s  [%v]", m, int(r), w.l.Full(), s, time.Since(st))
		}
	}
}

func TestTmpJitter(t *testing.T) {
	for _, m := range []float64{2, 10, 50} {
		for _, j := range []float64{5, 10, 20, 50} {
			w := &wr{p: newClientLink(m*mbit, 40*time.Millisecond), l: &pacer.Link{Target: 10 * time.Millisecond}, backlog: 1 << 40}
			rng := rand.New(rand.NewPCG(1, 2))
			w.p.jitter = func() time.Duration { return time.Duration(rng.ExpFloat64() * j * 1e6) }
			s := ""
			for k := 1; k <= 12; k++ {
				a0 := w.p.acked
				w.run(time.Duration(k) * 1500 * time.Millisecond)
				s += fmt.Sprintf(" %.0fk(%.0f%%,q%dms)", float64(w.l.Budget())/1000, 100*float64(w.p.acked-a0)/1.5/(m*mbit), w.p.queueTime().Milliseconds())
			}
			t.Logf("%v Mbit jit %v ms srtt %v min %v full %t: %s", m, j, w.p.srtt, w.p.minRTT, w.l.Full(), s)
		}
	}
}

func TestTmpLonger(t *testing.T) {
	for _, m := range []float64{2, 10, 50} {
		for _, f := range []float64{1.2, 1.5, 3} {
			w := &wr{p: newClientLink(m*mbit, 80*time.Millisecond), l: &pacer.Link{Target: 10 * time.Millisecond}, backlog: 1 << 40}
			w.run(4 * time.Second)
			w.p.change(m*mbit, time.Duration(80*f)*time.Millisecond)
			s := ""
			for k := 1; k <= 24; k++ {
				a0 := w.p.acked
				w.run(4*time.Second + time.Duration(k)*1500*time.Millisecond)
				s += fmt.Sprintf(" %.0fk(%.0f%%,q%dms)", float64(w.l.Budget())/1000, 100*float64(w.p.acked-a0)/1.5/(m*mbit), w.p.queueTime().Milliseconds())
			}
			t.Logf("%v Mbit x%v full %t: %s", m, f, w.l.Full(), s)
		}
	}
}

func TestTmpStep(t *testing.T) {
	for _, c := range [][2]float64{{10, 2}, {2, 50}, {50, 2}, {2, 10}, {10,0.5}} {
		w := &wr{p: newClientLink(c[0]*mbit, 80*time.Millisecond), l: &pacer.Link{Target: 10 * time.Millisecond}, backlog: 1 << 40}
		w.run(4 * time.Second)
		w.p.change(c[1]*mbit, 80*time.Millisecond)
		s := ""
		for k := 1; k <= 32; k++ {
			a0 := w.p.acked
			w.run(4*time.Second + time.Duration(k)*240*time.Millisecond)
			s += fmt.Sprintf(" %.2f(%.0f%%,q%dms)", w.l.Rate()/c[1]/mbit, 100*float64(w.p.acked-a0)/.24/(c[1]*mbit), w.p.queueTime().Milliseconds())
		}
		t.Logf("%v full %t: %s", c, w.l.Full(), s)
	}
}

func TestTmpBursts(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, m := range []float64{50, 1000} {
			for _, b := range []int{100_000, 400_000, 1_000_000} {
				for _, per := range []time.Duration{200, 500, 1000} {
					if float64(b)/per.Seconds()/1e6 *1e9 > 0 && float64(b)/(float64(per)/1000) > 0.7*m*mbit { continue }
					w := &wr{p: newClientLink(m*mbit, 80*time.Millisecond), l: &pacer.Link{Target: 10 * time.Millisecond}}
					w.p.restart = restart
					at := time.Duration(0)
					w.next = func(time.Duration) (time.Duration, int) { at += per * time.Millisecond; return at, b }
					w.run(20 * time.Second)
					t.Logf("restart %t %v Mbit burst %d every %d ms: fulls %d rate %.1f Mbit budget %d cwnd %d acked %.2f", restart, m, b, int(per), w.fulls, w.l.Rate()/mbit, w.l.Budget(), w.p.cwnd, float64(w.p.acked)/(float64(b)*float64(20000/per)))
				}
			}
		}
	}
}
