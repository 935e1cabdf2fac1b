package session

import (
	"context"

	"go.uber.org/zap"

	"spicepacer/session/authz"
)

// channel is what the registrar and the authorizer know the connection by.
func (c *client) channel() authz.Channel {
	return authz.Channel{
		Ref: c.ref, Client: c.peer,
		ConnectionID: c.link.ConnectionID, Type: c.link.Type, ID: c.link.ID,
	}
}

// register enters c, whose link message was accepted.
func (s *Server) register(ctx context.Context, c *client) error {
	if s.registrar == nil {
		return nil
	}
	if err := s.registrar.Register(ctx, c.channel()); err != nil {
		return &failure{RegisterFailed, err}
	}
	c.registered = true
	return nil
}

// audit adds a line to the log of c's console. It does not hold up the channel:
// lines are sent in order, beside it.
func (s *Server) audit(ctx context.Context, c *client, t authz.Target, message string) {
	if !c.registered {
		return
	}
	ctx = context.WithoutCancel(ctx) // the last line may come after the end
	c.audits.Wait()
	c.audits.Go(func() {
		if err := s.registrar.Audit(ctx, c.channel(), t, message); err != nil {
			c.log.Warn("RecordAuditEvent failed; continuing", zap.String("audit", message), zap.Error(err))
		}
	})
}

// deregister ends what register began, also while the proxy stops.
func (s *Server) deregister(ctx context.Context, c *client) {
	if !c.registered {
		return
	}
	c.audits.Wait()
	if err := s.registrar.Deregister(context.WithoutCancel(ctx), c.channel()); err != nil {
		c.log.Warn("DeregisterChannel failed; continuing", zap.Error(err))
	}
}
