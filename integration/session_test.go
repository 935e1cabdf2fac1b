package integration

import (
	"fmt"
	"os"
	"strings"
	"time"

	"spicepacer/cmd/spicebench/guest"
)

// session is a user at remote-viewer, looking at a busy guest through a pacing
// proxy.
type session struct {
	*lab
	guest  *machine // or
	player *player
	proxy  *proxy
	viewer *viewer
	odd    bool // an odd number of key presses was made
}

// viewerPrograms are what a session runs.
var viewerPrograms = []string{"remote-viewer", "Xvfb", "xdotool", "import"}

// startSession boots a guest with heavy activity that changes its resolution at
// intervals, never if 0, and connects a viewer. It returns when the viewer shows
// the key box and has the keyboard.
func (l *lab) startSession(modeSwitch time.Duration) *session {
	l.t.Helper()
	options := l.activity("heavy")
	options.ModeSwitch = modeSwitch
	s := &session{lab: l}
	s.guest = l.boot(options, guest.QEMU{SpicePort: qemuPort})
	s.proxy = l.startProxy("adaptive", nil, plainTarget)
	s.viewer = l.startScreen().startViewer(l.consoleFile())
	box := s.viewer.wantBox("connected", evenBox)
	s.viewer.focus(box.Max)
	return s
}

// consoleFile is a .vv file as Kerbside writes it, for a proxy with a certificate
// of its own.
func (l *lab) consoleFile() string {
	l.t.Helper()
	ca, err := os.ReadFile(l.file("self-signed.pem"))
	if err != nil {
		l.t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		l.t.Fatal(err)
	}
	return fmt.Sprintf(`[virt-viewer]
type=spice
host=%s
port=%d
tls-port=%d
password=%s
delete-this-file=0
tls-ciphers=DEFAULT
ca=%s
host-subject=O=spicepacer,CN=%s
`, l.link.Server().Addr(), insecurePort, securePort, token, strings.ReplaceAll(string(ca), "\n", `\n`), host)
}

// wantAnswer presses a key and waits for the box to change in the picture, which is
// kept under a name.
func (s *session) wantAnswer(name string) {
	s.t.Helper()
	s.viewer.press()
	s.odd = !s.odd
	s.wantPicture(name)
}

// wantPicture waits for the key box as it should be after the presses so far.
func (s *session) wantPicture(name string) {
	s.t.Helper()
	colour := evenBox
	if s.odd {
		colour = oddBox
	}
	s.viewer.wantBox(name, colour)
}

// wantLines waits until the guest has printed n lines that begin so.
func (s *session) wantLines(prefix string, n int) {
	s.t.Helper()
	if _, err := s.guest.console.wait(s.patient(), n, beginning(prefix)); err != nil {
		s.t.Fatalf("%d lines %q on the guest's console: %v\n%s", n, prefix, err, s.guest.console.tail())
	}
}

// lines counts the lines of the guest that begin so.
func (s *session) lines(prefix string) int { return len(s.guest.console.matching(beginning(prefix))) }

// wantHeld waits until the proxy has so much of the picture in its queue that it
// does not read the server.
func (s *session) wantHeld() {
	s.t.Helper()
	s.eventually("display data held", func() error {
		const much = 200 << 10
		n, err := s.proxy.metric(`spicepacer_display_queue_bytes{mode="adaptive"}`)
		if err == nil && n < much {
			err = fmt.Errorf("%.0f bytes", n)
		}
		return err
	})
}

// wantConnected checks that no channel has ended and that the viewer still runs.
func (s *session) wantConnected() {
	s.t.Helper()
	if ends := s.proxy.output.matching(says("relay ended", nil)); len(ends) > 0 {
		s.t.Errorf("channels ended:\n%s", strings.Join(ends, "\n"))
	}
	if err := s.viewer.alive(); err != nil {
		s.t.Error(err)
	}
}

// wantUndisturbed is wantConnected, and that spice-server has seen nothing to warn
// of.
func (s *session) wantUndisturbed() {
	s.t.Helper()
	s.wantConnected()
	warnings := s.guest.console.matching(func(line string) bool { return strings.Contains(line, "Spice") })
	if len(warnings) > 0 {
		s.t.Errorf("spice-server warns:\n%s", strings.Join(warnings, "\n"))
	}
}
