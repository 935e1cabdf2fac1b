package guest

import (
	"os"
	"path/filepath"
	"testing"

	"spicepacer/cmd/spicebench/keydraw"
)

func TestActivities(t *testing.T) {
	for _, name := range Activities {
		o, err := Activity(name)
		if err != nil {
			t.Errorf("Activity(%q): %v", name, err)
		}
		if _, err := keydraw.ParseKnobs(o.Knobs().CommandLine()); err != nil {
			t.Errorf("%s: the guest refuses its knobs: %v", name, err)
		}
	}
	if _, err := Activity("dance"); err == nil {
		t.Error("Activity accepts an unknown name")
	}
}

func TestNewestKernel(t *testing.T) {
	dir := t.TempDir()
	if _, err := newestKernel(dir); err == nil {
		t.Error("found a kernel in an empty directory")
	}
	for _, version := range []string{"6.1.0-9-amd64", "6.1.0-57-amd64", "5.19.0-100-amd64"} {
		if err := os.WriteFile(filepath.Join(dir, "vmlinuz-"+version), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := newestKernel(dir); err != nil || kernelVersion(got) != "6.1.0-57-amd64" {
		t.Errorf("newestKernel = %s, %v", got, err)
	}
}

func TestFlags(t *testing.T) {
	f, err := parseFlags([]string{"--run", "--activity", "heavy", "--fps", "10", "--mode-switch", "3s", "--spice-port", "5999"})
	if err != nil {
		t.Fatal(err)
	}
	if o := f.options; o.FPS != 10 || o.Noise != 8 || o.Width != 640 || o.ModeSwitch.Seconds() != 3 {
		t.Errorf("options %+v: want heavy's but for 10 fps and mode switches", o)
	}
	if !f.run || f.qemu.SpicePort != 5999 {
		t.Errorf("flags %+v", f)
	}
	for _, bad := range [][]string{{}, {"--run", "--out", "x"}, {"--run", "--activity", "dance"}, {"--out", "x", "--fps", "many"}} {
		if _, err := parseFlags(bad); err == nil {
			t.Errorf("flags %q are accepted", bad)
		}
	}
}
