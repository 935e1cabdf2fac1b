package session

import (
	"cmp"
	"context"
	"slices"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session/authz"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// permit denies channel types that the settings do not permit; no mode softens
// that. The console's log tells so before the client learns it.
func (s *Server) permit(ctx context.Context, c *client, t authz.Target) error {
	permitted := s.cfg.Firewall.Permitted
	if len(permitted) == 0 || slices.Contains(permitted, c.link.Type) {
		return nil
	}
	c.log.Warn(authz.NotPermitted)
	s.audit(ctx, c, t, authz.AuditNotPermitted)
	c.audits.Wait()
	return &authz.Denied{Reason: authz.NotPermitted}
}

// newGuard returns what judges the messages of c, relayed in the given mode; nil
// for nothing.
func (s *Server) newGuard(c *client, mode pacer.Mode) *firewall.Channel {
	cfg := s.cfg.Firewall.Config
	cfg.Mode = cmp.Or(cfg.Mode, c.target.Firewall)
	_, offered := spiceproto.ServerCaps(c.link.Type)
	fresh := s.registry.fresh(c.ref)
	guard := firewall.New(cfg, spiceproto.MachineConfig{
		Channel: c.link.Type, Client: c.link.Channel, Server: offered,
		MigrationTarget: !fresh, SoleDisplay: fresh, ForeignAcks: mode == pacer.Adaptive,
	}, c.log)
	if c.link.Type == spiceproto.ChannelDisplay {
		s.registry.shareCache(c.ref, guard)
	}
	return guard
}

// auditVerdicts adds what the firewall objected to on c to its console's log.
func (s *Server) auditVerdicts(ctx context.Context, c *client, guard *firewall.Channel) {
	if guard == nil {
		return
	}
	if summary := guard.Summary(); summary != "" {
		c.log.Info("firewall summary", zap.String("audit", summary))
		s.audit(ctx, c, c.target, summary)
	}
}
