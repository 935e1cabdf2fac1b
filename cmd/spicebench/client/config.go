package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"spicepacer/spiceproto"
)

// Config says where to connect and what to measure. Start from DefaultConfig.
type Config struct {
	// Addr is the server's host:port. It is spoken to in TLS if TLS is set and
	// SecureAddr is not.
	Addr string
	// SecureAddr is the host:port to which a channel goes, in TLS, when the plain
	// port at Addr answers NEED_SECURED; empty if there is none. It needs TLS.
	SecureAddr string
	// TLS may leave ServerName empty: the host of the address is taken.
	TLS      *tls.Config
	Password string
	// FullHeaders makes it a client without MINI_HEADER and AUTH_SELECTION.
	FullHeaders bool
	// Compression is asked of the server once the display channel is up; 0: nothing
	// is. A server without the capability makes the run fail.
	Compression spiceproto.Compression
	// DialContext replaces the plain TCP dialer, for example by one inside a
	// network namespace. TLS goes on top of it.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// Presses is the number of latencies wanted; 0 only watches.
	Presses int
	// Duration is the length of the measuring window, at which the run ends even
	// if presses are missing; once they are made, the rest is only watched. 0 ends
	// the window with the last press.
	Duration time.Duration
	// Warmup is the time between connecting and the probe press.
	Warmup time.Duration
	// Timeout is how long a press may go without a draw.
	Timeout time.Duration
	// PauseMin and PauseMax bound the random pause between presses.
	PauseMin, PauseMax time.Duration
	// Interval is the least time from a press to the pause before the next. Set
	// to what the slowest setting under comparison takes to answer, it makes all
	// of them press equally often; 0: the pause begins with the draw.
	Interval time.Duration
	// Seed makes the pauses repeatable; 0 picks one.
	Seed uint64

	// KeyBox is the part of surface 0 the guest repaints on a key press.
	KeyBox spiceproto.Rect
	// Activities are the parts of surface 0 whose age is measured.
	Activities []spiceproto.Rect
	// Cell is the side of the squares into which activities are cut, in pixels.
	Cell int

	// Logf takes progress lines; nil drops them.
	Logf func(format string, args ...any)
}

// DefaultConfig is the measurement of kerbside-rig.md, section 5, as its matrix
// runs it, but for the address and the activities.
func DefaultConfig() Config {
	return Config{
		Presses:  40,
		Warmup:   5 * time.Second,
		Timeout:  15 * time.Second,
		PauseMin: 400 * time.Millisecond,
		PauseMax: 1200 * time.Millisecond,
		KeyBox:   spiceproto.Rect{Left: 16, Top: 16, Right: 112, Bottom: 112},
		Cell:     32,
	}
}

// Validate returns all that is wrong with the configuration, joined.
func (c Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("client config: "+format, args...))
		}
	}
	check(c.Addr != "", "no address")
	check(c.SecureAddr == "" || c.TLS != nil, "secure address %s without TLS settings", c.SecureAddr)
	check(len(c.Password) <= spiceproto.MaxPassword, "password longer than %d bytes", spiceproto.MaxPassword)
	check(c.Presses >= 0, "%d presses", c.Presses)
	check(c.Presses > 0 || c.Duration > 0, "neither presses nor a duration")
	check(c.Duration >= 0 && c.Warmup >= 0, "negative duration %v or warm-up %v", c.Duration, c.Warmup)
	check(c.Presses == 0 || c.Timeout > keyHold, "timeout %v is not longer than the %v a key is held", c.Timeout, keyHold)
	check(c.Interval >= 0, "interval %v", c.Interval)
	check(0 <= c.PauseMin && c.PauseMin <= c.PauseMax, "pause from %v to %v", c.PauseMin, c.PauseMax)
	check(c.Presses == 0 || !c.KeyBox.Empty(), "empty key box %s", formatRect(c.KeyBox))
	for _, a := range c.Activities {
		check(!a.Empty(), "empty activity %s", formatRect(a))
	}
	check(len(c.Activities) == 0 || c.Cell > 0, "cells of %d pixels", c.Cell)
	return errors.Join(errs...)
}

func (c Config) logf(format string, args ...any) {
	if c.Logf != nil {
		c.Logf(format, args...)
	}
}

// formatRect writes a rectangle as the flags take it: left,top,right,bottom.
func formatRect(r spiceproto.Rect) string {
	return fmt.Sprintf("%d,%d,%d,%d", r.Left, r.Top, r.Right, r.Bottom)
}
