package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"spicepacer/session/authz"
	"spicepacer/spiceproto"
)

// redirect answers a link message with NEED_SECURED.
func (s *Server) redirect(c *client) error {
	err := s.readLink(c, s.cfg.Timeouts.Redirect)
	if err == nil {
		err = c.refuse(spiceproto.LinkReply{Error: spiceproto.LinkErrNeedSecured}.Append(nil))
	}
	if err != nil {
		return &failure{LinkFailed, err}
	}
	return &failure{Redirected, spiceproto.LinkErrNeedSecured}
}

// readLink reads and checks the link message. A message against the rules gets
// the error reply that spice-server would give.
func (s *Server) readLink(c *client, limit time.Duration) error {
	c.limit(limit)
	link, err := spiceproto.ReadLinkMess(c.conn)
	if err != nil {
		if format, ok := errors.AsType[*spiceproto.LinkFormatError](err); ok && format.Reply != spiceproto.LinkOK {
			c.refuse(spiceproto.LinkReply{Error: format.Reply}.Append(nil))
		}
		return inTime(err, "link message", limit)
	}
	if !link.Type.Valid() {
		return fmt.Errorf("link message: unknown channel type %d", link.Type)
	}
	c.link = link
	c.log = c.log.With(zap.Stringer("channel_type", link.Type), zap.Uint8("channel_id", link.ID))
	return nil
}

var errMechanism = errors.New("client chose an authentication mechanism that was not offered")

// offeredCaps are the capabilities of spice-server, as far as the client shares
// those that decide how both go on: spice-server goes by what the client
// advertises, spice-gtk by what the server does, and both come to the same only
// if neither has more than the other.
func offeredCaps(client spiceproto.LinkMess) (common, channel spiceproto.Caps) {
	common, channel = spiceproto.ServerCaps(client.Type)
	for _, bit := range []int{spiceproto.CapAuthSelection, spiceproto.CapMiniHeader} {
		if !client.Common.Has(bit) {
			common = common.Without(bit)
		}
	}
	return common, channel
}

// fullHeaders tells that the messages of both legs have full headers. The client
// decides: it was answered before the hypervisor was known.
func fullHeaders(client spiceproto.LinkMess) bool {
	return !client.Common.Has(spiceproto.CapMiniHeader)
}

// readToken answers the link message with a key and the capabilities of
// spice-server, and decrypts the client's ticket. A key that no ticket comes back
// for counts as a refused token: it cost as much.
func (s *Server) readToken(ctx context.Context, c *client) (authz.Secret, error) {
	c.limit(s.cfg.Timeouts.Link)
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeouts.Link)
	defer cancel()
	_, encrypted := c.conn.(*tls.Conn)
	key, err := s.keys.take(ctx, encrypted)
	if err != nil {
		return "", inTime(err, "wait for a ticket key", s.cfg.Timeouts.Link)
	}
	token, err := s.exchange(c, key)
	if err != nil {
		s.permits.failures.book(c.peer.Addr(), time.Now())
	}
	switch {
	case errors.Is(err, errMechanism):
		c.refuse(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrInvalidData))
	case errors.Is(err, spiceproto.ErrTicket):
		c.refuse(spiceproto.AppendLinkResult(nil, spiceproto.LinkErrPermissionDenied))
	}
	return token, err
}

// exchange sends the key and reads the ticket made with it.
func (s *Server) exchange(c *client, key *spiceproto.TicketKey) (authz.Secret, error) {
	reply := spiceproto.LinkReply{PubKey: key.PubKey()}
	reply.Common, reply.Channel = offeredCaps(c.link)
	if _, err := c.conn.Write(reply.Append(nil)); err != nil {
		return "", inTime(err, "link reply", s.cfg.Timeouts.Link)
	}
	token, err := readTicket(c.conn, reply.Common, key)
	if err != nil {
		return "", inTime(err, "ticket", s.cfg.Timeouts.Link)
	}
	return token, nil
}

// readTicket reads the client's ticket, and before it the mechanism if both
// advertised the choice.
func readTicket(r io.Reader, agreed spiceproto.Caps, key *spiceproto.TicketKey) (authz.Secret, error) {
	if agreed.Has(spiceproto.CapAuthSelection) {
		mechanism, err := spiceproto.ReadAuthMechanism(r)
		if err != nil {
			return "", err
		}
		if mechanism != spiceproto.AuthMechanismSpice {
			return "", fmt.Errorf("%w: %d", errMechanism, mechanism)
		}
	}
	var blob [spiceproto.TicketSize]byte
	if _, err := io.ReadFull(r, blob[:]); err != nil {
		return "", err
	}
	token, err := key.Decrypt(&blob)
	return authz.Secret(token), err
}

// confirm tells the client that its link stage succeeded and lifts its limit.
func (s *Server) confirm(c *client) error {
	c.limit(s.cfg.Timeouts.Link)
	if _, err := c.conn.Write(spiceproto.AppendLinkResult(nil, spiceproto.LinkOK)); err != nil {
		return inTime(err, "link result", s.cfg.Timeouts.Link)
	}
	return c.conn.SetDeadline(time.Time{})
}
