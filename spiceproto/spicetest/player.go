package spicetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"spicepacer/spiceproto"
)

// Player runs a Client on a connection, like spice-gtk's channel coroutine: one
// goroutine reads, draws and answers. Its methods may be called from any
// goroutine. Use NewPlayer.
type Player struct {
	mu      sync.Mutex
	client  Client
	changed chan struct{} // closed and renewed when a message came or hold changed
	ops     []uint16      // opcodes received and not yet taken by next
	held    bool
}

// readSize is how much a Player reads at a time.
const readSize = 16 << 10

// NewPlayer returns a player that waits for Run.
func NewPlayer() *Player {
	p := &Player{changed: make(chan struct{})}
	p.client.OnMessage = func(_ time.Time, h spiceproto.Header, _ []byte) {
		p.ops = append(p.ops, h.Type)
	}
	return p
}

// Hold makes the player stop reading, or go on.
func (p *Player) Hold(hold bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = hold
	p.signal()
}

// Inspect calls f with what the player has seen, at rest.
func (p *Player) Inspect(f func(*View)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.client.Screen)
}

// Run sends DISPLAY_INIT, then reads and answers until ctx ends or conn does,
// and closes conn. It returns nil when the server closed.
func (p *Player) Run(ctx context.Context, conn net.Conn) error {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	err := p.run(ctx, conn)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

func (p *Player) run(ctx context.Context, conn net.Conn) error {
	// What spice-gtk asks for: 80 MiB and 64 MiB in pixels of 4 bytes.
	hello := spiceproto.DisplayInit{
		PixmapCacheID: 1, PixmapCacheSize: 20 << 20, GLZDictionaryID: 1, GLZWindowSize: 16 << 20,
	}.Append(nil)
	if _, err := conn.Write(hello); err != nil {
		return fmt.Errorf("write to the server: %w", err)
	}
	buf := make([]byte, readSize)
	for {
		if err := p.waitReleased(ctx); err != nil {
			return err
		}
		n, err := conn.Read(buf)
		if err != nil {
			return fmt.Errorf("read from the server: %w", err)
		}
		reply, err := p.receive(buf[:n])
		if err != nil {
			return err
		}
		if len(reply) == 0 {
			continue
		}
		if _, err := conn.Write(reply); err != nil {
			return fmt.Errorf("write to the server: %w", err)
		}
	}
}

func (p *Player) receive(b []byte) (reply []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.signal()
	return p.client.Receive(time.Now(), b)
}

// signal wakes everyone who waits for a change. The caller holds mu.
func (p *Player) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Player) waitReleased(ctx context.Context) error {
	for {
		p.mu.Lock()
		held, changed := p.held, p.changed
		p.mu.Unlock()
		if !held {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next takes the opcode of the oldest message not taken yet, waiting for one
// until timeout.
func (p *Player) next(timeout <-chan time.Time) (op uint16, ok bool) {
	for {
		p.mu.Lock()
		if len(p.ops) > 0 {
			op, p.ops = p.ops[0], p.ops[1:]
			p.mu.Unlock()
			return op, true
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-timeout:
			return 0, false
		}
	}
}
