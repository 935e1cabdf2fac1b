package keydraw

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

// console reads lines from the standard input, which the kernel has opened on the
// serial port.
type console struct {
	fd      int
	partial []byte
}

// openConsole takes care that reading does not block and that the console does
// not repeat what it is told among the guest's own lines.
func openConsole() (*console, error) {
	c := &console{fd: unix.Stdin}
	if err := unix.SetNonblock(c.fd, true); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	settings, err := unix.IoctlGetTermios(c.fd, unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	settings.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(c.fd, unix.TCSETS, settings); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return c, nil
}

// line returns the next line, "" if there is none yet. It does not block.
func (c *console) line() (string, error) {
	var buf [256]byte
	n, err := unix.Read(c.fd, buf[:])
	if err != nil && err != unix.EAGAIN && err != unix.EINTR {
		return "", fmt.Errorf("read console: %w", err)
	}
	c.partial = append(c.partial, buf[:max(n, 0)]...)
	line, rest, found := bytes.Cut(c.partial, []byte("\n"))
	if !found {
		return "", nil
	}
	text := string(bytes.TrimSpace(line))
	c.partial = append(c.partial[:0], rest...)
	return text, nil
}
