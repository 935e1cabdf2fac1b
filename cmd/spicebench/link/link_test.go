package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"spicepacer/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newLink makes a link for the test, which is skipped where the machine cannot.
func newLink(t *testing.T, profile string, o Options) (*Link, Profile) {
	t.Helper()
	testenv.NeedsRoot(t)
	testenv.NeedsTUN(t)
	p, err := ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, n := range []*Namespace{l.server, l.client} {
			if _, err := os.Stat(n.Path()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("namespace %s outlived its link: %v", n.Name(), err)
			}
		}
	})
	return l, p
}

func TestLinkHasRateAndRoundTrip(t *testing.T) {
	runRealtime()
	for _, profile := range []string{"20:50", "80:10"} {
		t.Run(profile, func(t *testing.T) {
			l, p := newLink(t, profile, Options{})
			got, err := l.Verify(t.Context(), p, 2*time.Second, 2*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Within(0.1) {
				t.Errorf("link %v is off by over 10 %%: %v", p, got)
			}
		})
	}
}

func TestLinkChangesProfile(t *testing.T) {
	l, _ := newLink(t, "0:100", Options{})
	slow := Profile{RTT: 60 * time.Millisecond, RateMbit: 100}
	if err := l.SetProfile(slow); err != nil {
		t.Fatal(err)
	}
	got, err := l.echo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got < slow.RTT {
		t.Errorf("round trip is %v after a change to %v", got, slow.RTT)
	}
}

func TestNamespaceRunsCommandsWithItsSettings(t *testing.T) {
	l, _ := newLink(t, "0:0", Options{CongestionControl: "reno"})
	for _, n := range []*Namespace{l.Server(), l.Client()} {
		out, err := n.Command(t.Context(), "cat", "/proc/sys/net/ipv4/tcp_congestion_control").Output()
		if err != nil || strings.TrimSpace(string(out)) != "reno" {
			t.Errorf("congestion control in %s is %q, %v; want reno", n.Name(), out, err)
		}
		out, err = n.Command(t.Context(), "ip", "-4", "-o", "address", "show", "dev", device).Output()
		if err != nil || !strings.Contains(string(out), n.Addr().String()) {
			t.Errorf("%s has %q, %v; want %v", n.Name(), out, err, n.Addr())
		}
	}
}

func TestNewRefusesUnknownCongestionControl(t *testing.T) {
	newLink(t, "0:0", Options{}) // skips where links cannot be made
	l, err := New(t.Context(), Profile{}, Options{CongestionControl: "none-such"})
	if err == nil {
		l.Close()
		t.Fatal("New took an unknown congestion control")
	}
	if !strings.Contains(err.Error(), "none-such") {
		t.Errorf("error %q does not name the algorithm", err)
	}
}

func TestNewRemovesLeftoversOfDeadProcesses(t *testing.T) {
	newLink(t, "0:0", Options{})
	dead := exec.Command("true")
	output, err := dead.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	// The end of its output is its death; it remains a zombie until the wait.
	io.Copy(io.Discard, output)
	defer dead.Wait()
	left := &Namespace{name: fmt.Sprintf("sp-%d-1-s", dead.Process.Pid)}
	if err := left.create(context.Background(), DefaultCongestionControl); err != nil {
		t.Fatal(err)
	}
	newLink(t, "0:0", Options{})
	if _, err := os.Stat(left.Path()); !errors.Is(err, fs.ErrNotExist) {
		left.remove()
		t.Errorf("namespace %s of a dead process is still there: %v", left.name, err)
	}
}
