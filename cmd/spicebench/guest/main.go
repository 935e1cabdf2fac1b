package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// Main is the subcommand "spicebench guest": it builds an initrd, or boots a
// guest and lets it run until it is interrupted.
func Main(ctx context.Context, args []string) error {
	f, err := parseFlags(args)
	if err != nil {
		return err
	}
	if f.run {
		return run(ctx, f)
	}
	return Build(ctx, f.out, f.options)
}

type flags struct {
	out     string
	run     bool
	options Options
	qemu    QEMU
}

func parseFlags(args []string) (*flags, error) {
	var f flags
	var name string
	set := pflag.NewFlagSet("spicebench guest", pflag.ContinueOnError)
	set.StringVar(&f.out, "out", "", "write the initrd to this file")
	set.BoolVar(&f.run, "run", false, "boot the guest and run it until interrupted")
	set.StringVar(&name, "activity", "busy", "what it shows: "+strings.Join(Activities, ", "))
	var o Options
	set.StringVar(&o.Kernel, "kernel", "", "kernel to boot (default: newest /boot/vmlinuz-*)")
	set.StringVar(&o.Modules, "modules", "", "module directory (default: /lib/modules/VERSION of the kernel)")
	set.StringVar(&o.Accel, "accel", "tcg", "QEMU accelerator")
	set.IntVar(&o.FPS, "fps", 0, "activity frames per second")
	set.IntVar(&o.Width, "width", 0, "activity width in pixels")
	set.IntVar(&o.Height, "height", 0, "activity height in pixels")
	set.IntVar(&o.Noise, "noise", 0, "noise bits per colour, 0..8")
	set.DurationVar(&o.Delay, "delay", 0, "time from boot to the first activity frame, whole seconds")
	set.DurationVar(&o.ModeSwitch, "mode-switch", 0, "time between changes of resolution, whole seconds; 0: never")
	set.IntVar(&o.Cursor, "cursor", 0, "moves of a pointer per second; 0: no pointer")
	set.DurationVar(&o.Beep, "beep", 0, "length of a tone, and of the silence behind it, whole seconds; 0: never")
	set.BoolVar(&o.Agent, "agent", false, "play the guest agent on the first virtio serial port")
	set.StringVar(&f.qemu.SpiceAddr, "spice-addr", "127.0.0.1", "address to serve SPICE on")
	set.IntVar(&f.qemu.SpicePort, "spice-port", 5910, "port to serve SPICE on; 0: none")
	set.IntVar(&f.qemu.TLSPort, "tls-port", 0, "port to serve SPICE over TLS on; 0: none")
	set.StringVar(&f.qemu.TLSDir, "tls-dir", "", "directory with ca-cert.pem, server-cert.pem, server-key.pem")
	set.StringVar(&f.qemu.Unix, "unix", "", "Unix socket to serve SPICE on instead")
	set.StringVar(&f.qemu.Ticket, "ticket", "", "SPICE password; empty: none asked")
	set.StringVar(&f.qemu.Streaming, "streaming-video", "off", "off, filter or all")
	set.Usage = func() {
		fmt.Fprintf(os.Stderr, "Usage: spicebench guest [flags] [-- QEMU ARGUMENTS]\n\n%s", set.FlagUsages())
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	f.qemu.Args = set.Args()
	if f.run == (f.out != "") {
		return nil, errors.New("one of --out FILE and --run is needed")
	}
	activity, err := Activity(name)
	if err != nil {
		return nil, err
	}
	f.options = o
	f.options.Activity = activity.Activity
	inherit := func(flag string, to *int, from int) {
		if !set.Changed(flag) {
			*to = from
		}
	}
	inherit("fps", &f.options.FPS, activity.FPS)
	inherit("width", &f.options.Width, activity.Width)
	inherit("height", &f.options.Height, activity.Height)
	inherit("noise", &f.options.Noise, activity.Noise)
	return &f, nil
}

func run(ctx context.Context, f *flags) error {
	f.qemu.Log = os.Stderr
	m, err := Start(ctx, f.options, f.qemu)
	if err != nil {
		return err
	}
	fmt.Println(m.StartLine())
	select {
	case <-ctx.Done():
	case <-m.Exited():
	}
	return m.Stop()
}
