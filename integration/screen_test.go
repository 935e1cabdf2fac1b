package integration

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"time"

	"spicepacer/cmd/spicebench/keydraw"
)

// screen is an X server without a monitor, in the client's namespace.
type screen struct {
	l       *lab
	display string // such as ":1"
	home    string // of those who work at it
}

// startScreen starts an X server larger than the guest's screen.
func (l *lab) startScreen() *screen {
	l.t.Helper()
	number, tell, err := os.Pipe()
	if err != nil {
		l.t.Fatal(err)
	}
	defer number.Close()
	cmd := command(l.link.Client())(context.WithoutCancel(l.t.Context()),
		"Xvfb", "-displayfd", "3", "-screen", "0", "1600x1000x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{tell}
	l.start("xvfb", cmd)
	tell.Close()
	number.SetReadDeadline(time.Now().Add(patience))
	var n int
	if _, err := fmt.Fscan(number, &n); err != nil {
		l.t.Fatalf("Xvfb's display number: %v", err)
	}
	return &screen{l: l, display: fmt.Sprintf(":%d", n), home: l.t.TempDir()}
}

// environ makes a program find the screen, an empty home, and no desktop session:
// a bus that it started itself would outlive it.
func (s *screen) environ() []string {
	return append(os.Environ(), "DISPLAY="+s.display, "HOME="+s.home, "XDG_RUNTIME_DIR="+s.home,
		"GDK_BACKEND=x11", "GSETTINGS_BACKEND=memory", "NO_AT_BRIDGE=1", "DBUS_SESSION_BUS_ADDRESS=disabled:")
}

// run runs a tool of X to its end and returns what it printed.
func (s *screen) run(name string, args ...string) ([]byte, error) {
	cmd := command(s.l.link.Client())(s.l.patient(), name, args...)
	cmd.Env = s.environ()
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		return nil, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// picture is what the screen shows.
func (s *screen) picture() (*image.RGBA, error) {
	raw, err := s.run("import", "-window", "root", "-depth", "8", "ppm:-")
	if err != nil {
		return nil, err
	}
	return decodePPM(bytes.NewReader(raw))
}

// wantBox looks until the guest's key box is on the screen, in its full size and in
// this colour. It keeps the last picture under a name.
func (s *screen) wantBox(name string, colour color.RGBA) image.Rectangle {
	s.l.t.Helper()
	file := s.l.file(name + ".png")
	var picture *image.RGBA
	var box image.Rectangle
	defer func() {
		if picture != nil {
			savePNG(s.l.t, file, picture)
		}
	}()
	s.l.eventually(fmt.Sprintf("the key box in %v on the screen, see %s", colour, file), func() (err error) {
		if picture, err = s.picture(); err != nil {
			return err
		}
		if box = solid(picture, colour); box.Size() != keydraw.KeyBox.Size() {
			return fmt.Errorf("pixels of its colour fill %v", box)
		}
		return nil
	})
	s.l.t.Logf("the key box is at %v: %s", box, file)
	return box
}

// viewer is remote-viewer on a screen.
type viewer struct {
	*process
	*screen
}

// startViewer opens a .vv file.
func (s *screen) startViewer(vv string) *viewer {
	s.l.t.Helper()
	file := s.l.file("console.vv")
	if err := os.WriteFile(file, []byte(vv), 0o600); err != nil {
		s.l.t.Fatal(err)
	}
	cmd := command(s.l.link.Client())(context.WithoutCancel(s.l.t.Context()), "remote-viewer", file)
	cmd.Env = s.environ()
	return &viewer{s.l.start("remote-viewer", cmd), s}
}

// focus points at a place of the guest's screen and clicks, which gives the guest
// the keyboard.
func (v *viewer) focus(at image.Point) {
	v.l.t.Helper()
	v.act("mousemove", fmt.Sprint(at.X), fmt.Sprint(at.Y))
	v.act("click", "1")
}

// press presses a key.
func (v *viewer) press() {
	v.l.t.Helper()
	v.act("key", "space")
}

// act does what a user would with mouse and keyboard.
func (v *viewer) act(args ...string) {
	v.l.t.Helper()
	if _, err := v.screen.run("xdotool", args...); err != nil {
		v.l.t.Fatal(err)
	}
}
