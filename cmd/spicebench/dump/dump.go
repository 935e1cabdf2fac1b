// Package dump shows what SPICE connections say: from a capture of plaintext SPICE,
// or from a trace that the proxy has written.
package dump

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// Read calls visit for every record in a file, which is a capture (pcap or pcapng)
// or a trace. It tells by the first byte which. What is missing or damaged in a
// capture comes as records of kind Notice. The error is visit's, or tells why the
// file cannot be read at all.
func Read(in io.Reader, visit Visit) error {
	r := bufio.NewReader(in)
	first, err := r.Peek(1)
	if err != nil {
		return fmt.Errorf("read first byte: %w", err)
	}
	if first[0] == '{' {
		return readTrace(r, visit)
	}
	return readCapture(r, visit)
}

// ReadFile is Read for a file by its name; "-" is the standard input.
func ReadFile(name string, visit Visit) error {
	if name == "-" {
		return Read(os.Stdin, visit)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := Read(f, visit); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
