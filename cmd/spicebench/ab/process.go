package ab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"spicepacer/cmd/spicebench/link"
)

// command prepares a program inside a namespace that does not outlive this
// process, however that ends, and that a Ctrl-C on the terminal does not reach
// before its teardown is due.
func command(n *link.Namespace) func(ctx context.Context, name string, args ...string) *exec.Cmd {
	return func(ctx context.Context, name string, args ...string) *exec.Cmd {
		cmd := n.Command(ctx, name, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
		return cmd
	}
}

// guestNice is the guest's scheduling priority (nice(1)). Without hardware
// virtualisation it keeps a core busy, and the proxy and the client, which run
// on machines of their own elsewhere, would wait for it.
const guestNice = "10"

// lowPriority has a command start its program at the guest's priority.
func lowPriority(command func(context.Context, string, ...string) *exec.Cmd) func(context.Context, string, ...string) *exec.Cmd {
	return func(ctx context.Context, name string, args ...string) *exec.Cmd {
		return command(ctx, "nice", append([]string{"-n", guestNice, name}, args...)...)
	}
}

// process is a started program.
type process struct {
	cmd    *exec.Cmd
	log    string
	exited chan struct{} // closed when it has been reaped
	err    error         // valid once exited is closed
}

// start starts a program whose messages go to a file.
func start(cmd *exec.Cmd, log string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the child has its own
	if cmd.Stdout == nil {
		cmd.Stdout = file
	}
	cmd.Stderr = file
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// stop ends the program, by force if it does not heed, and waits for its end.
func (p *process) stop() {
	const patience = 5 * time.Second
	p.cmd.Process.Signal(syscall.SIGTERM)
	insist := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer insist.Stop()
	<-p.exited
}

// failure tells why the program ended, with its last message.
func (p *process) failure() error {
	text, _ := os.ReadFile(p.log)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if p.err == nil {
		return fmt.Errorf("ended too early: %s", lines[len(lines)-1])
	}
	return fmt.Errorf("%w: %s", p.err, lines[len(lines)-1])
}
