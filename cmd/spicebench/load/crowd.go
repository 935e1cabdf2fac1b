package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"spicepacer/spiceproto"
)

// atOnce is how many channels of the crowd are being opened at a time.
const atOnce = 16

// crowd are sessions that stay.
type crowd struct {
	viewers
	sessions []uint32 // their numbers, by client; known when main is up

	channels []*channel
	leaving  atomic.Bool
	lost     atomic.Int64 // channels that ended by themselves
	reading  sync.WaitGroup
}

func newCrowd(v viewers, sessions int) *crowd {
	return &crowd{viewers: v, sessions: make([]uint32, sessions)}
}

// open opens a channel of a type in each session. Main comes first.
func (c *crowd) open(ctx context.Context, kind spiceproto.ChannelType) error {
	opened := make([]*channel, len(c.sessions))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, session := range c.sessions {
		g.Go(func() (err error) {
			opened[i], err = c.viewers.open(ctx, i, kind, session)
			return err
		})
	}
	err := g.Wait()
	for i, ch := range opened {
		if ch == nil {
			continue
		}
		if kind == spiceproto.ChannelMain {
			c.sessions[i] = ch.session
		}
		c.channels = append(c.channels, ch)
		c.reading.Go(func() { c.watch(ch) })
	}
	if err != nil {
		return fmt.Errorf("open the sessions: %w", err)
	}
	return nil
}

// watch counts a channel that does not stay.
func (c *crowd) watch(ch *channel) {
	ch.stay()
	if !c.leaving.Load() {
		c.lost.Add(1)
	}
}

// leave closes all channels.
func (c *crowd) leave() {
	c.leaving.Store(true)
	for _, ch := range c.channels {
		ch.cut()
	}
	c.reading.Wait()
	c.channels = nil
}
