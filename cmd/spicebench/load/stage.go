package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"spicepacer/spiceproto"
)

// stage is where the connection of a client fails, if it does.
type stage int

const (
	stageNone stage = iota
	stageTLS
	stageLink
	stageToken
	stageRefused
	stageHypervisor
	stageLeave
)

// stages lists all of them.
var stages = []stage{stageNone, stageTLS, stageLink, stageToken, stageRefused, stageHypervisor, stageLeave}

// String says what happens.
func (s stage) String() string {
	return [...]string{
		stageNone:       "none: up, then closed",
		stageTLS:        "TLS handshake",
		stageLink:       "link message",
		stageToken:      "wrong token",
		stageRefused:    "hypervisor refuses the connection",
		stageHypervisor: "hypervisor answers with an error",
		stageLeave:      "client leaves after the link stage",
	}[s]
}

// course is the order in which the connections of a churn fail: a tenth of them
// at each stage.
var course = [10]stage{
	stageNone, stageTLS, stageLink, stageNone, stageToken, stageRefused, stageNone, stageHypervisor, stageLeave, stageNone,
}

// attempt connects as the client of a number and fails at the stage. It calls
// decided when the outcome is known, which a channel that is up outlives by
// the time stay. The error tells what went otherwise.
func (v viewers) attempt(ctx context.Context, client int, s stage, stay time.Duration, decided func()) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("no outcome within %v", startTimeout))
	defer cancel()
	kind := kinds[client%len(kinds)]
	switch s {
	case stageTLS:
		return after(v.breakTLS(ctx, client), decided)
	case stageLink:
		return after(v.breakLink(ctx, client), decided)
	case stageToken:
		return after(v.wantRefusal(ctx, client, kind, "not "+tokenServed, spiceproto.LinkErrPermissionDenied), decided)
	case stageRefused:
		return after(v.wantRefusal(ctx, client, kind, tokenDead, spiceproto.LinkErrError), decided)
	case stageHypervisor:
		return after(v.wantRefusal(ctx, client, kind, tokenFailing, spiceproto.LinkErrError), decided)
	case stageLeave:
		ch, err := v.link(ctx, client, kind, 0, tokenServed)
		if err == nil {
			ch.cut()
		}
		return after(err, decided)
	}
	ch, err := v.open(ctx, client, kind, 0)
	decided()
	if err != nil {
		return err
	}
	defer ch.conn.Close()
	select {
	case <-time.After(stay):
	case <-ctx.Done():
	}
	return nil
}

func after(err error, decided func()) error {
	decided()
	return err
}

// breakTLS sends what is no handshake, and waits until the proxy hangs up.
func (v viewers) breakTLS(ctx context.Context, client int) error {
	sock, err := v.dial(ctx, client)
	if err != nil {
		return err
	}
	defer sock.Close()
	defer context.AfterFunc(ctx, func() { sock.Close() })()
	if _, err := sock.Write(linkMess(spiceproto.ChannelMain, 0).Append(nil)); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, sock)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil // a reset ends it as well as anything
}

// breakLink sends a link message of another protocol.
func (v viewers) breakLink(ctx context.Context, client int) error {
	conn, err := v.secure(ctx, client)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.NetConn().Close() })()
	if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		return err
	}
	reply, err := spiceproto.ReadLinkReply(conn)
	if err == nil && reply.Error != spiceproto.LinkErrInvalidMagic {
		err = fmt.Errorf("answered with %v", reply.Error)
	}
	return err
}

// wantRefusal links with a token that does not lead to a channel.
func (v viewers) wantRefusal(ctx context.Context, client int, kind spiceproto.ChannelType, token string, want spiceproto.LinkError) error {
	ch, err := v.link(ctx, client, kind, 0, token)
	switch {
	case err == nil:
		ch.cut()
		return errors.New("linked")
	case errors.Is(err, want):
		return nil
	}
	return err
}
