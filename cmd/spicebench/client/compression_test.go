package client

import (
	"slices"
	"strings"
	"testing"

	"spicepacer/spiceproto"
)

func TestParseCompression(t *testing.T) {
	names := Compressions()
	if !slices.IsSorted(names) || !slices.Contains(names, "auto-lz") {
		t.Errorf("compressions %q", names)
	}
	seen := map[spiceproto.Compression]string{}
	for _, name := range names {
		c, err := ParseCompression(name)
		if err != nil || c == 0 {
			t.Errorf("%s: %v, error %v", name, c, err)
		}
		if other, twice := seen[c]; twice {
			t.Errorf("%s and %s are both %v", name, other, c)
		}
		seen[c] = name
	}
	for _, name := range []string{"", "jpeg", "AUTO-LZ"} {
		if c, err := ParseCompression(name); err == nil || !strings.Contains(err.Error(), "auto-lz") {
			t.Errorf("%q: %v, error %v, want one that names those there are", name, c, err)
		}
	}
}
