package guest

import (
	"fmt"
	"io"
)

// File types in the mode field of a cpio entry (the S_IF bits of stat).
const (
	modeDir  = 0o040000
	modeFile = 0o100000
	modeChar = 0o020000
)

// cpioWriter writes the archive format that the kernel unpacks at boot, "newc":
// Documentation/driver-api/early-userspace/buffer-format.rst. Every entry
// belongs to root and is dated 1970, so equal content gives equal archives.
type cpioWriter struct {
	w     io.Writer
	inode uint32
	err   error
}

func (c *cpioWriter) dir(name string) { c.entry(name, modeDir|0o755, 0, 0, nil) }

func (c *cpioWriter) file(name string, perm uint32, content []byte) {
	c.entry(name, modeFile|perm, 0, 0, content)
}

func (c *cpioWriter) charDevice(name string, major, minor uint32) {
	c.entry(name, modeChar|0o600, major, minor, nil)
}

// close ends the archive and returns the first error of any method.
func (c *cpioWriter) close() error {
	c.entry("TRAILER!!!", 0, 0, 0, nil)
	return c.err
}

// entry writes a header of thirteen 8-digit numbers, the name and the content,
// both padded to a multiple of four bytes.
func (c *cpioWriter) entry(name string, mode, major, minor uint32, content []byte) {
	c.inode++
	const owner, group, links, mtime, deviceMajor, deviceMinor, checksum = 0, 0, 1, 0, 0, 0, 0
	header := "070701"
	for _, field := range []uint32{
		c.inode, mode, owner, group, links, mtime, uint32(len(content)),
		deviceMajor, deviceMinor, major, minor, uint32(len(name) + 1), checksum,
	} {
		header += fmt.Sprintf("%08x", field)
	}
	c.padded([]byte(header + name + "\x00"))
	c.padded(content)
}

func (c *cpioWriter) padded(b []byte) {
	for _, part := range [][]byte{b, make([]byte, -len(b)&3)} {
		if c.err == nil {
			_, c.err = c.w.Write(part)
		}
	}
}
