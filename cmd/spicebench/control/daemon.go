// Package control stands in for the Kerbside daemon in tests and labs: it serves
// the proxy's control plane on a unix socket, answers as it is told to, and keeps
// a record of every call.
//
//	d, err := control.Start(control.Options{Socket: path, Target: &kerbsidepb.Target{Hypervisor: "127.0.0.1", InsecurePort: 5930, SessionId: "s"}})
//	defer d.Stop()
//	d.On("RegisterChannel", control.Rule{Times: 1, Answer: control.Fail, Code: codes.Internal})
//	call, err := d.Next(ctx)
//	d.Terminate("s")
package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// Options say what the daemon serves.
type Options struct {
	// Socket is the unix socket's path, below 108 bytes.
	Socket string
	// Target is what every token opens that is not denied.
	Target *kerbsidepb.Target
	// Policy goes with the target; nil: none does.
	Policy *kerbsidepb.FirewallPolicy
	// DenyTokens are refused; DenyAll refuses every token.
	DenyTokens []string
	DenyAll    bool
	// Heartbeat is the interval of heartbeats on control streams; 0: 5 s.
	Heartbeat time.Duration
	// TerminateAfter terminates the target's session this long after the first
	// authorization; 0: never.
	TerminateAfter time.Duration
	// Record gets a JSON line for every call; nil: none.
	Record io.Writer
}

// running is one life of the daemon.
type running struct {
	server   *grpc.Server
	listener net.Listener
}

const defaultHeartbeat = 5 * time.Second

// Daemon is a control plane. It is safe for concurrent use.
type Daemon struct {
	options Options

	// lifecycle is held while a server starts or stops, before mu.
	lifecycle sync.Mutex

	mu      sync.Mutex
	running *running // nil while it is stopped
	rules   map[string]Rule
	calls   []Call
	read    int // calls that Next has returned
	// channels are the rows of the real daemon's database: session by connection
	// reference. They outlive a restart.
	channels map[string]string
	// terminated are sessions to end, in order.
	terminated []string
	timer      *time.Timer // of TerminateAfter
	// changed is closed and replaced when anything above changes.
	changed chan struct{}
}

// Start serves until Stop.
func Start(o Options) (*Daemon, error) {
	if o.Heartbeat == 0 {
		o.Heartbeat = defaultHeartbeat
	}
	d := &Daemon{
		options: o, rules: make(map[string]Rule), channels: make(map[string]string), changed: make(chan struct{}),
	}
	return d, d.Restart()
}

// Restart serves again after Stop; before, it stops.
func (d *Daemon) Restart() error {
	d.Stop()
	d.lifecycle.Lock()
	defer d.lifecycle.Unlock()
	l, err := listen(d.options.Socket)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	server := grpc.NewServer(grpc.WaitForHandlers(true))
	kerbsidepb.RegisterKerbsideProxyServer(server, service{Daemon: d})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = &running{server, l}
	go server.Serve(l)
	return nil
}

// listen takes over the socket of a daemon that was killed.
func listen(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	if c, dialled := net.Dial("unix", path); dialled == nil {
		c.Close()
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}

// Stop ends all calls as a killed daemon would and removes the socket.
func (d *Daemon) Stop() {
	d.mu.Lock()
	life := d.running
	if d.timer != nil {
		d.timer.Stop()
	}
	d.mu.Unlock()
	d.end(life)
}

// end ends one life, and no other that has come after it.
func (d *Daemon) end(life *running) {
	if life == nil {
		return
	}
	d.lifecycle.Lock()
	defer d.lifecycle.Unlock()
	d.mu.Lock()
	if d.running == life {
		d.running = nil
	}
	d.mu.Unlock()
	life.listener.Close() // Serve may not have seen it yet
	life.server.Stop()
}

// Terminate marks a session to be ended: every control stream, open or yet to
// be opened, names it once.
func (d *Daemon) Terminate(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.terminated, session) {
		d.terminated = append(d.terminated, session)
	}
	d.tellChange()
}

// ForgetChannels loses the channels, as a new database would.
func (d *Daemon) ForgetChannels() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.channels)
	d.tellChange()
}

// Channels are the registered ones: their sessions, empty before the
// authorization, by connection reference.
func (d *Daemon) Channels() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	channels := make(map[string]string, len(d.channels))
	for ref, session := range d.channels {
		channels[ref] = session
	}
	return channels
}

// Until waits for a change after which done returns true. done may ask the
// Daemon anything.
func (d *Daemon) Until(ctx context.Context, done func() bool) error {
	for {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tellChange is called with the lock held.
func (d *Daemon) tellChange() {
	close(d.changed)
	d.changed = make(chan struct{})
}
