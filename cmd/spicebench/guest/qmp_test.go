package guest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const greeting = `{"QMP": {"version": {"qemu": {"major": 7}}, "capabilities": []}}`

// exchange is one line a scripted monitor expects and what it says then.
type exchange struct{ want, reply string }

// capabilities is how every session begins.
var capabilities = exchange{`{"execute":"qmp_capabilities"}`, `{"return": {}}`}

// monitor plays QEMU to one client on a Unix socket. What it thinks of the
// client's lines is told at the end of the test.
func monitor(t *testing.T, greeting string, script ...exchange) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "qmp")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	verdict := make(chan error, 1)
	go func() { verdict <- playMonitor(listener, greeting, script) }()
	t.Cleanup(func() {
		listener.Close()
		if err := <-verdict; err != nil {
			t.Error(err)
		}
	})
	return socket
}

func playMonitor(listener net.Listener, greeting string, script []exchange) error {
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintln(conn, greeting)
	lines := bufio.NewScanner(conn)
	for _, x := range script {
		if !lines.Scan() {
			return fmt.Errorf("client left before %s", x.want)
		}
		if lines.Text() != x.want {
			return fmt.Errorf("client sent %s, want %s", lines.Text(), x.want)
		}
		fmt.Fprintln(conn, x.reply)
	}
	lines.Scan() // until the client leaves
	return nil
}

func dialQMP(t *testing.T, socket string) *QMP {
	t.Helper()
	q, err := DialQMP(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

func TestQMPCommands(t *testing.T) {
	const ok = `{"return": {}}`
	q := dialQMP(t, monitor(t, greeting, capabilities,
		exchange{`{"execute":"system_reset"}`, `{"event": "RESET", "data": {}, "timestamp": {}}` + "\n" + ok},
		exchange{`{"execute":"stop"}`, ok},
		exchange{`{"execute":"cont"}`, ok},
		exchange{`{"execute":"screendump","arguments":{"filename":"/tmp/a.png","format":"png"}}`, ok},
		exchange{`{"execute":"screendump","arguments":{"filename":"/tmp/a.ppm","format":"ppm"}}`, ok},
		exchange{`{"execute":"send-key","arguments":{"keys":[{"type":"qcode","data":"spc"}]}}`, ok},
	))
	ctx := t.Context()
	for _, err := range []error{
		q.SystemReset(ctx), q.Pause(ctx), q.Cont(ctx),
		q.Screendump(ctx, "/tmp/a.png"), q.Screendump(ctx, "/tmp/a.ppm"),
		q.SendKey(ctx, "spc"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestQMPRefusal(t *testing.T) {
	q := dialQMP(t, monitor(t, greeting, capabilities,
		exchange{`{"execute":"dance"}`, `{"error": {"class": "CommandNotFound", "desc": "no such command"}}`},
		exchange{`{"execute":"cont"}`, `{"return": {}}`},
	))
	var refusal *QMPError
	if err := q.Execute(t.Context(), "dance", nil); !errors.As(err, &refusal) {
		t.Fatalf("got %v, want a QMPError", err)
	}
	if want := (QMPError{"dance", "CommandNotFound", "no such command"}); *refusal != want {
		t.Errorf("got %+v, want %+v", *refusal, want)
	}
	if err := q.Cont(t.Context()); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
}

func TestQMPEndsWithItsContext(t *testing.T) {
	q := dialQMP(t, monitor(t, greeting, capabilities, exchange{`{"execute":"cont"}`, ``}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := q.Cont(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestQMPNeedsAMonitor(t *testing.T) {
	socket := monitor(t, `{"hello": "world"}`)
	if _, err := DialQMP(t.Context(), socket); err == nil || !strings.Contains(err.Error(), "not a QEMU monitor") {
		t.Errorf("got %v", err)
	}
}
