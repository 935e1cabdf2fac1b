package keydraw

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// moduleParams are the parameters of a module, by its name. Without a console
// on the frame buffer there is nobody else who draws.
var moduleParams = map[string]string{"drm_kms_helper": "fbdev_emulation=0"}

func mountKernelFiles() error {
	for _, fs := range []struct{ kind, dir string }{{"devtmpfs", "/dev"}, {"proc", "/proc"}} {
		if err := unix.Mount(fs.kind, fs.dir, fs.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", fs.kind, fs.dir, err)
		}
	}
	return nil
}

func loadModules() error {
	files, err := os.ReadDir(ModuleDir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := loadModule(filepath.Join(ModuleDir, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// loadModule loads one module; a compressed one is for the kernel to unpack.
// has to decompress.
func loadModule(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, name, _ := strings.Cut(filepath.Base(path), "-")
	name, suffix, _ := strings.Cut(name, ".ko")
	flags := 0
	if suffix != "" {
		flags = unix.MODULE_INIT_COMPRESSED_FILE
	}
	params := moduleParams[strings.ReplaceAll(name, "-", "_")]
	if err := unix.FinitModule(int(file.Fd()), params, flags); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

// await repeats an attempt until it succeeds: devices appear some time after
// their driver has been loaded.
func await[T any](attempt func() (T, error)) (T, error) {
	for range 100 {
		if v, err := attempt(); err == nil {
			return v, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return attempt()
}

func findCard() (*os.File, error) {
	return os.OpenFile("/dev/dri/card0", os.O_RDWR, 0)
}

func findKeyboard() (*keyboard, error) {
	for i := range 16 {
		if k, err := openKeyboard(fmt.Sprintf("/dev/input/event%d", i)); err == nil {
			return k, nil
		}
	}
	return nil, fmt.Errorf("no input device has a space key")
}
