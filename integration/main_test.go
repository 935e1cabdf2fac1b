package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/guest"
)

// patience is how long something may take that will happen unless it is broken,
// on a machine with other things to do.
const patience = 90 * time.Second

// workshop is what all tests share: the programs under test, and the parts of the
// guest.
type workshop struct {
	proxy string        // binary
	guest guest.Options // kernel and initrd
}

// workDir is the workshop's; TestMain owns it.
var workDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if workDir, err = os.MkdirTemp("", "spicepacer-integration-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(workDir)
	return m.Run()
}

// shop builds everything once.
var shop = sync.OnceValues(func() (w workshop, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if w.proxy, err = goBuild(ctx, "kerbside-proxy"); err != nil {
		return w, err
	}
	init, err := goBuild(ctx, "spicebench")
	if err != nil {
		return w, err
	}
	w.guest, err = guest.Prepare(ctx, workDir, guest.Options{Init: init})
	return w, err
})

// goBuild builds a program of this module, statically as the guest needs it.
func goBuild(ctx context.Context, name string) (string, error) {
	binary := filepath.Join(workDir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "spicepacer/cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return binary, nil
}

// debianPackages tells where to get the programs that the tests run.
var debianPackages = map[string]string{
	"dumpcap":            "wireshark-common",
	"import":             "imagemagick",
	"ip":                 "iproute2",
	"nsenter":            "util-linux",
	"qemu-system-x86_64": "qemu-system-x86",
	"remote-viewer":      "virt-viewer",
	"spicy":              "spice-client-gtk",
	"spicy-screenshot":   "spice-client-gtk",
	"tshark":             "tshark",
	"xdotool":            "xdotool",
	"Xvfb":               "xvfb",
}

// need fails the test unless the programs are installed.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Errorf("%s is missing: apt-get install %s", p, debianPackages[p])
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}
