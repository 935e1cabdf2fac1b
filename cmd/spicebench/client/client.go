// Package client is a SPICE client without a picture. Towards the wire it behaves
// like spice-gtk 0.42: the same links in the same order, the same ACKs, PONGs and
// stream reports. It measures what a user of a slow link would notice:
//
//   - the time from a key press to the draw that answers it (kerbside-rig.md,
//     section 5),
//   - how old each part of a moving picture gets before it is drawn again,
//   - how much arrives.
//
// Bodies are discarded as they are read, so that it keeps up with a fast link.
//
//	cfg := client.DefaultConfig()
//	cfg.Addr = "10.77.0.1:5901"
//	cfg.Activities = []spiceproto.Rect{{Left: 624, Top: 160, Right: 1264, Bottom: 640}}
//	result, err := client.Run(ctx, cfg)
package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"spicepacer/spiceproto"
)

// errFinished ends a run's goroutines when all is measured.
var errFinished = errors.New("finished")

// run is one run of the client.
type run struct {
	cfg     Config
	clock   *mediaClock
	display *display
	draws   chan time.Time

	// The channels are set before drive begins.
	displayChannel *channel
	inputsChannel  *channel

	// What follows belongs to drive.
	schedule        schedule
	bytes, messages uint64 // received on the display channel before the window
	result          Result
}

// Run connects, measures and disconnects. Whatever was measured before an error is
// returned with it. Errors of a channel are *ChannelError; ErrProbe and
// ErrTooManyTimeouts mean that the screen did not follow the keys.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if err := cfg.Validate(); err != nil {
		return Result{}, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	r := newRun(groupCtx, cfg)
	group.Go(func() error { return r.connect(groupCtx, group) })
	err := group.Wait()
	r.result.Latencies, r.result.Timeouts = r.schedule.latencies, r.schedule.timeouts
	if r.displayChannel != nil {
		r.result.Window, r.result.ACKs = r.displayChannel.ack.window, r.displayChannel.ack.acks
	}
	switch {
	case errors.Is(err, errFinished):
		return r.result, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return r.result, fmt.Errorf("client: %w", err)
}

func newRun(ctx context.Context, cfg Config) *run {
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	draws := make(chan time.Time, 64)
	clock := new(mediaClock)
	return &run{
		cfg:   cfg,
		clock: clock,
		draws: draws,
		display: &display{
			keyBox:  cfg.KeyBox,
			regions: newRegions(cfg.Activities, cfg.Cell),
			clock:   clock,
			logf:    cfg.logf,
			streams: streams{},
			draws:   draws,
			done:    ctx.Done(),
		},
		schedule: schedule{
			presses:  cfg.Presses,
			interval: cfg.Interval, pauseMin: cfg.PauseMin, pauseMax: cfg.PauseMax,
			timeout:  cfg.Timeout,
			duration: cfg.Duration,
			rand:     rand.New(rand.NewPCG(cfg.Seed, 0)),
		},
		result: Result{Seed: cfg.Seed},
	}
}

// connect opens the main channel, then the others, and drives the measurement.
func (r *run) connect(ctx context.Context, group *errgroup.Group) error {
	handler := mainChannel{clock: r.clock, session: make(chan session, 1)}
	main, err := r.cfg.open(ctx, spiceproto.ChannelMain, 0)
	if err != nil {
		return err
	}
	group.Go(func() error { return main.serve(ctx, handler.handle) })
	s, err := r.session(ctx, main, handler.session)
	if err != nil {
		return err
	}
	if err := r.linkAll(ctx, group, s); err != nil {
		return err
	}
	return r.drive(ctx)
}

// session waits for what the main channel learns.
func (r *run) session(ctx context.Context, main *channel, known <-chan session) (session, error) {
	limit := time.NewTimer(linkTimeout)
	defer limit.Stop()
	select {
	case s := <-known:
		r.cfg.logf("main channel: session %#x at %s", s.init.SessionID, main.peer)
		return s, nil
	case <-limit.C:
		return session{}, main.fail("wait for CHANNELS_LIST", fmt.Errorf("nothing in %v", linkTimeout))
	case <-ctx.Done():
		return session{}, context.Cause(ctx)
	}
}

// linkAll links the other channels side by side and serves each from then on. A
// session that lacks one is not linked at all.
func (r *run) linkAll(ctx context.Context, group *errgroup.Group, s session) error {
	for _, kind := range []spiceproto.ChannelType{spiceproto.ChannelDisplay, spiceproto.ChannelInputs, spiceproto.ChannelCursor} {
		if err := s.has(kind); err != nil {
			return err
		}
	}
	links, linksCtx := errgroup.WithContext(ctx)
	link := func(to **channel, kind spiceproto.ChannelType, handle handler) {
		links.Go(func() error {
			ch, err := r.cfg.open(linksCtx, kind, s.init.SessionID)
			if err != nil {
				return err
			}
			*to = ch
			group.Go(func() error { return ch.serve(ctx, handle) })
			if kind == spiceproto.ChannelDisplay {
				return r.cfg.beginDisplay(ch, s.init.RAMHint)
			}
			return nil
		})
	}
	var cursor *channel
	link(&r.displayChannel, spiceproto.ChannelDisplay, r.display.handle)
	link(&r.inputsChannel, spiceproto.ChannelInputs, ignore)
	link(&cursor, spiceproto.ChannelCursor, ignore)
	return links.Wait()
}
