// Package kerbside asks the Kerbside daemon of this node who may connect where,
// tells it of every channel, and ends sessions when it says so. It speaks gRPC
// over a unix socket; kerbsidepb/kerbside.proto is the contract.
//
//	daemon, err := kerbside.New(kerbside.Config{Socket: "/run/kerbside/api.sock", Node: "kerbside", Timeout: 10 * time.Second}, log)
//	defer daemon.Close()
//	err = daemon.ClearNodeChannels(ctx)
//	server, err := session.New(cfg, session.Deps{Authorizer: daemon, Registrar: daemon, ...})
//	go daemon.Control(ctx, server)
package kerbside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// Config says where the daemon is. All fields are required.
type Config struct {
	// Socket is the path of the daemon's unix socket, below 108 bytes.
	Socket string
	// Node is this node's name, which must be the daemon's own.
	Node string
	// Timeout bounds every call.
	Timeout time.Duration
}

// Client is an authz.Authorizer and an authz.Registrar that asks the daemon. It
// needs no daemon to be there: calls fail until there is one.
type Client struct {
	cfg  Config
	log  *zap.Logger
	conn *grpc.ClientConn
	rpc  kerbsidepb.KerbsideProxyClient

	channels *channels

	// Seams for tests.
	silence                     time.Duration
	shortestPause, longestPause time.Duration
}

const (
	// dialPause and dialPauseMost bound how long after a daemon's restart a call
	// still fails at once: the connection is tried again no sooner.
	dialPause, dialPauseMost = 50 * time.Millisecond, time.Second
	// silence is how long the control stream may bring nothing: three of the
	// daemon's heartbeats.
	silence = 90 * time.Second
	// shortestPause and longestPause bound the time between two attempts to open
	// the control stream. While it is down no session can be terminated.
	shortestPause, longestPause = 100 * time.Millisecond, 10 * time.Second
)

// New makes a Client. It does not connect; only an unusable configuration is an
// error.
func New(cfg Config, log *zap.Logger) (*Client, error) {
	if cfg.Socket == "" || cfg.Node == "" || cfg.Timeout <= 0 {
		return nil, errors.New("kerbside: socket, node and timeout are required")
	}
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", cfg.Socket)
	}
	conn, err := grpc.NewClient("passthrough:///kerbside",
		grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: dialPause, Multiplier: 2, Jitter: 0.2, MaxDelay: dialPauseMost},
			MinConnectTimeout: cfg.Timeout,
		}),
		grpc.WithDisableServiceConfig())
	if err != nil {
		return nil, fmt.Errorf("kerbside: %w", err)
	}
	return &Client{
		cfg: cfg, log: log, conn: conn, rpc: kerbsidepb.NewKerbsideProxyClient(conn),
		channels: newChannels(),
		silence:  silence, shortestPause: shortestPause, longestPause: longestPause,
	}, nil
}

// Close ends the connection to the daemon and all calls.
func (c *Client) Close() error { return c.conn.Close() }

// CallError tells which call to the daemon failed, and why. Err is a gRPC
// status, for status.Code, or wraps ErrNotDone or ErrReply.
type CallError struct {
	Method string
	Socket string
	Err    error
}

func (e *CallError) Error() string {
	text := e.Err.Error()
	if s, ok := status.FromError(e.Err); ok {
		text = fmt.Sprintf("%v: %s", s.Code(), s.Message())
	}
	return fmt.Sprintf("%s on unix:%s: %s", e.Method, e.Socket, text)
}

func (e *CallError) Unwrap() error { return e.Err }

var (
	// ErrNotDone is a reply that says success=false.
	ErrNotDone = errors.New("the daemon reports a failure")
	// ErrReply is a reply that makes no sense.
	ErrReply = errors.New("unusable reply")
)

// call makes one call within the time limit.
func call[Req, Reply any](ctx context.Context, c *Client, method string, f func(context.Context, Req, ...grpc.CallOption) (Reply, error), request Req) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	reply, err := f(ctx, request)
	if err != nil {
		err = &CallError{Method: method, Socket: c.cfg.Socket, Err: err}
	}
	return reply, err
}

// tell makes a call whose reply is only whether it was done.
func tell[Req any](ctx context.Context, c *Client, method string, f func(context.Context, Req, ...grpc.CallOption) (*kerbsidepb.StatusReply, error), request Req) error {
	reply, err := call(ctx, c, method, f, request)
	if err == nil && !reply.GetSuccess() {
		err = &CallError{Method: method, Socket: c.cfg.Socket, Err: fmt.Errorf("%w: %q", ErrNotDone, reply.GetError())}
	}
	return err
}
