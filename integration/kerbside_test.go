package integration

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/control"
	"spicepacer/cmd/spicebench/guest"
	"spicepacer/session/authz/kerbside/kerbsidepb"
)

const consoleSession = "a session of the daemon"

// Everything together, as Kerbside runs it: the daemon's control plane on a unix
// socket, a hypervisor with TLS and a ticket, and remote-viewer with the file that
// Kerbside writes. The picture is shown and answers; the daemon hears of every
// channel in the contract's order; it ends the session; the proxy drains.
func TestUnderKerbside(t *testing.T) {
	l := newLab(t, "80:10", viewerPrograms...)
	ca := newAuthority(t, "Hypervisors")
	dir := t.TempDir()
	ca.issue(dir, hypervisorName, l.link.Server().Addr())
	machine := l.boot(l.activity("heavy"), guest.QEMU{SpicePort: qemuPort, TLSPort: qemuTLSPort, TLSDir: dir})
	daemon := l.startDaemon(&kerbsidepb.Target{
		SessionId: consoleSession, Hypervisor: "hv1", HypervisorIp: "127.0.0.1",
		InsecurePort: qemuPort, SecurePort: qemuTLSPort, Ticket: ticket, CaCert: ca.pem, HostSubject: hostSubject,
	})
	p := l.startControlled(
		map[string]any{"kind": "kerbside", "socket": daemon.socket, "node_name": "node"},
		map[string]any{"mode": "adaptive"}, nil)
	screen := l.startScreen()
	s := &session{lab: l, guest: machine, proxy: p, viewer: screen.startViewer(l.consoleFile())}
	s.viewer.focus(s.viewer.wantBox("connected", evenBox).Max)
	s.wantAnswer("pressed")
	s.wantConnected()
	daemon.wantOrder(t)

	began := time.Now()
	daemon.Terminate(consoleSession)
	if err := daemon.Until(l.patient(), func() bool { return len(daemon.Channels()) == 0 }); err != nil {
		t.Fatalf("channels left after the session was terminated: %v", daemon.Channels())
	}
	took := time.Since(began)
	t.Logf("all channels ended %v after TerminateSession", took.Round(time.Millisecond))
	if took > 5*time.Second { // 1 s, on a machine that is not busy otherwise
		t.Errorf("TerminateSession took %v", took)
	}

	s.viewer = screen.startViewer(l.consoleFile())
	s.wantPicture("connected again")
	p.stop() // wants exit code 0
	if left := daemon.Channels(); len(left) != 0 {
		t.Errorf("the drained proxy has left %d channels registered", len(left))
	}
}

// daemon is the control plane's stand-in.
type daemon struct {
	*control.Daemon
	socket string
}

func (l *lab) startDaemon(to *kerbsidepb.Target) *daemon {
	l.t.Helper()
	// A test's own directory may have a name too long for a socket.
	dir, err := os.MkdirTemp("", "kerbside")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "api.sock")
	d, err := control.Start(control.Options{Socket: socket, Target: to})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(d.Stop)
	return &daemon{d, socket}
}

// wantOrder checks the calls for every channel that is relayed.
func (d *daemon) wantOrder(t *testing.T) {
	t.Helper()
	calls := d.Calls()
	if len(calls) == 0 || calls[0].Method != "ClearNodeChannels" {
		t.Fatalf("the first of %d calls is not ClearNodeChannels", len(calls))
	}
	of := make(map[string][]string)
	for _, c := range calls {
		if r, ok := c.Request.(interface{ GetConnectionRef() string }); ok {
			of[r.GetConnectionRef()] = append(of[r.GetConnectionRef()], c.Method)
		}
	}
	want := []string{"RegisterChannel", "AuthorizeConnection", "RecordAuditEvent"}
	relayed := 0
	for ref := range d.Channels() {
		if !slices.Equal(of[ref], want) {
			t.Errorf("channel %s: calls %v, want %v", ref, of[ref], want)
		}
		relayed++
	}
	if relayed < 4 { // main, display, inputs, cursor
		t.Errorf("%d channels registered", relayed)
	}
}
