package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// wireName is argv[0] of a wire's process.
const wireName = "spicebench-wire"

// wire is a process that carries packets between two TUN devices.
//
// It is a process of its own, this program started once more, because all its
// threads must run before those of the load it carries. Where they shared a Go
// runtime with ordinary threads they would wait for the processors and garbage
// collections of threads that the kernel does not run: under load that costs
// half the rate of a 50 Mbit/s link.
type wire struct {
	process *exec.Cmd
	control io.Closer
	orders  *json.Encoder
}

// order is what a wire is told on its standard input: first of all, and whenever
// the link changes. End of file ends it.
type order struct {
	Profile Profile
	Seed    uint64
}

// newWire starts to carry packets between two TUN devices.
func newWire(server, client *os.File, o order) (*wire, error) {
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{wireName},
		ExtraFiles: []*os.File{server, client},
		Stderr:     os.Stderr,
		// A Ctrl-C is for those who use the link; it goes down after them.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	control, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the link's wire: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the link's wire: %w", err)
	}
	w := &wire{process: cmd, control: control, orders: json.NewEncoder(control)}
	return w, w.tell(o)
}

func (w *wire) tell(o order) error {
	if err := w.orders.Encode(o); err != nil {
		return fmt.Errorf("set up the link's wire: %w", err)
	}
	return nil
}

func (w *wire) close() error {
	w.control.Close()
	if err := w.process.Wait(); err != nil {
		return fmt.Errorf("the link's wire: %w", err)
	}
	return nil
}

func init() {
	if os.Args[0] != wireName {
		return
	}
	if err := carry(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", wireName, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// carry is the whole of a wire's process.
func carry() error {
	orders := json.NewDecoder(os.Stdin)
	var o order
	if err := orders.Decode(&o); err != nil {
		return err
	}
	runRealtime()
	runtime.GOMAXPROCS(4) // two lanes never wait for each other, nor for this goroutine
	const server, client = 3, 4
	epoch := time.Now()
	down, err := newLane(server, client, epoch, o.Profile, o.Seed)
	if err != nil {
		return err
	}
	up, err := newLane(client, server, epoch, o.Profile, o.Seed+1)
	if err != nil {
		return err
	}
	go down.run()
	go up.run()
	for {
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		down.setProfile(o.Profile)
		up.setProfile(o.Profile)
	}
}

// runRealtime puts all threads of this process, and so all that they will start,
// before ordinary ones. Where that is not permitted the link works, with more
// jitter. Timers of real-time threads have no slack.
func runRealtime() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}, 0)
		}
	}
}
