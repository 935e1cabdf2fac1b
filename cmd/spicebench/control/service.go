package control

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// service is the Daemon as gRPC sees it.
type service struct {
	kerbsidepb.UnimplementedKerbsideProxyServer
	*Daemon
}

func (s service) AuthorizeConnection(ctx context.Context, r *kerbsidepb.AuthorizeConnectionRequest) (*kerbsidepb.AuthorizeConnectionReply, error) {
	rule := s.arrive("AuthorizeConnection", r)
	if err := s.obey(ctx, rule); err != nil {
		return nil, err
	}
	o := s.options
	switch {
	case rule.Answer == Empty:
		return &kerbsidepb.AuthorizeConnectionReply{}, nil
	case rule.Answer == Deny:
		return denied(rule.Text), nil
	case o.DenyAll || slices.Contains(o.DenyTokens, r.GetToken()):
		return denied("client token invalid"), nil
	}
	s.authorized(r.GetConnectionRef())
	return &kerbsidepb.AuthorizeConnectionReply{
		Result:         &kerbsidepb.AuthorizeConnectionReply_Target{Target: o.Target},
		FirewallPolicy: o.Policy,
	}, nil
}

func denied(reason string) *kerbsidepb.AuthorizeConnectionReply {
	return &kerbsidepb.AuthorizeConnectionReply{
		Result: &kerbsidepb.AuthorizeConnectionReply_Denied{Denied: &kerbsidepb.Denied{Reason: reason}},
	}
}

// authorized notes the session of a channel.
func (d *Daemon) authorized(ref string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	session := d.options.Target.GetSessionId()
	d.channels[ref] = session
	if d.options.TerminateAfter > 0 && d.timer == nil {
		d.timer = time.AfterFunc(d.options.TerminateAfter, func() { d.Terminate(session) })
	}
	d.tellChange()
}

func (s service) RegisterChannel(ctx context.Context, r *kerbsidepb.RegisterChannelRequest) (*kerbsidepb.StatusReply, error) {
	return s.status(ctx, s.arrive("RegisterChannel", r), func() {
		if _, known := s.channels[r.GetConnectionRef()]; !known {
			s.channels[r.GetConnectionRef()] = ""
		}
	})
}

func (s service) RecordAuditEvent(ctx context.Context, r *kerbsidepb.AuditEventRequest) (*kerbsidepb.StatusReply, error) {
	return s.status(ctx, s.arrive("RecordAuditEvent", r), func() {})
}

func (s service) DeregisterChannel(ctx context.Context, r *kerbsidepb.DeregisterChannelRequest) (*kerbsidepb.StatusReply, error) {
	return s.status(ctx, s.arrive("DeregisterChannel", r), func() { delete(s.channels, r.GetConnectionRef()) })
}

func (s service) ClearNodeChannels(ctx context.Context, r *kerbsidepb.ClearNodeChannelsRequest) (*kerbsidepb.StatusReply, error) {
	return s.status(ctx, s.arrive("ClearNodeChannels", r), func() { clear(s.channels) })
}

// status answers a call that changes the channels.
func (s service) status(ctx context.Context, rule Rule, change func()) (*kerbsidepb.StatusReply, error) {
	if err := s.obey(ctx, rule); err != nil {
		return nil, err
	}
	if rule.Answer != Usual {
		return &kerbsidepb.StatusReply{Error: rule.Text}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.tellChange()
	return &kerbsidepb.StatusReply{Success: true}, nil
}

func (s service) ProxyControl(r *kerbsidepb.ProxyControlRequest, stream grpc.ServerStreamingServer[kerbsidepb.ProxyControlEvent]) error {
	rule := s.arrive("ProxyControl", r)
	if err := s.obey(stream.Context(), rule); err != nil {
		return err
	}
	beat := time.NewTicker(s.options.Heartbeat)
	defer beat.Stop()
	event := heartbeat()
	if rule.Answer == Empty {
		event = &kerbsidepb.ProxyControlEvent{} // of a kind that nobody knows
	}
	if err := stream.Send(event); err != nil {
		return err
	}
	for sent := 0; ; {
		s.mu.Lock()
		ids, changed := s.terminated[sent:], s.changed
		s.mu.Unlock()
		for _, id := range ids {
			if err := stream.Send(terminate(id)); err != nil {
				return err
			}
		}
		sent += len(ids)
		select {
		case <-changed:
		case <-beat.C:
			if err := stream.Send(heartbeat()); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}

func heartbeat() *kerbsidepb.ProxyControlEvent {
	return &kerbsidepb.ProxyControlEvent{Event: &kerbsidepb.ProxyControlEvent_Heartbeat{Heartbeat: &kerbsidepb.Heartbeat{}}}
}

func terminate(id string) *kerbsidepb.ProxyControlEvent {
	return &kerbsidepb.ProxyControlEvent{
		Event: &kerbsidepb.ProxyControlEvent_TerminateSession{TerminateSession: &kerbsidepb.TerminateSession{SessionId: id}},
	}
}
