package guest

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/keydraw"
)

// fakeQEMU runs a shell script in QEMU's place.
func fakeQEMU(script string) QEMU {
	return QEMU{
		SpicePort: 5910,
		Command: func(ctx context.Context, _ string, _ ...string) *exec.Cmd {
			return exec.CommandContext(ctx, "sh", "-c", script)
		},
	}
}

var fakeOptions = Options{Kernel: "vmlinuz", Initrd: "initrd", Init: "init"}

func TestStartTellsWhyABootFailed(t *testing.T) {
	for _, tc := range []struct{ script, want string }{
		{"echo no such machine >&2; exit 3", "no such machine"},
		{"echo no such machine >&2; exit 3", "exit status 3"},
		{"echo KEYDRAW ERROR no card; exec sleep 60", "no card"},
	} {
		_, err := Start(t.Context(), fakeOptions, fakeQEMU(tc.script))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q in it", tc.script, err, tc.want)
		}
	}
}

func TestStartGivesUp(t *testing.T) {
	q := fakeQEMU("echo booting; exec sleep 60")
	q.BootTimeout = 50 * time.Millisecond
	if _, err := Start(t.Context(), fakeOptions, q); err == nil || !strings.Contains(err.Error(), "not up after 50ms") {
		t.Errorf("got %v", err)
	}
}

func TestSpiceArgument(t *testing.T) {
	for _, tc := range []struct {
		q    QEMU
		want string
	}{
		{QEMU{SpicePort: 5910}, "addr=127.0.0.1,port=5910,disable-ticketing=on,streaming-video=off"},
		{QEMU{SpiceAddr: "10.0.0.1", SpicePort: 1, TLSPort: 2, TLSDir: "/pki", Ticket: "secret", Streaming: "all"},
			"addr=10.0.0.1,port=1,tls-port=2,x509-dir=/pki,password-secret=ticket,streaming-video=all"},
		{QEMU{Unix: "/run/s", SpicePort: 1}, "unix=on,addr=/run/s,disable-ticketing=on,streaming-video=off"},
	} {
		if got, err := tc.q.spice(); err != nil || got != tc.want {
			t.Errorf("-spice %s, %v, want %s", got, err, tc.want)
		}
	}
	if _, err := (QEMU{}).spice(); err == nil {
		t.Error("a guest without any port is accepted")
	}
}

func TestTicketIsNotOnTheCommandLine(t *testing.T) {
	args, err := QEMU{SpicePort: 1, Ticket: "tell-nobody"}.arguments(fakeOptions, "/dir")
	if err != nil || strings.Contains(strings.Join(args, " "), "tell-nobody") {
		t.Errorf("arguments %q, %v", args, err)
	}
}

// The real thing: a kernel boots, shows the picture, answers a key, changes its
// mode and starts again after a reset.
func TestBoot(t *testing.T) {
	if testing.Short() {
		t.Skip("boots an emulated machine")
	}
	o, err := Activity("busy")
	if err != nil {
		t.Fatal(err)
	}
	o.Init, o.ModeSwitch = staticInit(t), 5*time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	m, err := Start(ctx, o, QEMU{Unix: filepath.Join(t.TempDir(), "spice"), Ticket: "open sesame"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
		if _, err := os.Stat(m.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the machine's directory is still there (%v)", err)
		}
	}()
	v := viewer{t, ctx, m}

	v.wantBox(color.RGBA{0xff, 0x40, 0x40, 0xff})
	v.wantActivity(m.Areas())
	if err := m.QMP.SendKey(ctx, "spc"); err != nil {
		t.Fatal(err)
	}
	v.wantBox(color.RGBA{0x40, 0xff, 0x40, 0xff})

	line := v.wantLine(keydraw.ModeLine)
	if size := v.screen().Bounds().Size(); !strings.Contains(line, fmt.Sprintf(" %dx%d ", size.X, size.Y)) {
		t.Errorf("screen is %v after %s", size, line)
	}
	v.wantBox(color.RGBA{0x40, 0xff, 0x40, 0xff})

	if err := m.QMP.SystemReset(ctx); err != nil {
		t.Fatal(err)
	}
	v.wantLine(keydraw.StartLine)
	v.wantBox(color.RGBA{0xff, 0x40, 0x40, 0xff})
}

// viewer looks at a machine's screen.
type viewer struct {
	t   *testing.T
	ctx context.Context
	m   *Machine
}

func (v viewer) screen() image.Image {
	v.t.Helper()
	file := filepath.Join(v.t.TempDir(), "screen.png")
	if err := v.m.QMP.Screendump(v.ctx, file); err != nil {
		v.t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		v.t.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		v.t.Fatal(err)
	}
	return picture
}

// wantScreen looks until the screen is right; the test's context bounds it.
func (v viewer) wantScreen(what string, right func(image.Image) bool) {
	v.t.Helper()
	for {
		if right(v.screen()) {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond): // the screen sends no event
		case <-v.ctx.Done():
			v.t.Fatalf("never saw %s: %v", what, v.ctx.Err())
		}
	}
}

func (v viewer) wantBox(want color.RGBA) {
	v.t.Helper()
	v.wantScreen("the key box change its colour", func(s image.Image) bool {
		return color.RGBAModel.Convert(s.At(64, 64)) == want
	})
}

// wantActivity waits for the middle of each area to change.
func (v viewer) wantActivity(areas []image.Rectangle) {
	v.t.Helper()
	if len(areas) == 0 {
		v.t.Fatal("no activity")
	}
	first := v.screen()
	for _, area := range areas {
		at := area.Min.Add(area.Size().Div(2))
		v.wantScreen("the activity move", func(s image.Image) bool {
			return s.At(at.X, at.Y) != first.At(at.X, at.Y)
		})
	}
}

func (v viewer) wantLine(prefix string) string {
	v.t.Helper()
	line, err := v.m.WaitLine(v.ctx, prefix)
	if err != nil {
		v.t.Fatal(err)
	}
	return line
}
