package kerbside

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.uber.org/zap"
	"google.golang.org/grpc/status"

	"spicepacer/session/authz"
	"spicepacer/session/authz/kerbside/kerbsidepb"
	"spicepacer/session/firewall"
	"spicepacer/spiceproto"
)

// Authorize asks for the console that the token opens. A channel type that the
// policy does not permit is denied, and the console's log tells so before the
// client learns it.
func (c *Client) Authorize(ctx context.Context, r authz.Request) (authz.Target, error) {
	reply, err := call(ctx, c, "AuthorizeConnection", c.rpc.AuthorizeConnection, &kerbsidepb.AuthorizeConnectionRequest{
		Token:         string(r.Token),
		ConnectionRef: r.Ref,
		ClientIp:      clientIP(r.Channel),
		ClientPort:    uint32(r.Client.Port()),
		ConnectionId:  r.ConnectionID,
		ChannelType:   r.Type.String(),
		ChannelId:     uint32(r.ID),
	})
	if err != nil {
		return authz.Target{}, withoutSecret(err, r.Token)
	}
	switch result := reply.GetResult().(type) {
	case *kerbsidepb.AuthorizeConnectionReply_Denied:
		return authz.Target{}, &authz.Denied{Reason: hide(result.Denied.GetReason(), r.Token)}
	case *kerbsidepb.AuthorizeConnectionReply_Target:
		target, err := targetOf(result.Target)
		if err != nil {
			return authz.Target{}, &CallError{Method: "AuthorizeConnection", Socket: c.cfg.Socket, Err: err}
		}
		target.Firewall = modeOf(reply.GetFirewallPolicy())
		return target, c.checkPolicy(ctx, r.Channel, target, reply.GetFirewallPolicy())
	}
	return authz.Target{}, &CallError{
		Method: "AuthorizeConnection", Socket: c.cfg.Socket,
		Err: fmt.Errorf("%w: neither a target nor a denial", ErrReply),
	}
}

// checkPolicy denies channel types that are not permitted; the policy's mode
// does not soften that.
func (c *Client) checkPolicy(ctx context.Context, ch authz.Channel, t authz.Target, p *kerbsidepb.FirewallPolicy) error {
	if permits(p, ch.Type) {
		return nil
	}
	log := c.log.With(zap.String("connection_ref", ch.Ref), zap.Stringer("channel_type", ch.Type))
	log.Warn(authz.NotPermitted)
	if err := c.Audit(ctx, ch, t, authz.AuditNotPermitted); err != nil {
		log.Warn("RecordAuditEvent failed; continuing", zap.String("audit", authz.AuditNotPermitted), zap.Error(err))
	}
	return &authz.Denied{Reason: authz.NotPermitted}
}

// modeOf is Enforce without a policy, and for numbers that are no modes.
func modeOf(p *kerbsidepb.FirewallPolicy) firewall.Mode {
	if p.GetMode() == kerbsidepb.FirewallPolicy_WARN_ONLY {
		return firewall.WarnOnly
	}
	return firewall.Enforce
}

// permits tells whether a channel of type t may be opened. An empty list permits
// all; numbers that are no channel types permit nothing.
func permits(p *kerbsidepb.FirewallPolicy, t spiceproto.ChannelType) bool {
	permitted := p.GetPermittedChannels()
	return len(permitted) == 0 || slices.Contains(permitted, uint32(t))
}

// targetOf translates the daemon's target. Ports that are none are an error
// rather than cut to 16 bits, which would reach another server.
func targetOf(t *kerbsidepb.Target) (authz.Target, error) {
	for name, port := range map[string]uint32{"insecure_port": t.GetInsecurePort(), "secure_port": t.GetSecurePort()} {
		if port > math.MaxUint16 {
			return authz.Target{}, fmt.Errorf("%w: %s %d is outside 0..65535", ErrReply, name, port)
		}
	}
	target := authz.Target{
		Name:         t.GetHypervisor(),
		Hypervisor:   t.GetHypervisor(),
		InsecurePort: uint16(t.GetInsecurePort()),
		SecurePort:   uint16(t.GetSecurePort()),
		Ticket:       authz.Secret(t.GetTicket()),
		CACert:       t.GetCaCert(),
		HostSubject:  t.GetHostSubject(),
		Source:       t.GetSource(),
		UUID:         t.GetUuid(),
		SessionID:    t.GetSessionId(),
	}
	// The address of a hypervisor that is reached through a unix socket is of no
	// use, but daemons know one for every hypervisor.
	if _, unix := target.UnixPath(); !unix {
		target.Hypervisor = cmp.Or(t.GetHypervisorIp(), target.Hypervisor)
	}
	return target, nil
}

// clientIP is the client's address without port or zone; empty when it has none.
func clientIP(ch authz.Channel) string {
	if a := ch.Client.Addr(); a.IsValid() {
		return a.WithZone("").String()
	}
	return ""
}

// hide takes the token out of what the daemon says about it.
func hide(text string, token authz.Secret) string {
	if token == "" {
		return text
	}
	return strings.ReplaceAll(text, string(token), token.String())
}

// withoutSecret makes an error of Authorize fit for the log.
func withoutSecret(err error, token authz.Secret) error {
	if token == "" || !strings.Contains(err.Error(), string(token)) {
		return err
	}
	e := err.(*CallError) // what call returns
	e.Err = status.Error(status.Code(e.Err), hide(status.Convert(e.Err).Message(), token))
	return e
}
