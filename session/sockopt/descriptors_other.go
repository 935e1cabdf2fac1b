//go:build !unix

package sockopt

// Descriptors fails with ErrUnsupported.
func Descriptors() (uint64, error) { return 0, ErrUnsupported }
