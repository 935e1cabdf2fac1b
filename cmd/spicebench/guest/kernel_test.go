package guest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bzImage wraps a payload like a kernel image with one setup sector.
func bzImage(payload []byte) []byte {
	const gapBefore = 32
	image := make([]byte, 2*512+gapBefore)
	image[0x1f1] = 1
	copy(image[0x202:], "HdrS")
	binary.LittleEndian.PutUint16(image[0x206:], 0x20f)
	binary.LittleEndian.PutUint32(image[0x248:], gapBefore)
	binary.LittleEndian.PutUint32(image[0x24c:], uint32(len(payload)+4))
	return append(append(image, payload...), "size and what follows"...)
}

func TestKernelPayload(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("a kernel"))
	w.Close()
	payload, err := kernelPayload(bzImage(packed.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := decompress(context.Background(), payload)
	if err != nil || string(kernel) != "a kernel" {
		t.Errorf("unpacked %q, %v", kernel, err)
	}
}

func TestUnpackKernelGivesUp(t *testing.T) {
	whole := bzImage([]byte("no known compression"))
	for name, image := range map[string][]byte{
		"empty":        nil,
		"not an image": bytes.Repeat([]byte("x"), 2000),
		"cut":          whole[:len(whole)-30],
		"unknown":      whole,
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.WriteFile(in, image, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unpackKernel(context.Background(), out, in); !errors.Is(err, errNotUnpackable) || !strings.Contains(err.Error(), in) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: left a file", name)
		}
	}
}
