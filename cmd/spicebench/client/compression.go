package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spicepacer/spiceproto"
)

// compressions are what --compression takes. The automatic ones choose by image:
// QUIC or, on a slow link, JPEG where colours change gradually, else GLZ or LZ
// (spice-server, dcc.cpp, get_compression_for_bitmap).
var compressions = map[string]spiceproto.Compression{
	"off":      spiceproto.CompressionOff,
	"auto-glz": spiceproto.CompressionAutoGLZ,
	"auto-lz":  spiceproto.CompressionAutoLZ,
	"quic":     spiceproto.CompressionQUIC,
	"glz":      spiceproto.CompressionGLZ,
	"lz":       spiceproto.CompressionLZ,
	"lz4":      spiceproto.CompressionLZ4,
}

// Compressions returns the names of those that a client can ask for, sorted.
func Compressions() []string { return slices.Sorted(maps.Keys(compressions)) }

// ParseCompression returns the compression of a name.
func ParseCompression(name string) (spiceproto.Compression, error) {
	c, ok := compressions[name]
	if !ok {
		return 0, fmt.Errorf("compression %q is none of %s", name, strings.Join(Compressions(), ", "))
	}
	return c, nil
}
