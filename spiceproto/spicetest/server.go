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

// ServerConfig describes a Server. The zero value is a screen at rest behind
// spice-server's defaults.
type ServerConfig struct {
	// Window is W; 0 is 20, what spice-server takes for a fast link.
	Window uint32
	// SocketBuffer is the kernel's send buffer in bytes; 0 is 2.6 MB, what a
	// loopback connection starts with.
	SocketBuffer int
	// ScreenSize is the body of the first draw, the whole screen, in bytes;
	// KeySize that of a key press; Columns are those of the animation's draws,
	// left to right. ScreenSize and KeySize have defaults.
	ScreenSize, KeySize int
	Columns             []int
	// FPS is the animation's frames per second, 0 at rest.
	FPS int
	// Probe is the interval of the latency probe, two PINGs at a time, in a
	// moment without traffic: 15 s in display channels on TCP
	// (red-channel-client.cpp), 0 for none.
	Probe time.Duration
}

const (
	defaultWindow       = 20
	defaultSocketBuffer = 2_600_000
	defaultScreenSize   = 60_000
	defaultKeySize      = 4_000

	// refreshInterval is QEMU's GUI_REFRESH_INTERVAL_DEFAULT.
	refreshInterval = 30 * time.Millisecond
	// pumpSize is how much leaves the send buffer at a time.
	pumpSize = 4096
)

func (c ServerConfig) withDefaults() ServerConfig {
	setDefault(&c.Window, defaultWindow)
	setDefault(&c.SocketBuffer, defaultSocketBuffer)
	setDefault(&c.ScreenSize, defaultScreenSize)
	setDefault(&c.KeySize, defaultKeySize)
	return c
}

func setDefault[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// Server runs a Sender and a Desktop on a connection: the display channel of
// QEMU and spice-server behind the link stages. Its methods may be called from
// any goroutine.
type Server struct {
	cfg  ServerConfig
	wake chan struct{} // something changed from outside

	mu        sync.Mutex
	sender    *Sender
	desktop   *Desktop
	started   bool // DISPLAY_INIT came
	imageType spiceproto.ImageType
	frame     schedule
	refresh   schedule
	probe     schedule
	pings     uint32
	pongs     uint32
}

// schedule is a moment that comes again and again; a period of 0 never comes.
type schedule struct {
	next   time.Time
	period time.Duration
}

func every(now time.Time, period time.Duration) schedule {
	return schedule{now.Add(period), period}
}

// due tells whether the moment has come, and moves on to the next one after now.
func (s *schedule) due(now time.Time) bool {
	if s.period == 0 || now.Before(s.next) {
		return false
	}
	missed := now.Sub(s.next) / s.period
	s.next = s.next.Add((missed + 1) * s.period)
	return true
}

// NewServer returns a server that waits for Serve.
func NewServer(cfg ServerConfig) *Server {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:       cfg,
		wake:      make(chan struct{}, 1),
		sender:    NewSender(cfg.SocketBuffer),
		desktop:   NewDesktop(cfg.Columns, cfg.KeySize),
		imageType: spiceproto.ImageGLZRGB,
	}
	s.sender.OnMessage = s.handle
	return s
}

// Press draws the answer to a key press now, and returns its number (see
// Desktop.Press).
func (s *Server) Press() uint64 {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.desktop.Press()
}

// Animate changes the animation's frames per second from now on.
func (s *Server) Animate(fps int) {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.animate(time.Now(), fps)
}

func (s *Server) animate(now time.Time, fps int) {
	s.frame = schedule{}
	if fps > 0 {
		s.frame = every(now, time.Second/time.Duration(fps))
	}
}

// Queue adds an item to the pipe.
func (s *Server) Queue(item Item) {
	defer s.poke()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sender.Queue(item)
}

// Inspect calls f with the server at rest.
func (s *Server) Inspect(f func(*Sender, *Desktop)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.sender, s.desktop)
}

// Pongs returns how many PINGs were answered.
func (s *Server) Pongs() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pongs
}

