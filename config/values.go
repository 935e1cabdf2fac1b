package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as a number with or without a unit.
type Size int

var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"B", 1}, {"", 1},
}

// UnmarshalText reads "4096", "4MiB" or "1.5 MB".
func (s *Size) UnmarshalText(text []byte) error {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		n *= u.bytes
		if err != nil || n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
			break
		}
		*s = Size(n)
		return nil
	}
	return fmt.Errorf("%q is not a size up to 2 GiB such as 65536, 64KiB or 4MiB", text)
}

// Buffer is a number of bytes, 0 for auto or -1 for off.
type Buffer int

// Values of Buffer that are no sizes.
const (
	BufferAuto Buffer = 0
	BufferOff  Buffer = -1
)

// UnmarshalText reads auto, off, or a size above 0.
func (b *Buffer) UnmarshalText(text []byte) error {
	switch string(text) {
	case "auto":
		*b = BufferAuto
		return nil
	case "off":
		*b = BufferOff
		return nil
	}
	var s Size
	if err := s.UnmarshalText(text); err != nil || s == 0 {
		return fmt.Errorf("%q is neither auto nor off nor a size above 0", text)
	}
	*b = Buffer(s)
	return nil
}
