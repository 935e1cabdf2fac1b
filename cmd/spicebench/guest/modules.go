package guest

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// wanted are the modules the guest cannot do without: the bus of its graphics
// card, the driver of the card, keyboard events and the agent's port. The keyboard itself, PS/2,
// is part of distribution kernels.
var wanted = []string{"virtio_pci", "virtio_gpu", "evdev", "virtio_console"}

// moduleTree is the module directory of one kernel.
type moduleTree struct {
	files   map[string]string   // module name to path below the directory
	deps    map[string][]string // module name to names of what it needs
	builtin map[string]bool     // modules that are part of the kernel
}

// readModuleTree reads modules.dep and modules.builtin as depmod and the kernel
// build leave them in dir.
func readModuleTree(dir string) (*moduleTree, error) {
	t := &moduleTree{files: map[string]string{}, deps: map[string][]string{}, builtin: map[string]bool{}}
	err := eachLine(filepath.Join(dir, "modules.dep"), func(line string) {
		file, deps, _ := strings.Cut(line, ":")
		name := moduleName(file)
		t.files[name] = file
		for dep := range strings.FieldsSeq(deps) {
			t.deps[name] = append(t.deps[name], moduleName(dep))
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(dir, "modules.builtin"), func(line string) {
		t.builtin[moduleName(line)] = true
	})
	return t, err
}

func eachLine(file string, f func(line string)) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f(lines.Text())
	}
	return lines.Err()
}

// moduleName turns a path into the name the kernel knows: no directory, no .ko
// with or without compression suffix, underscores for hyphens.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// resolve returns the files of the named modules and of all they need, each once
// and after what it needs.
func (t *moduleTree) resolve(names ...string) ([]string, error) {
	var files []string
	done := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		if done[name] || t.builtin[name] {
			return nil
		}
		done[name] = true // before its needs, so that a circle ends
		file, ok := t.files[name]
		if !ok {
			return fmt.Errorf("kernel module %s is neither in modules.dep nor built in", name)
		}
		for _, dep := range t.deps[name] {
			if err := visit(dep); err != nil {
				return err
			}
		}
		files = append(files, file)
		return nil
	}
	for _, name := range names {
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return files, nil
}
