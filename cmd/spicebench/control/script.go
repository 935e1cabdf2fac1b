package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

const scriptHelp = `Commands, one a line, from --script and then from standard input:
  on METHOD [times=N] [delay=DURATION] ANSWER [TEXT]
                      answer calls of METHOD otherwise; ANSWER is usual, hang, die,
                      fail=CODE, refuse, deny or empty
  terminate SESSION   have the proxy end a session
  stop, start         be gone as if killed, and come back
  forget              lose all channels
  wait DURATION
Empty lines and lines that begin with # are ignored.
`

// play carries out the commands in script until its end or that of ctx. A wrong
// command is an error that names its line.
func (d *Daemon) play(ctx context.Context, name string, script io.Reader) error {
	lines := bufio.NewScanner(script)
	for n := 1; lines.Scan() && ctx.Err() == nil; n++ {
		if err := d.command(ctx, lines.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return lines.Err()
}

// command carries out one line.
func (d *Daemon) command(ctx context.Context, line string) error {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "terminate", "wait", "on":
		if rest == "" {
			return fmt.Errorf("%s needs an argument", verb)
		}
	case "stop", "start", "forget":
		if rest != "" {
			return fmt.Errorf("%s takes no argument", verb)
		}
	}
	switch verb {
	case "on":
		method, rule, err := parseRule(rest)
		if err == nil {
			d.On(method, rule)
		}
		return err
	case "terminate":
		d.Terminate(rest)
	case "stop":
		d.Stop()
	case "start":
		return d.Restart()
	case "forget":
		d.ForgetChannels()
	case "wait":
		pause, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	default:
		if verb != "" && !strings.HasPrefix(verb, "#") {
			return fmt.Errorf("unknown command %q", verb)
		}
	}
	return nil
}

// parseRule reads the arguments of the command on.
func parseRule(text string) (method string, r Rule, err error) {
	method, rest, _ := strings.Cut(text, " ")
	if !slices.Contains(methods, method) {
		return "", r, fmt.Errorf("%q is none of %s", method, strings.Join(methods, ", "))
	}
	for r.Answer == "" {
		var word string
		if word, rest, _ = strings.Cut(strings.TrimSpace(rest), " "); word == "" {
			return "", r, errors.New("no answer")
		}
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "times":
			r.Times, err = strconv.Atoi(value)
		case "delay":
			r.Delay, err = time.ParseDuration(value)
		case string(Fail):
			r.Answer = Fail
			// In the spelling of the gRPC specification, such as UNAVAILABLE.
			err = r.Code.UnmarshalJSON([]byte(strconv.Quote(value)))
		default:
			r.Answer = Answer(word)
			if !slices.Contains(answers, r.Answer) {
				err = fmt.Errorf("unknown answer %q", word)
			}
		}
		if err != nil {
			return "", r, err
		}
	}
	if r.Answer == Fail && r.Code == codes.OK {
		return "", r, errors.New("OK is no failure")
	}
	r.Text = strings.TrimSpace(rest)
	return method, r, nil
}
