package client

import (
	"context"
	"time"

	"spicepacer/spiceproto"
)

// spaceKey is the scan code of the key pressed (PC/AT set 1); its break code has
// bit 7 set.
const spaceKey = 0x39

// drive does what the schedule says until it finishes, and fills in the result of
// the measuring window.
func (r *run) drive(ctx context.Context) error {
	r.cfg.logf("connected, warming up for %v", r.cfg.Warmup)
	r.schedule.start(time.Now(), r.cfg.Warmup)
	defer r.closeWindow()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		act, until, err := r.next()
		if err != nil {
			return err
		}
		r.openWindow()
		switch act {
		case keyDown:
			err = r.inputsChannel.send(spiceproto.KeyDown{Scancode: spaceKey}.Append(nil))
		case keyUp:
			err = r.inputsChannel.send(spiceproto.KeyUp{Scancode: spaceKey | 0x80}.Append(nil))
		case missed:
			r.cfg.logf("time-out %d: no draw over %s within %v", r.schedule.timeouts, formatRect(r.cfg.KeyBox), r.cfg.Timeout)
		case finish:
			return errFinished
		case wait:
			timer.Reset(time.Until(until))
			err = r.sleep(ctx, timer)
		}
		if err != nil {
			return err
		}
	}
}

// sleep waits for a draw over the key box, the timer or the end.
func (r *run) sleep(ctx context.Context, timer *time.Timer) error {
	select {
	case at := <-r.draws:
		r.draw(at)
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// next asks the schedule, but first tells it of the draws that have come: one that
// came in time must not lose against a timer that fired since.
func (r *run) next() (action, time.Time, error) {
	for {
		select {
		case at := <-r.draws:
			r.draw(at)
		default:
			return r.schedule.next(time.Now())
		}
	}
}

func (r *run) draw(at time.Time) {
	if latency, ok := r.schedule.draw(at); ok {
		r.cfg.logf("press %d of %d: %.1f ms", len(r.schedule.latencies), r.cfg.Presses, latency.Seconds()*1e3)
	}
}

// openWindow opens the measuring window once the schedule has begun it.
func (r *run) openWindow() {
	if r.schedule.begun.IsZero() || r.display.isOpen() {
		return
	}
	r.bytes = r.displayChannel.counter.bytes.Load()
	r.messages = r.displayChannel.counter.messages.Load()
	r.display.open(r.schedule.begun)
	r.cfg.logf("measuring")
}

// closeWindow fills in the result of a window that was opened.
func (r *run) closeWindow() {
	if !r.display.isOpen() {
		return
	}
	r.result.Bytes = r.displayChannel.counter.bytes.Load() - r.bytes
	r.result.Messages = r.displayChannel.counter.messages.Load() - r.messages
	r.display.close(&r.result)
}
