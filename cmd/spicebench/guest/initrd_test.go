package guest

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// staticInit builds the guest program by itself: test binaries may need a
// dynamic loader.
func staticInit(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "init")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build init: %v\n%s", err, out)
	}
	return program
}

// moduleFixture is testdata/modules with the module files it talks about.
func moduleFixture(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/modules")); err != nil {
		t.Fatal(err)
	}
	tree, err := readModuleTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range tree.files {
		file = filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuild(t *testing.T) {
	out := filepath.Join(t.TempDir(), "initrd.gz")
	program := staticInit(t)
	if err := Build(t.Context(), out, Options{Kernel: "vmlinuz", Modules: moduleFixture(t), Init: program}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readCPIO(archive)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.name)
	}
	const want = "dev proc m dev/console init m/00-virtio_ring.ko m/01-virtio.ko m/02-virtio_pci.ko.xz m/03-drm.ko m/04-virtio-gpu.ko m/05-virtio_console.ko"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("initrd holds\n%s, want\n%s", got, want)
	}
	init, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if e := entries[4]; e.content != string(init) || e.mode != 0o100755 {
		t.Errorf("/init has mode %o and %d bytes, want the program's %d", e.mode, len(e.content), len(init))
	}
}

func TestBuildRefusesDynamicPrograms(t *testing.T) {
	out := filepath.Join(t.TempDir(), "initrd.gz")
	err := Build(t.Context(), out, Options{Kernel: "vmlinuz", Modules: moduleFixture(t), Init: "/bin/sh"})
	if err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=0") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failed build leaves a file (%v)", err)
	}
}