func (s *Server) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Serve runs the channel until ctx ends or the connection does, and closes
// conn. It returns nil when the client closed between two messages, and ctx's
// error when that ended first.
func (s *Server) Serve(ctx context.Context, conn net.Conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	input := make(chan []byte)
	output, written := make(chan []byte), make(chan int)
	var pumps sync.WaitGroup
	pumps.Go(func() { cancel(receive(ctx, conn, input)) })
	pumps.Go(func() { cancel(transmit(ctx, conn, output, written)) })
	err := s.loop(ctx, input, output, written)
	cancel(err)
	conn.Close()
	pumps.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// receive hands what conn brings to the loop.
func receive(ctx context.Context, conn net.Conn, input chan<- []byte) error {
	for {
		p := make([]byte, pumpSize)
		n, err := conn.Read(p)
		if n > 0 {
			select {
			case input <- p[:n]:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
	}
}

// transmit writes what the loop takes out of the send buffer.
func transmit(ctx context.Context, conn net.Conn, output <-chan []byte, written chan<- int) error {
	for {
		select {
		case p := <-output:
			if _, err := conn.Write(p); err != nil {
				return fmt.Errorf("write to the client: %w", err)
			}
			select {
			case written <- len(p):
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// loop is the worker thread's event loop. Bytes stay in the send buffer, and
// fill it, until conn has taken them.
func (s *Server) loop(ctx context.Context, input <-chan []byte, output chan<- []byte, written <-chan int) error {
	s.start(time.Now())
	var chunk []byte
	busy := false // chunk is being written
	for {
		timer := s.step(time.Now())
		out := output
		if busy {
			out = nil
		} else if chunk = s.chunk(chunk); len(chunk) == 0 {
			out = nil
		}
		select {
		case p := <-input:
			if err := s.receive(p); err != nil {
				return err
			}
		case out <- chunk:
			busy = true
		case n := <-written:
			busy = false
			s.taken(n)
		case <-timer:
		case <-s.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *Server) start(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.animate(now, s.cfg.FPS)
	s.refresh = every(now, refreshInterval)
	s.probe = every(now, s.cfg.Probe)
}

// step does what is due, moves what can move, and returns a channel that fires
// when the next thing is due.
func (s *Server) step(now time.Time) <-chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frame.due(now) {
		s.desktop.Animate()
	}
	if s.refresh.due(now) {
		s.desktop.Refresh()
	}
	if s.started {
		s.work(now)
	}
	return s.timer(now)
}

// work fetches commands and sends items in turn, as long as either goes on.
func (s *Server) work(now time.Time) {
	if s.probe.due(now) && s.sender.Idle() {
		s.ping(now)
		s.ping(now)
	}
	s.fetch()
	for s.sender.WantsWrite() {
		s.sender.Writable()
		s.fetch()
	}
}

func (s *Server) fetch() {
	for s.sender.Fetching() {
		d, ok := s.desktop.Next()
		if !ok {
			return
		}
		d.Type = s.imageType
		s.sender.Queue(Item{Draw: d})
	}
}

func (s *Server) ping(now time.Time) {
	s.pings++
	m := spiceproto.Ping{ID: s.pings, Timestamp: uint64(now.UnixNano())}
	s.sender.Queue(encoded(m.Append(nil)))
}

// timer returns a channel for the next scheduled moment. Refreshes come only
// while there is something to refresh, so that a screen at rest sleeps.
func (s *Server) timer(now time.Time) <-chan time.Time {
	schedules := []schedule{s.frame, s.probe}
	if s.desktop.Dirty() {
		schedules = append(schedules, s.refresh)
	}
	var next time.Time
	for _, c := range schedules {
		if c.period > 0 && (next.IsZero() || c.next.Before(next)) {
			next = c.next
		}
	}
	if next.IsZero() {
		return nil
	}
	return time.After(next.Sub(now))
}

func (s *Server) chunk(p []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	queued := s.sender.Socket.Bytes()
	return append(p[:0], queued[:min(len(queued), pumpSize)]...)
}

func (s *Server) taken(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sender.Socket.Discard(n)
}

func (s *Server) receive(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sender.Receive(p)
}

// handle is called with mu held, for messages that are not about ACKs.
func (s *Server) handle(h spiceproto.Header, head []byte) {
	switch h.Type {
	case spiceproto.MsgcDisplayInit:
		s.begin()
	case spiceproto.MsgcPong:
		s.pongs++
	case spiceproto.MsgcDisplayPreferredCompression:
		m, err := spiceproto.ParsePreferredCompression(head)
		if err == nil {
			s.imageType = imageTypes[m.Compression]
		}
	}
}

// imageTypes are the encodings of a noisy image under each compression.
var imageTypes = map[spiceproto.Compression]spiceproto.ImageType{
	spiceproto.CompressionAutoGLZ: spiceproto.ImageGLZRGB,
	spiceproto.CompressionGLZ:     spiceproto.ImageGLZRGB,
	spiceproto.CompressionAutoLZ:  spiceproto.ImageLZRGB,
	spiceproto.CompressionLZ:      spiceproto.ImageLZRGB,
	spiceproto.CompressionQUIC:    spiceproto.ImageQUIC,
	spiceproto.CompressionLZ4:     spiceproto.ImageLZ4,
}

// begin queues what a display channel starts with, in the order seen live.
func (s *Server) begin() {
	if s.started {
		return
	}
	s.started = true
	screen := spiceproto.Rect{Bottom: screenHeight, Right: screenWidth}
	surface := spiceproto.SurfaceCreate{Width: screenWidth, Height: screenHeight, Format: 32, Flags: 1}
	monitors := spiceproto.MonitorsConfig{
		MaxAllowed: 1,
		Monitors:   []spiceproto.Monitor{{Width: screenWidth, Height: screenHeight}},
	}
	for _, item := range []Item{
		SetAck(s.cfg.Window),
		Message(spiceproto.MsgDisplayInvalAllPalettes, nil),
		encoded(surface.Append(nil)),
		{Draw: Draw{Box: screen, Size: s.cfg.ScreenSize, Type: s.imageType}},
		encoded(monitors.Append(nil)),
		Message(spiceproto.MsgDisplayMark, nil),
	} {
		s.sender.Queue(item)
	}
}
