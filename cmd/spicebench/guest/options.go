// Package guest builds and boots the measuring guest: the keydraw program on a
// bare kernel in QEMU, with spice-server in front of its screen.
//
//	o, err := guest.Activity("heavy")
//	m, err := guest.Start(ctx, o, guest.QEMU{SpiceAddr: "127.0.0.1", SpicePort: 5910})
//	defer m.Stop()
package guest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"spicepacer/cmd/spicebench/keydraw"
)

// Options say what the guest is made of and what it shows.
type Options struct {
	Kernel  string // "" is the newest /boot/vmlinuz-*
	Modules string // its module directory; "" is /lib/modules/ with the kernel's version
	Init    string // static program that runs keydraw.Main as PID 1; "" is this program
	Initrd  string // "" has Start prepare one; see Prepare
	Memory  int    // MiB; 0 is 512
	Accel   string // QEMU accelerator, such as "kvm" or "kvm:tcg"; "" is tcg, which works everywhere

	FPS        int           // activity frames per second; 0 is no activity
	Width      int           // of the activity, pixels; 0 is its default
	Height     int           // of the activity, pixels; 0 is its default
	Noise      int           // noise bits per colour, 0..8
	Delay      time.Duration // from boot to the first activity frame, whole seconds
	ModeSwitch time.Duration // between changes of resolution, whole seconds; 0 is never
	Activity   string        // a keydraw.Activity; "" is plasma

	// See keydraw.Knobs.
	Cursor int
	Beep   time.Duration
	Agent  bool
}

// Activities are the names Activity knows.
var Activities = []string{"idle", "busy", "heavy", "large-busy", "scroll", "three", "windows", "text", "reading", "photos"}

// Activity returns the options of a named load. Idle, busy and heavy are those of
// Kerbside's rig; large-busy fills a screen of 1280x800 as far as the key box
// allows; scroll is a console in fast motion; three are separate incompressible
// animations that together are no larger than heavy; windows are moved about, so
// that what they show comes back elsewhere; text is a document whose pages
// are turned, reading the same document as it is scrolled, and photos are pictures
// like photographs that are panned over, all at a leisurely rate.
func Activity(name string) (Options, error) {
	switch name {
	case "idle":
		return Options{}, nil
	case "busy":
		return Options{FPS: 30, Width: 640, Height: 480, Noise: 3}, nil
	case "heavy":
		return Options{FPS: 30, Width: 640, Height: 480, Noise: 8}, nil
	case "large-busy":
		return Options{FPS: 30, Width: 1120, Height: 640, Noise: 3}, nil
	case "scroll":
		return Options{FPS: 30, Width: 640, Height: 480, Activity: string(keydraw.Scroll)}, nil
	case "three":
		return Options{FPS: 30, Width: 320, Height: 240, Noise: 8, Activity: string(keydraw.Three)}, nil
	case "windows":
		return Options{FPS: 10, Width: 1120, Height: 640, Activity: string(keydraw.Windows)}, nil
	case "text":
		return Options{FPS: 3, Width: 640, Height: 480, Activity: string(keydraw.Text)}, nil
	case "reading":
		return Options{FPS: 10, Width: 640, Height: 480, Activity: string(keydraw.Reading)}, nil
	case "photos":
		return Options{FPS: 5, Width: 640, Height: 480, Activity: string(keydraw.Photos)}, nil
	}
	return Options{}, fmt.Errorf("activity %q is none of %s", name, strings.Join(Activities, ", "))
}

// Knobs are what of the options the guest itself is told.
func (o Options) Knobs() keydraw.Knobs {
	return keydraw.Knobs{
		FPS: o.FPS, Width: o.Width, Height: o.Height, Noise: o.Noise,
		Delay: o.Delay, ModeSwitch: o.ModeSwitch, Activity: keydraw.Activity(o.Activity),
		Cursor: o.Cursor, Beep: o.Beep, Agent: o.Agent,
	}
}

// complete fills in what was left to defaults.
func (o *Options) complete() (err error) {
	if o.Init == "" {
		if o.Init, err = os.Executable(); err != nil {
			return err
		}
	}
	if o.Kernel == "" {
		if o.Kernel, err = newestKernel("/boot"); err != nil {
			return err
		}
	}
	if o.Modules == "" {
		o.Modules = filepath.Join("/lib/modules", kernelVersion(o.Kernel))
	}
	o.Memory = cmp.Or(o.Memory, 512)
	o.Accel = cmp.Or(o.Accel, "tcg")
	return nil
}

// newestKernel finds the kernel of the highest version in a directory.
func newestKernel(dir string) (string, error) {
	kernels, err := filepath.Glob(filepath.Join(dir, "vmlinuz-*"))
	if err != nil {
		return "", err
	}
	if len(kernels) == 0 {
		return "", fmt.Errorf("no kernel %s/vmlinuz-*: install one (linux-image-amd64) or name it", dir)
	}
	return slices.MaxFunc(kernels, func(a, b string) int {
		return compareVersions(kernelVersion(a), kernelVersion(b))
	}), nil
}

func kernelVersion(kernel string) string {
	return strings.TrimPrefix(filepath.Base(kernel), "vmlinuz-")
}

// compareVersions orders by the numbers in the versions: 6.1.0-9 is before
// 6.1.0-57.
func compareVersions(a, b string) int {
	return cmp.Or(slices.Compare(numbers(a), numbers(b)), strings.Compare(a, b))
}

func numbers(version string) (list []int) {
	for digits := range strings.FieldsFuncSeq(version, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(digits) // digits only; an overflow compares as the largest number
		list = append(list, n)
	}
	return list
}
