package guest

import (
	"slices"
	"strings"
	"testing"
)

func TestResolveModules(t *testing.T) {
	tree, err := readModuleTree("testdata/modules")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.resolve(wanted...)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ // what is needed first; each once; evdev is built in
		"kernel/drivers/virtio/virtio_ring.ko",
		"kernel/drivers/virtio/virtio.ko",
		"kernel/drivers/virtio/virtio_pci.ko.xz",
		"kernel/drivers/gpu/drm/drm.ko",
		"kernel/drivers/gpu/drm/virtio/virtio-gpu.ko",
		"kernel/drivers/char/virtio_console.ko",
	}
	if !slices.Equal(got, want) {
		t.Errorf("resolved\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestResolveNamesMissingModule(t *testing.T) {
	tree, err := readModuleTree("testdata/modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.resolve("broken"); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("resolve(broken): %v", err)
	}
}
