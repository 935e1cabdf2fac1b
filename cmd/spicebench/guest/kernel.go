package guest

import (
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// A kernel image unpacks itself at every boot, which on an emulated processor
// is more than half of the boot. QEMU also boots the ELF file inside (protocol
// PVH), so that is taken out beforehand.

// errNotUnpackable says that a kernel has to be booted as it is.
var errNotUnpackable = errors.New("kernel image cannot be unpacked")

// unpackKernel writes the ELF file inside a kernel image to out.
func unpackKernel(ctx context.Context, out, image string) error {
	content, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	payload, err := kernelPayload(content)
	if err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	kernel, err := decompress(ctx, payload)
	if err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	if err := checkPVH(kernel); err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	return os.WriteFile(out, kernel, 0o600)
}

// kernelPayload finds the compressed part of a bzImage
// (Documentation/x86/boot.rst, setup header of protocol 2.08 and later).
func kernelPayload(image []byte) ([]byte, error) {
	const (
		setupSects    = 0x1f1
		magic         = 0x202
		version       = 0x206
		payloadOffset = 0x248
		payloadLength = 0x24c
		headerEnd     = 0x250
		sizeField     = 4 // of the unpacked kernel, appended to the payload
	)
	le := binary.LittleEndian
	if len(image) < headerEnd || string(image[magic:magic+4]) != "HdrS" || le.Uint16(image[version:]) < 0x208 {
		return nil, fmt.Errorf("no bzImage: %w", errNotUnpackable)
	}
	start := (uint64(image[setupSects])+1)*512 + uint64(le.Uint32(image[payloadOffset:]))
	end := start + uint64(le.Uint32(image[payloadLength:]))
	if end > uint64(len(image)) || start+sizeField > end {
		return nil, fmt.Errorf("bzImage cut short: %w", errNotUnpackable)
	}
	return image[start : end-sizeField], nil
}

// decompress unpacks gzip itself, and XZ and Zstandard with the tools of that
// name.
func decompress(ctx context.Context, payload []byte) ([]byte, error) {
	tool := ""
	switch {
	case bytes.HasPrefix(payload, []byte("\x1f\x8b")):
		in, err := gzip.NewReader(bytes.NewReader(payload))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(in)
	case bytes.HasPrefix(payload, []byte("\xfd7zXZ\x00")):
		tool = "xz"
	case bytes.HasPrefix(payload, []byte("\x28\xb5\x2f\xfd")):
		tool = "zstd"
	default:
		return nil, fmt.Errorf("unknown compression: %w", errNotUnpackable)
	}
	cmd := exec.CommandContext(ctx, tool, "-dc")
	cmd.Stdin = bytes.NewReader(payload)
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.Join(err, errNotUnpackable)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack with %s: %w", tool, err)
	}
	return out, nil
}

// checkPVH looks for the note that gives QEMU the entry point
// (XEN_ELFNOTE_PHYS32_ENTRY, include/xen/interface/elfnote.h).
func checkPVH(kernel []byte) error {
	f, err := elf.NewFile(bytes.NewReader(kernel))
	if err != nil {
		return errors.Join(err, errNotUnpackable)
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE {
			continue
		}
		notes, err := io.ReadAll(p.Open())
		if err != nil {
			return err
		}
		if bytes.Contains(notes, []byte("\x12\x00\x00\x00Xen\x00")) {
			return nil
		}
	}
	return fmt.Errorf("no PVH entry point: %w", errNotUnpackable)
}
