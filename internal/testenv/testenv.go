// Package testenv tells tests what the machine they run on lacks, and skips them
// there. In CI, where the environment variable CI is set, everything must be there
// (.ci/run installs it), and the test fails instead.
package testenv

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// Missing ends the test, which needs something that the machine lacks.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("missing in CI: "+format, args...)
	}
	t.Skipf("missing: "+format, args...)
}

// NeedsRoot ends the test unless root runs it: network namespaces need that.
func NeedsRoot(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		Missing(t, "root, to make network namespaces")
	}
}

// NeedsTUN ends the test where no TUN devices can be made.
func NeedsTUN(t testing.TB) {
	t.Helper()
	const device = "/dev/net/tun"
	if err := unix.Access(device, unix.R_OK|unix.W_OK); err != nil {
		Missing(t, "%s: %v", device, err)
	}
}

// NeedsPrograms ends the test unless all programs are in PATH.
func NeedsPrograms(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, "%v", err)
		}
	}
}
