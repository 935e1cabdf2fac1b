package guest

import (
	"compress/gzip"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"spicepacer/cmd/spicebench/keydraw"
)

// Build writes the guest's initrd to a file: /init, the modules in the order in
// which /init must load them, and the directories and devices the kernel and
// the Go runtime expect before /init has mounted anything. A failed build
// leaves no file.
func Build(ctx context.Context, out string, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	err := build(ctx, out, o)
	if err != nil {
		return errors.Join(fmt.Errorf("build initrd %s: %w", out, err), removeIfThere(out))
	}
	return nil
}

func build(ctx context.Context, out string, o Options) (err error) {
	if err := checkStatic(o.Init); err != nil {
		return err
	}
	tree, err := readModuleTree(o.Modules)
	if err != nil {
		return err
	}
	modules, err := tree.resolve(wanted...)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Modules, err)
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// The guest unpacks this once per boot, and nobody stores it for long.
	packed, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := writeTree(ctx, &cpioWriter{w: packed}, o, modules); err != nil {
		return err
	}
	return packed.Close()
}

func writeTree(ctx context.Context, archive *cpioWriter, o Options, modules []string) error {
	for _, dir := range []string{"dev", "proc", strings.TrimPrefix(keydraw.ModuleDir, "/")} {
		archive.dir(dir)
	}
	archive.charDevice("dev/console", 5, 1)
	if err := copyInto(archive, "init", 0o755, o.Init); err != nil {
		return err
	}
	for i, module := range modules {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := fmt.Sprintf("%s/%02d-%s", strings.TrimPrefix(keydraw.ModuleDir, "/"), i, path.Base(module))
		if err := copyInto(archive, name, 0o644, filepath.Join(o.Modules, module)); err != nil {
			return err
		}
	}
	return archive.close()
}

func copyInto(archive *cpioWriter, name string, perm uint32, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	archive.file(name, perm, content)
	return nil
}

// checkStatic refuses a program that needs a dynamic loader: the initrd has
// none.
func checkStatic(program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is dynamically linked and cannot be the guest's init: build it with CGO_ENABLED=0", program)
		}
	}
	return nil
}

func removeIfThere(file string) error {
	if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Prepare does once what Start would do at every start: it unpacks the kernel
// and builds the initrd, as files in dir. The options returned name them; what
// the guest shows can still be changed in them.
func Prepare(ctx context.Context, dir string, o Options) (Options, error) {
	if err := o.complete(); err != nil {
		return Options{}, err
	}
	initrd := filepath.Join(dir, "initrd.gz")
	if err := Build(ctx, initrd, o); err != nil {
		return Options{}, err
	}
	o.Initrd = initrd
	kernel := filepath.Join(dir, "vmlinux")
	switch err := unpackKernel(ctx, kernel, o.Kernel); {
	case err == nil:
		o.Kernel = kernel
	case !errors.Is(err, errNotUnpackable):
		return Options{}, err
	}
	return o, nil
}
