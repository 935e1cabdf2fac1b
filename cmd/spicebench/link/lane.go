package link

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// readBatch bounds how many packets are read before due ones are written.
const readBatch = 64

// lane is one direction of a wire: a thread that reads packets from one TUN
// descriptor and writes them to another when they are due.
type lane struct {
	from, to int
	// bell is an eventfd that wakes the thread when the profile has changed.
	bell  int
	epoch time.Time
	spare [][]byte // buffers to read into

	// Arguments of ppoll, kept here so that no call allocates.
	poll    [2]unix.PollFd
	timeout unix.Timespec

	mu     sync.Mutex
	shaper *shaper
}

func newLane(from, to int, epoch time.Time, p Profile, seed uint64) (*lane, error) {
	if err := unix.SetNonblock(from, true); err != nil {
		return nil, fmt.Errorf("TUN device: %w", err)
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	return &lane{
		from: from, to: to, bell: bell, epoch: epoch, shaper: newShaper(p, seed),
		poll: [2]unix.PollFd{{Fd: int32(from), Events: unix.POLLIN}, {Fd: int32(bell), Events: unix.POLLIN}},
	}, nil
}

func (l *lane) now() time.Duration { return time.Since(l.epoch) }

func (l *lane) setProfile(p Profile) {
	l.mu.Lock()
	l.shaper.setProfile(l.now(), p)
	l.mu.Unlock()
	one := [8]byte{1}
	unix.Write(l.bell, one[:])
}

// run carries packets as long as the devices exist. It sleeps in ppoll(2), whose
// timer is precise to the microsecond where Go's poller rounds to
// milliseconds.
func (l *lane) run() {
	runtime.LockOSThread()
	for {
		l.deliver()
		arrived, err := l.await()
		if err != nil {
			return
		}
		if arrived {
			l.accept()
		}
	}
}

// deliver writes every packet that is due. A failed write is a lost packet, as
// on any link whose far end is down.
func (l *lane) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		p := l.shaper.next(l.now())
		if p == nil {
			return
		}
		unix.Write(l.to, p)
		l.spare = append(l.spare, p[:mtu])
	}
}

// await sleeps until a packet arrives, one is due, or the bell rings, and reports
// whether there is something to accept. It fails when the device is gone.
func (l *lane) await() (arrived bool, err error) {
	l.mu.Lock()
	due, ok := l.shaper.wake()
	l.mu.Unlock()
	var timeout *unix.Timespec
	if ok {
		l.timeout = unix.NsecToTimespec(int64(max(due-l.now(), 0)))
		timeout = &l.timeout
	}
	if n, err := unix.Ppoll(l.poll[:], timeout, nil); err != nil || n == 0 {
		return false, nil // time is up, or a signal came: look again
	}
	if l.poll[1].Revents != 0 {
		var count [8]byte
		unix.Read(l.bell, count[:])
	}
	events := l.poll[0].Revents
	if events&^unix.POLLIN != 0 {
		return false, unix.ENODEV
	}
	return events != 0, nil
}

// accept reads packets that have reached the link.
func (l *lane) accept() {
	for range readBatch {
		buf := l.buffer()
		n, err := unix.Read(l.from, buf)
		if err != nil || n == 0 || !l.offer(buf[:n]) {
			l.spare = append(l.spare, buf)
		}
		if err != nil {
			return
		}
	}
}

func (l *lane) offer(p []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shaper.offer(l.now(), p)
}

func (l *lane) buffer() []byte {
	if n := len(l.spare); n > 0 {
		buf := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return buf
	}
	return make([]byte, mtu)
}
