package kerbside

import (
	"context"
	"maps"
	"slices"
	"sync"

	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// channels are those that the daemon was told of.
type channels struct {
	mu sync.Mutex
	// byRef are those that have not ended, by connection reference.
	byRef map[string]*registration
	// owed are those whose end the daemon could not be told, mostOwed at most.
	owed map[string]bool
	// uncleared tells that what an earlier run left may still be there.
	uncleared bool
	// entering is held by everyone who enters a channel, and all of it while the
	// node's channels are cleared.
	entering sync.RWMutex
}

// mostOwed bounds what a daemon that stays away costs.
const mostOwed = 10_000

func newChannels() *channels {
	return &channels{byRef: make(map[string]*registration), owed: make(map[string]bool)}
}

// registration is one channel's. Its lock keeps the calls about the channel in
// order, so that it is never entered again after it was removed.
type registration struct {
	channel authz.Channel
	mu      sync.Mutex
	ended   bool
}

func (c *channels) add(ch authz.Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byRef[ch.Ref] = &registration{channel: ch}
}

func (c *channels) remove(ref string) *registration {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.byRef[ref]
	delete(c.byRef, ref)
	return r
}

func (c *channels) all() []*registration {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*registration, 0, len(c.byRef))
	for _, r := range c.byRef {
		all = append(all, r)
	}
	return all
}

// owe remembers that the daemon has to be told of an end, settle that it was.
func (c *channels) owe(ref string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.owed) < mostOwed {
		c.owed[ref] = true
	}
}

func (c *channels) settle(ref string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owed, ref)
}

func (c *channels) debts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.owed))
}

// setCleared notes what ClearNodeChannels came to.
func (c *channels) setCleared(done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uncleared = !done
}

// mayClear tells that clearing is due and costs no live channel.
func (c *channels) mayClear() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uncleared && len(c.byRef) == 0
}

// ClearNodeChannels removes what an earlier run of this node left. It belongs
// before the first channel; if it fails, Control does it when the daemon is
// there, provided that no channel is by then.
func (c *Client) ClearNodeChannels(ctx context.Context) error {
	err := tell(ctx, c, "ClearNodeChannels", c.rpc.ClearNodeChannels, &kerbsidepb.ClearNodeChannelsRequest{Node: c.cfg.Node})
	c.channels.setCleared(err == nil)
	return err
}

// Register implements authz.Registrar.
func (c *Client) Register(ctx context.Context, ch authz.Channel) error {
	c.channels.entering.RLock()
	defer c.channels.entering.RUnlock()
	if err := c.enter(ctx, ch); err != nil {
		return err
	}
	c.channels.add(ch)
	return nil
}

func (c *Client) enter(ctx context.Context, ch authz.Channel) error {
	return tell(ctx, c, "RegisterChannel", c.rpc.RegisterChannel, &kerbsidepb.RegisterChannelRequest{
		Node:          c.cfg.Node,
		ConnectionRef: ch.Ref,
		ClientIp:      clientIP(ch),
		ClientPort:    uint32(ch.Client.Port()),
		ConnectionId:  ch.ConnectionID,
		ChannelType:   ch.Type.String(),
		ChannelId:     uint32(ch.ID),
	})
}

// Deregister implements authz.Registrar. After an error, Control tells the daemon
// when it is there again.
func (c *Client) Deregister(ctx context.Context, ch authz.Channel) error {
	if r := c.channels.remove(ch.Ref); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended = true
	}
	err := c.remove(ctx, ch.Ref)
	if err != nil {
		c.channels.owe(ch.Ref)
	}
	return err
}

func (c *Client) remove(ctx context.Context, ref string) error {
	return tell(ctx, c, "DeregisterChannel", c.rpc.DeregisterChannel, &kerbsidepb.DeregisterChannelRequest{
		Node: c.cfg.Node, ConnectionRef: ref,
	})
}

// Audit implements authz.Registrar.
func (c *Client) Audit(ctx context.Context, ch authz.Channel, t authz.Target, message string) error {
	return tell(ctx, c, "RecordAuditEvent", c.rpc.RecordAuditEvent, &kerbsidepb.AuditEventRequest{
		Source:        t.Source,
		Uuid:          t.UUID,
		SessionId:     t.SessionID,
		Channel:       ch.Type.String(),
		Node:          c.cfg.Node,
		ConnectionRef: ch.Ref,
		Message:       message,
	})
}

// reconcile tells the daemon what it has missed. If it may have been away, it is
// told of all live channels too: it may have lost them, and entering a channel
// that it knows changes nothing there.
func (c *Client) reconcile(ctx context.Context, away bool) {
	if err := c.clearLate(ctx); err != nil {
		c.log.Warn("ClearNodeChannels failed; continuing", zap.Error(err))
	}
	removed := c.settleDebts(ctx)
	listed := 0
	if away {
		listed = c.list(ctx)
	}
	if listed+removed > 0 {
		c.log.Info("live channels listed again", zap.String("node", c.cfg.Node), zap.Int("channels", listed), zap.Int("ended", removed))
	}
}

// settleDebts tells of the ends that could not be told, and counts them.
func (c *Client) settleDebts(ctx context.Context) (removed int) {
	for _, ref := range c.channels.debts() {
		err := c.remove(ctx, ref)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			c.log.Warn("ended channel not removed", zap.String("connection_ref", ref), zap.Error(err))
			continue
		}
		c.channels.settle(ref)
		removed++
	}
	return removed
}

// list enters all live channels again and counts them.
func (c *Client) list(ctx context.Context) (listed int) {
	for _, r := range c.channels.all() {
		live, err := c.reenter(ctx, r)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			c.log.Warn("live channel not listed again", zap.String("connection_ref", r.channel.Ref), zap.Error(err))
		} else if live {
			listed++
		}
	}
	return listed
}

// clearLate does what could not be done at the start.
func (c *Client) clearLate(ctx context.Context) error {
	c.channels.entering.Lock()
	defer c.channels.entering.Unlock()
	if !c.channels.mayClear() {
		return nil
	}
	return c.ClearNodeChannels(ctx)
}

// reenter tells whether the channel was still there.
func (c *Client) reenter(ctx context.Context, r *registration) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false, nil
	}
	return true, c.enter(ctx, r.channel)
}
