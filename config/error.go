package config

import "fmt"

// Error is a mistake in the configuration.
type Error struct {
	// Key is the path of the key, such as pacing.mode or
	// control.targets[0].token; empty when no key is to blame.
	Key string
	// Source tells where the value came from; empty for a default.
	Source string
	Err    error
}

func (e *Error) Error() string {
	text := e.Err.Error()
	if e.Key != "" {
		text = e.Key + ": " + text
	}
	if e.Source != "" {
		text += " (" + e.Source + ")"
	}
	return text
}

// Fatal tells that the command line and the file are understood, but name an
// address that is none. Kerbside's proxy exits then as for one that cannot be
// bound.
func (e *Error) Fatal() bool { return e.Key == "listen.address" || e.Key == "metrics.address" }

func (e *Error) Unwrap() error { return e.Err }

// bad makes an Error for key; its source is filled in by Load.
func bad(key, format string, args ...any) *Error {
	return &Error{Key: key, Err: fmt.Errorf(format, args...)}
}
