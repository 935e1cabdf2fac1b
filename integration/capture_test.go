package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/dump"
	"spicepacer/cmd/spicebench/guest"
)

// scenario is a plaintext session between QEMU and spicy whose capture tshark
// gives its opinion on.
type scenario struct {
	name string
	// activity of the guest, and what else it does. Empty: no guest program, the
	// kernel boots on a text console and stops there for want of an init.
	activity string
	change   func(*guest.Options)
	// streaming is QEMU's streaming-video, args are further arguments.
	streaming string
	args      []string
	// user moves the mouse, clicks and types.
	user bool
	// enough is how many messages of some kinds end the session.
	enough map[string]int
}

const (
	drawCopyKind      = "display s2c DRAW_COPY"
	mouseMotionKind   = "inputs c2s MOUSE_MOTION"
	mousePositionKind = "inputs c2s MOUSE_POSITION" // where an agent takes the mouse
)

var scenarios = []scenario{
	{name: "heavy", activity: "heavy", enough: map[string]int{drawCopyKind: 16_000}},
	{name: "busy", activity: "busy", enough: map[string]int{drawCopyKind: 18_000}},
	{name: "scroll", activity: "scroll", enough: map[string]int{drawCopyKind: 8000}},
	// An idle text console: what draws is its cursor.
	{name: "console", args: []string{"-vga", "std"}, enough: map[string]int{drawCopyKind: 100}},
	// spice-server 0.15 dies of a client that comes while it streams.
	{name: "video", activity: "busy", change: func(o *guest.Options) { o.Delay = 8 * time.Second }, streaming: "all",
		enough: map[string]int{"display s2c STREAM_DATA": 10_000, "display c2s STREAM_REPORT": 50}},
	{name: "cursor", activity: "idle", change: func(o *guest.Options) { o.Cursor = 20 }, user: true,
		enough: map[string]int{"cursor s2c MOVE": 250, "cursor s2c SET": 8, "cursor s2c HIDE": 3, mouseMotionKind: 5}},
	{name: "audio", activity: "idle", change: func(o *guest.Options) { o.Beep = 2 * time.Second },
		args:   []string{"-audiodev", "spice,id=sound", "-machine", "pcspk-audiodev=sound"},
		enough: map[string]int{"playback s2c DATA": 500, "playback s2c STOP": 2}},
	{name: "monitors", args: []string{"-vga", "qxl", "-device", "qxl"},
		enough: map[string]int{drawCopyKind: 40, "display c2s INIT": 2}},
	{name: "agent", activity: "idle", change: func(o *guest.Options) { o.Agent = true },
		args: []string{"-device", "virtio-serial", "-chardev", "spicevmc,id=agent,name=vdagent",
			"-device", "virtserialport,chardev=agent,name=com.redhat.spice.0"},
		user: true, enough: map[string]int{"main s2c AGENT_DATA": 5, "main c2s AGENT_DATA": 1, mousePositionKind: 5}},
	{name: "usbredir", args: []string{"-vga", "std", "-device", "qemu-xhci", "-chardev", "spicevmc,id=usb,name=usbredir",
		"-device", "usb-redir,chardev=usb", "-chardev", "spiceport,id=port,name=org.spicepacer.test",
		"-device", "virtio-serial", "-device", "virtserialport,chardev=port"},
		enough: map[string]int{"usbredir s2c DATA": 1, "usbredir c2s DATA": 1, "port s2c INIT": 1}},
}

// capturePrograms are what a capture takes beside QEMU.
var capturePrograms = []string{"dumpcap", "spicy", "tshark", "xdotool", "Xvfb"}

// capture runs the session on the loopback of the server's namespace until enough
// was said, and returns the capture.
func (c scenario) capture(t *testing.T) string {
	t.Helper()
	l := newLab(t, "0:0", capturePrograms...)
	in := command(l.link.Server())
	background := context.WithoutCancel(t.Context())
	file := l.file(c.name + ".pcap")
	recorder := l.start("dumpcap", in(background, "dumpcap", "-q", "-P", "-i", "lo", "-B", "256",
		"-f", fmt.Sprintf("tcp port %d", qemuPort), "-w", file))
	l.eventually("the capture's file", func() error {
		_, err := os.Stat(file)
		return err
	})
	c.boot(l)
	screen := l.startScreen()
	viewer := in(background, "spicy", "--host", "127.0.0.1", "--port", fmt.Sprint(qemuPort), "--password", ticket)
	viewer.Env = screen.environ()
	spicy := l.start("spicy", viewer)
	c.wait(l, screen, file)
	spicy.stop()
	recorder.stop()
	return file
}

// boot starts the guest, or a kernel without one.
func (c scenario) boot(l *lab) {
	l.t.Helper()
	if c.activity != "" {
		o := l.activity(c.activity)
		if c.change != nil {
			c.change(&o)
		}
		l.boot(o, guest.QEMU{SpicePort: qemuPort, Streaming: c.streaming, Args: c.args})
		return
	}
	args := []string{
		"-machine", "pc,accel=tcg", "-m", "512", "-nodefaults", "-display", "none", "-serial", "stdio",
		"-kernel", l.shop.guest.Kernel, "-append", "console=ttyS0 console=tty0 panic=0",
		"-spice", fmt.Sprintf("addr=127.0.0.1,port=%d,disable-ticketing=on", qemuPort),
	}
	qemu := l.start("qemu", command(l.link.Server())(context.WithoutCancel(l.t.Context()),
		"qemu-system-x86_64", append(args, c.args...)...))
	booting := func(line string) bool { return strings.Contains(line, "Linux version") }
	if _, err := qemu.output.wait(l.patient(), 1, booting); err != nil {
		l.t.Fatalf("kernel: %v\n%s", err, qemu.output.tail())
	}
}

// act does what a user might.
func (c scenario) act(l *lab, s *screen) {
	l.t.Helper()
	if _, err := s.run("xdotool", "mousemove", "400", "400", "click", "1", "mousemove_relative", "7", "5",
		"mousemove_relative", "3", "2", "click", "4", "key", "space", "key", "Right"); err != nil {
		l.t.Fatal(err)
	}
}

// wait looks into the growing capture until there is enough in it.
func (c scenario) wait(l *lab, s *screen, file string) {
	l.t.Helper()
	const interval, limit = 2 * time.Second, 10 * time.Minute
	deadline := time.Now().Add(limit)
	for {
		counts := make(map[string]int)
		err := dump.ReadFile(file, func(r *dump.Record) error {
			counts[fmt.Sprintf("%v %v %s", r.Channel, r.Direction, r.Name)]++
			return nil
		})
		missing := ""
		for kind, n := range c.enough {
			if counts[kind] < n {
				missing = fmt.Sprintf("%d of %d %s", counts[kind], n, kind)
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("capture has %s after %v (%v)", missing, limit, err)
		}
		if c.user {
			c.act(l, s)
		}
		time.Sleep(interval)
	}
}
