package integration

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/link"
)

// longVariable asks for the tests that take long, and for all of those that are
// shorter without it, if it is 1.
const longVariable = "SPICEPACER_LONG"

// long tells whether it does.
func long() bool { return os.Getenv(longVariable) == "1" }

// needLong skips a test that takes long, unless it is asked for.
func needLong(t *testing.T) {
	t.Helper()
	if !long() {
		t.Skipf("takes long: set %s=1", longVariable)
	}
}

// lab is an emulated link with room for a guest and a proxy at its server end and
// for viewers at the other. The end of the test takes all of it down.
type lab struct {
	t    *testing.T
	link *link.Link
	shop workshop
	dir  string // of the test's artifacts
}

// newLab makes a lab with a link such as "80:10", for a test that runs the given
// programs beside the proxy. With -short the test ends here.
func newLab(t *testing.T, profile string, programs ...string) *lab {
	t.Helper()
	if testing.Short() {
		t.Skip("boots an emulated machine")
	}
	need(t, append(programs, "ip", "nsenter", "qemu-system-x86_64")...)
	if os.Getuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	if err := unix.Access("/dev/net/tun", unix.R_OK|unix.W_OK); err != nil {
		t.Fatalf("/dev/net/tun: %v", err)
	}
	s, err := shop()
	if err != nil {
		t.Fatal(err)
	}
	p, err := link.ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, shop: s, dir: t.ArtifactDir()}
	if l.link, err = link.New(l.patient(), p, link.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.link.Close(); err != nil {
			t.Errorf("remove the link: %v", err)
		}
	})
	return l
}

// patient returns a context for one wait.
func (l *lab) patient() context.Context {
	ctx, cancel := context.WithTimeoutCause(l.t.Context(), patience, fmt.Errorf("nothing in %v", patience))
	l.t.Cleanup(cancel)
	return ctx
}

// file is a path among the artifacts.
func (l *lab) file(name string) string { return filepath.Join(l.dir, name) }

// dialer connects from one end of the link.
func dialer(n *link.Namespace) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		err = n.Do(func() error {
			conn, err = new(net.Dialer).DialContext(ctx, network, addr)
			return err
		})
		return conn, err
	}
}

// eventually asks until the answer is nil, for things that tell nobody when they
// change. what completes the sentence "never saw ...".
func (l *lab) eventually(what string, check func() error) {
	l.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("never saw %s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Where the guest serves its screen, in the server's namespace, and the password
// it asks for.
const (
	qemuPort    = 5910
	qemuTLSPort = 5911
	ticket      = "a ticket of the hypervisor"
)

// machine is a guest with all it has printed.
type machine struct {
	*guest.Machine
	console *transcript
}

// boot starts a guest at the server's end. options choose what it shows; q says
// where.
func (l *lab) boot(options guest.Options, q guest.QEMU) *machine {
	l.t.Helper()
	options.Kernel, options.Initrd = l.shop.guest.Kernel, l.shop.guest.Initrd
	m := &machine{console: newTranscript(l.t, l.file("guest.log"))}
	q.Ticket, q.Log, q.Command = ticket, m.console, command(l.link.Server())
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	l.t.Cleanup(cancel)
	var err error
	if m.Machine, err = guest.Start(ctx, options, q); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := m.Stop(); err != nil {
			l.t.Errorf("guest: %v", err)
		}
		m.console.end()
		if l.t.Failed() {
			l.t.Logf("guest's console:\n%s", m.console.tail())
		}
	})
	return m
}

// activity is a load by its name.
func (l *lab) activity(name string) guest.Options {
	l.t.Helper()
	o, err := guest.Activity(name)
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}
