package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// namespaceDir is where iproute2 keeps named namespaces (ip-netns(8)).
const namespaceDir = "/run/netns"

// Addresses of the two ends of every link; each link has namespaces of its own,
// so they never meet.
var (
	ServerAddr = netip.AddrFrom4([4]byte{10, 77, 0, 1})
	ClientAddr = netip.AddrFrom4([4]byte{10, 77, 0, 2})
)

// Namespace is a named network namespace at one end of a link.
type Namespace struct {
	name string
	addr netip.Addr
}

// Name is what ip-netns(8) calls the namespace.
func (n *Namespace) Name() string { return n.name }

// Addr is the end's address on the link.
func (n *Namespace) Addr() netip.Addr { return n.addr }

// Path is the file that setns(2) and nsenter(1) take.
func (n *Namespace) Path() string { return filepath.Join(namespaceDir, n.name) }

// Command is exec.CommandContext for a program inside the namespace. The
// process id is the program's own: nsenter replaces itself.
func (n *Namespace) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	enter := []string{"--net=" + n.Path(), "--", name}
	return exec.CommandContext(ctx, "nsenter", append(enter, args...)...)
}

// Do runs f inside the namespace, on one OS thread. Sockets and TUN devices that
// f opens stay in the namespace; goroutines it starts do not run there.
func (n *Namespace) Do(f func() error) error {
	// The thread goes back rather than being thrown away: its end would kill
	// child processes it may have started with a parent-death signal.
	runtime.LockOSThread()
	home, err := openNamespace("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() {
		if unix.Setns(home, unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		unix.Close(home)
	}()
	inside, err := openNamespace(n.Path())
	if err != nil {
		return err
	}
	defer unix.Close(inside)
	if err := unix.Setns(inside, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter namespace %s: %w", n.name, err)
	}
	return f()
}

func openNamespace(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open namespace %s: %w", path, err)
	}
	return fd, nil
}

// create makes the namespace and the settings that make runs comparable: the
// named congestion control, no IPv6 chatter on the link, and no memory of
// earlier connections (tcp_no_metrics_save, ip-sysctl).
func (n *Namespace) create(ctx context.Context, congestionControl string) error {
	if err := runTool(exec.CommandContext(ctx, "ip", "netns", "add", n.name)); err != nil {
		return err
	}
	if err := n.ip(ctx, "link", "set", "lo", "up"); err != nil {
		return err
	}
	if err := permitCongestionControl(congestionControl); err != nil {
		return err
	}
	return n.Do(func() error {
		err := sysctl("ipv6/conf/all/disable_ipv6", "1")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := sysctl("ipv4/tcp_no_metrics_save", "1"); err != nil {
			return err
		}
		return sysctl("ipv4/tcp_congestion_control", congestionControl)
	})
}

// sysctl writes a network setting of the calling thread's namespace.
func sysctl(key, value string) error {
	if err := os.WriteFile(filepath.Join("/proc/sys/net", key), []byte(value), 0); err != nil {
		return fmt.Errorf("set net/%s to %q: %w", key, value, err)
	}
	return nil
}

// permitCongestionControl adds an algorithm to those that namespaces other than
// the first may have as default (tcp_set_default_congestion_control in Linux's
// net/ipv4/tcp_cong.c). The host keeps it: another link may be using it.
func permitCongestionControl(name string) error {
	const key = "ipv4/tcp_allowed_congestion_control"
	text, err := os.ReadFile(filepath.Join("/proc/sys/net", key))
	if err != nil {
		return fmt.Errorf("read permitted congestion controls: %w", err)
	}
	permitted := strings.Fields(string(text))
	if slices.Contains(permitted, name) {
		return nil
	}
	return sysctl(key, strings.Join(append(permitted, name), " "))
}

// configure gives the link device its address and the route to the other end.
func (n *Namespace) configure(ctx context.Context, peer netip.Addr) error {
	if err := n.ip(ctx, "address", "add", n.addr.String(), "peer", peer.String(), "dev", device); err != nil {
		return err
	}
	return n.ip(ctx, "link", "set", device, "mtu", fmt.Sprint(mtu), "up")
}

// ip runs ip(8) on the namespace.
func (n *Namespace) ip(ctx context.Context, args ...string) error {
	return runTool(exec.CommandContext(ctx, "ip", append([]string{"-n", n.name}, args...)...))
}

// remove deletes the namespace; one that is not there, or that another process
// has just deleted, is no error.
func (n *Namespace) remove() error {
	err := runTool(exec.Command("ip", "netns", "del", n.name))
	if _, missing := os.Stat(n.Path()); errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	return err
}

// links numbers the links of this process.
var links atomic.Uint64

// newNamespaces names both ends of a new link after this process, so that
// whoever comes later can tell whether they are still in use.
func newNamespaces() (server, client *Namespace) {
	prefix := fmt.Sprintf("sp-%d-%d", os.Getpid(), links.Add(1))
	return &Namespace{prefix + "-s", ServerAddr}, &Namespace{prefix + "-c", ClientAddr}
}

// removeLeftovers deletes the namespaces of processes that died without
// deleting them.
func removeLeftovers() error {
	paths, err := filepath.Glob(filepath.Join(namespaceDir, "sp-*-*-[sc]"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		var pid int
		name := filepath.Base(path)
		if _, err := fmt.Sscanf(name, "sp-%d-", &pid); err != nil || alive(pid) {
			continue
		}
		errs = append(errs, (&Namespace{name: name}).remove())
	}
	return errors.Join(errs...)
}

// alive says whether a process runs a program; one that only waits to be reaped
// does not.
func alive(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

// runTool runs a command and puts what it printed into the error.
func runTool(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
