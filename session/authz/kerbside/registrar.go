package kerbside

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// channels are those that the daemon was told of and that have not ended.
type channels struct {
	mu    sync.Mutex
	byRef map[string]*registration
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

// ClearNodeChannels removes what an earlier run of this node left. It belongs
// before the first channel.
func (c *Client) ClearNodeChannels(ctx context.Context) error {
	return tell(ctx, c, "ClearNodeChannels", c.rpc.ClearNodeChannels, &kerbsidepb.ClearNodeChannelsRequest{Node: c.cfg.Node})
}

// Register implements authz.Registrar.
func (c *Client) Register(ctx context.Context, ch authz.Channel) error {
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

// Deregister implements authz.Registrar.
func (c *Client) Deregister(ctx context.Context, ch authz.Channel) error {
	if r := c.channels.remove(ch.Ref); r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended = true
	}
	return tell(ctx, c, "DeregisterChannel", c.rpc.DeregisterChannel, &kerbsidepb.DeregisterChannelRequest{
		Node: c.cfg.Node, ConnectionRef: ch.Ref,
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

// list enters all live channels again, after the daemon was away: it may have
// lost them. Entering a channel that it knows changes nothing there.
func (c *Client) list(ctx context.Context) {
	listed := 0
	for _, r := range c.channels.all() {
		done, err := c.reenter(ctx, r)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.log.Warn("live channel not listed again", zap.String("connection_ref", r.channel.Ref), zap.Error(err))
		case done:
			listed++
		}
	}
	if listed > 0 {
		c.log.Info("live channels listed again", zap.String("node", c.cfg.Node), zap.Int("channels", listed))
	}
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
