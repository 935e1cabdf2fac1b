package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// QMP speaks QEMU's machine protocol (docs/interop/qmp-spec.txt): JSON objects,
// one answer per command, events in between, which are skipped. Its methods may
// be called from several goroutines. A command whose context ends leaves the
// answer on the way, so it also ends the connection.
type QMP struct {
	mu   sync.Mutex // one command at a time
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

// QMPError is QEMU's refusal of a command.
type QMPError struct {
	Command string
	Class   string `json:"class"`
	Desc    string `json:"desc"`
}

func (e *QMPError) Error() string {
	return fmt.Sprintf("qmp %s: %s (%s)", e.Command, e.Desc, e.Class)
}

// qmpMessage is whatever QEMU sends: the greeting, an event or an answer.
type qmpMessage struct {
	Greeting json.RawMessage `json:"QMP"`
	Event    string          `json:"event"`
	Return   json.RawMessage `json:"return"`
	Error    *QMPError       `json:"error"`
}

// DialQMP connects to QEMU's monitor on a Unix socket and leaves negotiation
// mode.
func DialQMP(ctx context.Context, socket string) (*QMP, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("qmp: %w", err)
	}
	q := &QMP{conn: conn, in: json.NewDecoder(conn), out: json.NewEncoder(conn)}
	if err := q.greet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("qmp %s: %w", socket, err), conn.Close())
	}
	return q, nil
}

func (q *QMP) greet(ctx context.Context) error {
	defer q.interruptible(ctx)()
	var hello qmpMessage
	if err := q.in.Decode(&hello); err != nil {
		return fmt.Errorf("read greeting: %w", err)
	}
	if hello.Greeting == nil {
		return errors.New("peer is not a QEMU monitor")
	}
	return q.exchange("qmp_capabilities", nil)
}

// Execute runs one command; arguments may be nil. QEMU's refusal is a
// *QMPError.
func (q *QMP) Execute(ctx context.Context, command string, arguments any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.interruptible(ctx)()
	err := q.exchange(command, arguments)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil && !errors.As(err, new(*QMPError)) {
		return fmt.Errorf("qmp %s: %w", command, err)
	}
	return err
}

// interruptible makes the connection's calls fail once the context ends. The
// function returned takes that back.
func (q *QMP) interruptible(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() { q.conn.SetDeadline(time.Unix(1, 0)) })
}

func (q *QMP) exchange(command string, arguments any) error {
	err := q.out.Encode(struct {
		Execute   string `json:"execute"`
		Arguments any    `json:"arguments,omitempty"`
	}{command, arguments})
	if err != nil {
		return err
	}
	for {
		var m qmpMessage
		if err := q.in.Decode(&m); err != nil {
			return err
		}
		switch {
		case m.Event != "":
		case m.Error != nil:
			m.Error.Command = command
			return m.Error
		default:
			return nil
		}
	}
}

// SystemReset presses the machine's reset button. The guest starts again.
func (q *QMP) SystemReset(ctx context.Context) error { return q.Execute(ctx, "system_reset", nil) }

// Pause halts the guest's processors.
func (q *QMP) Pause(ctx context.Context) error { return q.Execute(ctx, "stop", nil) }

// Cont lets them run again.
func (q *QMP) Cont(ctx context.Context) error { return q.Execute(ctx, "cont", nil) }

// Screendump writes the screen to a file, as PNG if its name ends in .png, else
// as PPM.
func (q *QMP) Screendump(ctx context.Context, file string) error {
	file, err := filepath.Abs(file) // QEMU may run in another directory
	if err != nil {
		return err
	}
	format := "ppm"
	if strings.HasSuffix(file, ".png") {
		format = "png"
	}
	return q.Execute(ctx, "screendump", map[string]string{"filename": file, "format": format})
}

// SendKey presses a key of the guest's keyboard and releases it after a tenth of
// a second. Keys go by their QEMU names, such as "spc" or "a".
func (q *QMP) SendKey(ctx context.Context, key string) error {
	type keyValue struct {
		Type string `json:"type"`
		Data string `json:"data"`
	}
	return q.Execute(ctx, "send-key", map[string]any{"keys": []keyValue{{"qcode", key}}})
}

// Close ends the connection; the machine runs on.
func (q *QMP) Close() error { return q.conn.Close() }
