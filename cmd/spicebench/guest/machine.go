package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"spicepacer/cmd/spicebench/keydraw"
)

// Machine is a running guest.
type Machine struct {
	QMP *QMP // its monitor

	dir     string // files of its own, removed by Stop
	started string // the START line
	areas   []image.Rectangle
	console *console
	cmd     *exec.Cmd
	orders  *os.File      // the guest's console reads from it
	exited  chan struct{} // closed when QEMU has been reaped
	exitErr error         // why QEMU ended, should it do so before Stop; valid once exited is closed
	stop    func() error
}

// Start boots a guest and returns when it has printed its START line, that is,
// when its picture is on the screen and it answers keys. The context bounds the
// life of the machine, not only its boot; Stop must be called in any case. An
// error carries the end of the console's output.
func Start(ctx context.Context, o Options, q QEMU) (*Machine, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	dir, err := machineDir()
	if err != nil {
		return nil, err
	}
	m := &Machine{dir: dir, console: newConsole(), exited: make(chan struct{})}
	m.stop = sync.OnceValue(m.shutdown)
	if err := m.boot(ctx, o, q); err != nil {
		tail := m.console.tail()
		return nil, fmt.Errorf("boot guest: %w\n%s", errors.Join(err, m.Stop()), tail)
	}
	return m, nil
}

// machineDir makes a directory whose path leaves room for a socket's name:
// sun_path is 108 bytes long, and temporary directories of tests are deep.
func machineDir() (string, error) {
	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}
	return os.MkdirTemp(base, "keydraw-")
}

func (m *Machine) boot(ctx context.Context, o Options, q QEMU) error {
	if o.Initrd == "" {
		var err error
		if o, err = Prepare(ctx, m.dir, o); err != nil {
			return err
		}
	}
	if q.Ticket != "" {
		if err := os.WriteFile(filepath.Join(m.dir, ticketFile), []byte(q.Ticket), 0o600); err != nil {
			return err
		}
	}
	if err := m.launch(ctx, o, q); err != nil {
		return err
	}
	limit := cmp.Or(q.BootTimeout, defaultBootTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not up after %s", limit))
	defer cancel()
	var err error
	if m.started, err = m.WaitLine(ctx, keydraw.StartLine); err != nil {
		return err
	}
	if m.areas, err = keydraw.ParseAreas(m.started); err != nil {
		return err
	}
	m.QMP, err = DialQMP(ctx, filepath.Join(m.dir, qmpSocket))
	return err
}

// launch starts QEMU and the goroutines that read its output and reap it.
func (m *Machine) launch(ctx context.Context, o Options, q QEMU) error {
	args, err := q.arguments(o, m.dir)
	if err != nil {
		return err
	}
	command, log := q.Command, q.Log
	if command == nil {
		command = exec.CommandContext
	}
	if log == nil {
		log = io.Discard
	}
	output, input, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := command(ctx, cmp.Or(q.Binary, "qemu-system-x86_64"), args...)
	cmd.Stdout, cmd.Stderr = input, input
	typed, orders, err := os.Pipe()
	if err != nil {
		input.Close()
		output.Close()
		return err
	}
	cmd.Stdin = typed
	err = cmd.Start()
	input.Close()
	typed.Close()
	if err != nil {
		output.Close()
		orders.Close()
		return err
	}
	m.cmd, m.orders = cmd, orders
	go m.reap(ctx, output, log)
	return nil
}

// reap reads QEMU's output to its end, then collects the process. An end that
// the context brought about is no error.
func (m *Machine) reap(ctx context.Context, output *os.File, log io.Writer) {
	m.console.follow(output, log)
	output.Close()
	err := m.cmd.Wait()
	if ctx.Err() == nil {
		m.exitErr = fmt.Errorf("qemu ended on its own: %w", cmp.Or(err, errors.New("exit status 0")))
	}
	close(m.exited)
	m.console.end() // last, so that who finds it ended finds the reason too
}

// StartLine is what the guest said when it was up: geometry and knobs.
func (m *Machine) StartLine() string { return m.started }

// Areas are where the activity is on the screen the guest began with.
func (m *Machine) Areas() []image.Rectangle { return m.areas }

// WaitLine returns the console's next line that begins with prefix, such as
// keydraw.ModeLine. A line is returned or passed over only once. It fails at
// once when the guest gives up or ends, else when ctx ends.
func (m *Machine) WaitLine(ctx context.Context, prefix string) (string, error) {
	line, err := m.console.wait(ctx, prefix)
	if err != nil {
		return "", fmt.Errorf("wait for %q on the guest's console: %w", prefix, err)
	}
	return line, nil
}

// Set gives the guest other knobs. It returns when they hold, and everything
// painted before is in QEMU's hands. A width, height or activity of zero is its
// default.
func (m *Machine) Set(ctx context.Context, k keydraw.Knobs) error {
	line := k.CommandLine()
	if _, err := fmt.Fprintln(m.orders, line); err != nil {
		return fmt.Errorf("tell the guest %q: %w", line, err)
	}
	_, err := m.WaitLine(ctx, keydraw.SetLine)
	return err
}

// PID is the process id of QEMU.
func (m *Machine) PID() int { return m.cmd.Process.Pid }

// Exited is closed when QEMU has ended, by Stop or on its own.
func (m *Machine) Exited() <-chan struct{} { return m.exited }

// Stop ends QEMU, waits for its end and removes the machine's files. If QEMU
// ended before, the error says how. Further calls return the same.
func (m *Machine) Stop() error { return m.stop() }

func (m *Machine) shutdown() error {
	var err error
	if m.cmd != nil {
		err = m.terminate()
		m.orders.Close()
	}
	if m.QMP != nil {
		m.QMP.Close()
	}
	return errors.Join(err, os.RemoveAll(m.dir))
}

// terminate asks QEMU to end, and insists after a while.
func (m *Machine) terminate() error {
	select {
	case <-m.exited:
		return m.exitErr
	default:
	}
	const patience = 5 * time.Second
	m.cmd.Process.Signal(syscall.SIGTERM)
	insist := time.AfterFunc(patience, func() { m.cmd.Process.Kill() })
	defer insist.Stop()
	<-m.exited
	return nil
}
