package control

import (
	"context"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"spicepacer/session/authz/kerbside/kerbsidepb"
)

// Call is one that has arrived.
type Call struct {
	Time    time.Time
	Method  string
	Request proto.Message
	Answer  Answer
}

// Calls returns all so far, in the order they arrived in.
func (d *Daemon) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Call(nil), d.calls...)
}

// Next returns the calls one after the other and waits for the next one.
func (d *Daemon) Next(ctx context.Context) (Call, error) {
	for {
		d.mu.Lock()
		if d.read < len(d.calls) {
			call := d.calls[d.read]
			d.read++
			d.mu.Unlock()
			return call, nil
		}
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return Call{}, ctx.Err()
		}
	}
}

// arrive records a call and decides how it is answered.
func (d *Daemon) arrive(method string, request proto.Message) Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.take(method)
	call := Call{Time: time.Now(), Method: method, Request: request, Answer: r.Answer}
	d.calls = append(d.calls, call)
	if d.options.Record != nil {
		d.options.Record.Write(call.line())
	}
	d.tellChange()
	return r
}

// line is the call as one line of JSON, without the token.
func (c Call) line() []byte {
	request := c.Request
	if a, ok := request.(*kerbsidepb.AuthorizeConnectionRequest); ok {
		shown := proto.Clone(a).(*kerbsidepb.AuthorizeConnectionRequest)
		shown.Token = "(secret)"
		request = shown
	}
	body, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(request)
	if err != nil {
		body = []byte("null") // text that is not UTF-8
	}
	line, _ := json.Marshal(struct { // of types that cannot fail
		Time    time.Time       `json:"time"`
		Method  string          `json:"method"`
		Request json.RawMessage `json:"request"`
		Answer  Answer          `json:"answer"`
	}{c.Time, c.Method, body, c.Answer})
	return append(line, '\n')
}
