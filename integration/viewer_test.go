package integration

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/keydraw"
	"spicepacer/cmd/spicebench/link"
)

// remote-viewer with the file that Kerbside hands out: it tries the plaintext port,
// is sent to the TLS port, trusts the certificate by its subject, shows the guest
// and takes keys to it.
func TestRemoteViewer(t *testing.T) {
	s := newLab(t, "80:10", viewerPrograms...).startSession(0)
	s.proxy.wantLog("client sent to the secure port", nil)
	s.wantAnswer("pressed")
	s.wantUndisturbed()
}

// The guest changes its resolution, and is reset, while the proxy does not read the
// display. In both, QEMU's main loop waits for spice-server, which waits for the
// proxy: not for long, and nobody may be disconnected for it.
func TestGuestReset(t *testing.T) {
	s := newLab(t, "80:10", viewerPrograms...).startSession(5 * time.Second)
	// On this link what the proxy holds lasts for seconds.
	if err := s.link.SetProfile(link.Profile{RTT: 80 * time.Millisecond, RateMbit: 2}); err != nil {
		t.Fatal(err)
	}
	watch := watchPulse(t, s.guest)
	s.wantHeld()
	s.wantLines(keydraw.ModeLine, s.lines(keydraw.ModeLine)+2)

	s.wantAnswer("before")
	s.wantHeld()
	if err := s.guest.QMP.SystemReset(s.patient()); err != nil {
		t.Fatal(err)
	}
	s.odd = false // a new guest has counted no presses
	s.wantLines(keydraw.StartLine, 2)
	s.wantPicture("reset")
	s.wantAnswer("after")
	watch.end(10 * time.Second)
	s.wantUndisturbed()
}

// A viewer stops reading for good, and the guest changes its resolution: the proxy
// lets go of the server after 10 s, before spice-server loses patience at 15 s and
// disconnects. The guest goes on, and the viewer finds the session as it was.
//
// Then the viewer stops again and dies while QEMU waits. A spice-server whose display
// client disconnects in that moment may spin for ever, and the guest with it.
func TestStoppedViewer(t *testing.T) {
	l := newLab(t, "80:10", viewerPrograms...)
	l.limitClientBuffers()
	s := l.startSession(4 * time.Second)
	watch := watchPulse(t, s.guest)
	s.wantHeld()
	s.viewer.signal(syscall.SIGSTOP)
	s.wantLines(keydraw.ModeLine, s.lines(keydraw.ModeLine)+2)
	s.viewer.signal(syscall.SIGCONT)
	s.wantAnswer("continued")
	s.wantUndisturbed()

	s.wantHeld()
	s.viewer.signal(syscall.SIGSTOP)
	changes := s.lines(keydraw.ModeLine)
	s.eventually("QEMU wait, or two changes without", func() error {
		if watch.waiting() < time.Second && s.lines(keydraw.ModeLine) < changes+2 {
			return errors.New("QEMU answers")
		}
		return nil
	})
	t.Logf("the viewer dies %v into QEMU's wait", watch.waiting().Round(time.Millisecond))
	s.viewer.signal(syscall.SIGKILL)
	s.wantLines(keydraw.ModeLine, s.lines(keydraw.ModeLine)+2)
	watch.end(14 * time.Second)
	s.viewer = s.viewer.startViewer(s.consoleFile())
	s.wantPicture("another viewer")
}

// limitClientBuffers makes the client's kernel take little more than the link holds,
// so that a viewer that does not read stops the link soon.
func (l *lab) limitClientBuffers() {
	l.t.Helper()
	const rmem = "4096 131072 262144" // least, initial and most bytes, tcp(7)
	err := l.link.Client().Do(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/tcp_rmem", []byte(rmem), 0)
	})
	if err != nil {
		l.t.Fatal(err)
	}
}
