package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// Rule says how calls of a method are answered.
type Rule struct {
	// Times is for how many calls the rule holds; 0: until it is replaced.
	Times int
	// Delay comes before the answer.
	Delay  time.Duration
	Answer Answer
	// Code is the status of Fail.
	Code codes.Code
	// Text is the reason that Fail, Refuse and Deny give.
	Text string
}

// Answer is a kind of answer.
type Answer string

const (
	// Usual is what a healthy daemon answers.
	Usual Answer = "usual"
	// Hang answers nothing until the caller gives up.
	Hang Answer = "hang"
	// Die stops the daemon instead of answering.
	Die Answer = "die"
	// Fail answers with a gRPC status.
	Fail Answer = "fail"
	// Refuse answers success=false.
	Refuse Answer = "refuse"
	// Deny denies the token, for AuthorizeConnection.
	Deny Answer = "deny"
	// Empty answers a message without any field.
	Empty Answer = "empty"
)

var answers = []Answer{Usual, Hang, Die, Fail, Refuse, Deny, Empty}

// methods are the names of the calls, from the contract.
var methods = func() []string {
	var names []string
	service := kerbsidepb.KerbsideProxy_ServiceDesc
	for _, m := range service.Methods {
		names = append(names, m.MethodName)
	}
	for _, s := range service.Streams {
		names = append(names, s.StreamName)
	}
	return names
}()

// On sets the rule for calls of method, such as "RegisterChannel"; the zero Rule
// restores the usual answer. A method that does not exist panics.
func (d *Daemon) On(method string, r Rule) {
	if !slices.Contains(methods, method) {
		panic(fmt.Sprintf("control: no method %q", method))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules[method] = r
}

// take returns the rule for a call that has arrived, with the lock held.
func (d *Daemon) take(method string) Rule {
	r, ok := d.rules[method]
	if !ok || r.Answer == "" {
		r.Answer = Usual
	}
	if ok && r.Times > 0 {
		left := r
		if left.Times--; left.Times == 0 {
			left = Rule{}
		}
		d.rules[method] = left
	}
	return r
}

// obey waits and fails as the rule says. It returns nil for answers that are
// messages.
func (d *Daemon) obey(ctx context.Context, r Rule) error {
	if r.Delay > 0 {
		select {
		case <-time.After(r.Delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch r.Answer {
	case Hang:
		<-ctx.Done()
		return ctx.Err()
	case Die:
		d.mu.Lock()
		life := d.running
		d.mu.Unlock()
		go d.end(life) // which waits for this call
		<-ctx.Done()
		return ctx.Err()
	case Fail:
		return status.Error(r.Code, r.Text)
	}
	return nil
}
