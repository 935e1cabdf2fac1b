//go:build !linux

package keydraw

// Main is the whole guest, which is a Linux program only.
func Main() {
	panic("keydraw: the guest runs on Linux")
}
