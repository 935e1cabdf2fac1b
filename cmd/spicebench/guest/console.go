package guest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"spicepacer/cmd/spicebench/keydraw"
)

// console keeps what the guest and QEMU have printed, in lines.
type console struct {
	mu      sync.Mutex
	lines   []string
	next    int // first line that wait has not looked at yet
	ended   bool
	changed chan struct{} // closed and replaced with every change
}

func newConsole() *console { return &console{changed: make(chan struct{})} }

// follow reads until in ends and copies everything to log.
func (c *console) follow(in io.Reader, log io.Writer) {
	reader := bufio.NewReader(in)
	for {
		line, err := reader.ReadString('\n')
		io.WriteString(log, line) // a log that cannot be written must not stop the guest
		c.update(func() { c.lines = append(c.lines, strings.TrimRight(line, "\r\n")) })
		if err != nil {
			return
		}
	}
}

// end says that no more lines will come.
func (c *console) end() { c.update(func() { c.ended = true }) }

func (c *console) update(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

// wait returns the next line that begins with prefix. It fails at once when the
// guest has given up or has ended, else when ctx ends.
func (c *console) wait(ctx context.Context, prefix string) (string, error) {
	for {
		line, changed, err := c.look(prefix)
		if line != "" || err != nil {
			return line, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// look goes through the new lines. Without a hit and an error it returns what
// will be closed when there are more.
func (c *console) look(prefix string) (line string, changed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next < len(c.lines) {
		line := c.lines[c.next]
		c.next++
		switch {
		case strings.HasPrefix(line, prefix):
			return line, nil, nil
		case strings.HasPrefix(line, keydraw.ErrorLine), strings.Contains(line, "Kernel panic"):
			return "", nil, errors.New(line)
		}
	}
	if c.ended {
		return "", nil, errors.New("guest has ended")
	}
	return "", c.changed, nil
}

// tail is the last few lines, for an error's text.
func (c *console) tail() string {
	const few = 15
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines[max(0, len(c.lines)-few):], "\n")
}
