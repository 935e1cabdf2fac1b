package keydraw

import (
	"fmt"
	"image"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// reportEvery is the time between two frame rate lines.
const reportEvery = 10 * time.Second

// show is the running guest: what is on the screen and what happens next. All
// of it belongs to the goroutine in run.
type show struct {
	knobs      Knobs
	display    *display
	keys       *keyboard
	orders     *console
	fb         *framebuffer
	animations []animation
	extras     *extras
	presses    int // since the start

	frames, reports, switches ticker

	painted    int       // frames since reportedAt
	reportedAt time.Time // when counting began
	switched   bool      // to the second mode
}

// run paints the first picture and then answers keys, draws frames and changes
// modes until something fails.
func (s *show) run() error {
	if err := s.setMode(s.display.mode(s.knobs.Mode)); err != nil {
		return err
	}
	fmt.Printf("%s screen=%dx%d box=%s%s %s\n", StartLine, s.fb.size.X, s.fb.size.Y,
		corners(KeyBox), describe(Areas(s.knobs, s.fb.size)), s.knobs)
	s.schedule(time.Now())
	for {
		if err := s.wait(s.pause(time.Now())); err != nil {
			return err
		}
		if err := s.step(time.Now()); err != nil {
			return err
		}
	}
}

// schedule sets the clocks going.
func (s *show) schedule(now time.Time) {
	s.frames, s.reports = ticker{}, ticker{}
	if s.knobs.animated() {
		s.reportedAt = now.Add(s.knobs.Delay)
		s.frames = ticker{s.reportedAt, time.Second / time.Duration(s.knobs.FPS)}
		s.reports = ticker{s.reportedAt.Add(reportEvery), reportEvery}
	}
	s.switches = ticker{now.Add(s.knobs.ModeSwitch), s.knobs.ModeSwitch}
	s.extras.schedule(now)
}

// wait sleeps until a key or an order is there or the time is over. It does not
// allocate.
func (s *show) wait(limit time.Duration) error {
	timeout := unix.NsecToTimespec(int64(max(limit, 0)))
	fds := [2]unix.PollFd{{Fd: int32(s.keys.fd), Events: unix.POLLIN}, {Fd: int32(s.orders.fd), Events: unix.POLLIN}}
	if _, err := unix.Ppoll(fds[:], &timeout, nil); err != nil && err != unix.EINTR {
		return fmt.Errorf("wait for keys: %w", err)
	}
	return nil
}

// pause is the time until something other than a key needs attention.
func (s *show) pause(now time.Time) time.Duration {
	const anyLength = time.Hour
	return s.frames.sooner(s.reports.sooner(s.switches.sooner(s.extras.sooner(anyLength, now), now), now), now)
}

// step does what is due, keys first: also a guest that is late with its frames
// answers them between two.
func (s *show) step(now time.Time) error {
	if err := s.answerKeys(); err != nil {
		return err
	}
	if err := s.obey(now); err != nil {
		return err
	}
	if s.switches.due(now) {
		if err := s.switchMode(); err != nil {
			return err
		}
	}
	if err := s.extras.step(now); err != nil {
		return err
	}
	if s.reports.due(now) {
		fmt.Printf("%s %.1f\n", FPSLine, float64(s.painted)/now.Sub(s.reportedAt).Seconds())
		s.painted, s.reportedAt = 0, now
	}
	if s.frames.due(now) {
		return s.animate()
	}
	return nil
}

// answerKeys repaints the key box once per press.
func (s *show) answerKeys() error {
	count, err := s.keys.presses()
	if err != nil {
		return err
	}
	for range count {
		s.presses++
		s.fb.paintKeyBox(s.presses)
		if err := s.fb.flush(KeyBox); err != nil {
			return err
		}
	}
	return nil
}

// obey reads new knobs from the console.
func (s *show) obey(now time.Time) error {
	line, err := s.orders.line()
	if line == "" || err != nil {
		return err
	}
	knobs, err := ParseKnobs(line)
	if err != nil {
		return err
	}
	mode := s.display.mode(knobs.Mode)
	s.knobs = knobs
	if mode.size() != s.fb.size {
		if err := s.changeMode(mode); err != nil {
			return err
		}
	}
	s.animations = newAnimations(s.knobs, s.fb.size)
	// Nobody else collects.
	runtime.GC()
	s.painted = 0
	s.schedule(now)
	fmt.Println(SetLine, s.knobs)
	return nil
}

// animate draws one frame, each animation with a flush of its own.
func (s *show) animate() error {
	for _, a := range s.animations {
		a.paint(&s.fb.canvas)
		if err := s.fb.flush(a.bounds()); err != nil {
			return err
		}
	}
	s.painted++
	return nil
}

// setMode shows the whole picture in a mode, and lets go of the one before.
func (s *show) setMode(mode drmModeInfo) error {
	fb, err := s.display.newFramebuffer(mode.size())
	if err != nil {
		return err
	}
	fb.paintBackground()
	fb.paintKeyBox(s.presses)
	if err := fb.show(mode); err != nil {
		return err
	}
	if err := fb.flush(image.Rectangle{Max: fb.size}); err != nil {
		return err
	}
	old := s.fb
	s.fb, s.animations = fb, newAnimations(s.knobs, fb.size)
	if old == nil {
		return nil
	}
	return old.close()
}

// switchMode goes from the preferred mode to the second one or back.
func (s *show) switchMode() error {
	s.switched = !s.switched
	mode := s.display.modes[0]
	if s.switched {
		mode = s.display.secondMode()
	}
	return s.changeMode(mode)
}

// changeMode shows the picture in another mode and says so.
func (s *show) changeMode(mode drmModeInfo) error {
	if err := s.setMode(mode); err != nil {
		return err
	}
	fmt.Printf("%s %dx%d%s\n", ModeLine, s.fb.size.X, s.fb.size.Y, describe(Areas(s.knobs, s.fb.size)))
	return nil
}
