package integration

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/guest"
	"spicepacer/cmd/spicebench/keydraw"
	"spicepacer/cmd/spicebench/link"
)

// seedVariable gives TestSamePicture the seed that an earlier one has told.
const seedVariable = "SPICEPACER_SEED"

// hypervisorSettings are a way to run QEMU, and what the proxy asks of it.
type hypervisorSettings struct {
	name        string
	spice       string // further options of QEMU's -spice
	streaming   string
	compression string // of the proxy
}

// allSettings are each of spice-server's image compressions; QEMU may not know all
// of them, but the proxy can ask for one. Where the proxy would ask for another as
// soon as the link is the limit, it also is told not to.
var allSettings = []hypervisorSettings{
	{name: "auto_glz, managed", spice: "image-compression=auto_glz", compression: "auto"},
	{name: "auto_lz", spice: "image-compression=auto_lz", compression: "keep"},
	{name: "quic", spice: "image-compression=quic", compression: "keep"},
	{name: "lz, filtered streams", spice: "image-compression=lz", streaming: "filter", compression: "keep"},
	{name: "auto_glz", spice: "image-compression=auto_glz", compression: "keep"},
	{name: "off", spice: "image-compression=off", compression: "keep"},
	{name: "lz4 asked for, streams", spice: "image-compression=auto_glz", streaming: "all", compression: "lz4"},
	{name: "glz with zlib", spice: "image-compression=glz,zlib-glz-wan-compression=always", compression: "keep"},
	{name: "auto_glz, managed, streams", spice: "image-compression=auto_glz", streaming: "all", compression: "auto"},
	{name: "quic asked for", spice: "image-compression=auto_glz", compression: "quic"},
}

// The picture is the same: whatever the guest draws, the link does and the user
// types, and although the display queue drops updates and sends others first, what
// remote-viewer shows in the end is QEMU's own picture, pixel by pixel. One viewer
// lives through all runs with one guest, so that nothing is repaired by a fresh
// start.
func TestSamePicture(t *testing.T) {
	settings, runs := allSettings[:1], 6
	if long() {
		settings, runs = allSettings, 20
	}
	seed := pictureSeed(t)
	var sum orderFigures
	for i, h := range settings {
		t.Run(h.name, func(t *testing.T) {
			s := newLab(t, "80:10", viewerPrograms...).startStill(h)
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for n := range runs {
				began := time.Now()
				s.pictureRun(random)
				still := time.Now()
				s.wantSamePicture(fmt.Sprintf("run-%d", n))
				t.Logf("run %d: %v, and the same picture %v later", n,
					still.Sub(began).Round(time.Millisecond), time.Since(still).Round(time.Millisecond))
			}
			s.wantUndisturbed()
			f := s.orderFigures()
			t.Logf("%d runs: %v", runs, f)
			sum.add(f)
		})
	}
	t.Logf("all: %v", sum)
	if sum.replaced == 0 || sum.overtook == 0 {
		t.Errorf("%v: the runs do not show what they are for", sum)
	}
}

// pictureSeed is the one asked for, or a new one. It is told.
func pictureSeed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if v := os.Getenv(seedVariable); v != "" {
		var err error
		if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("%s=%d", seedVariable, seed)
	return seed
}

// orderFigures are what the display queue did.
type orderFigures struct{ replaced, overtook float64 }

func (f *orderFigures) add(o orderFigures) {
	f.replaced += o.replaced
	f.overtook += o.overtook
}

func (f orderFigures) String() string {
	return fmt.Sprintf("%.0f messages replaced, %.0f overtook", f.replaced, f.overtook)
}

func (s *session) orderFigures() (f orderFigures) {
	s.t.Helper()
	for series, value := range map[string]*float64{
		`spicepacer_display_replaced_messages_total{mode="adaptive"}`:   &f.replaced,
		`spicepacer_display_overtaking_messages_total{mode="adaptive"}`: &f.overtook,
	} {
		var err error
		if *value, err = s.proxy.metric(series); err != nil {
			s.t.Fatal(err)
		}
	}
	return f
}

// startStill boots a guest that does nothing until it is told to, and connects a
// viewer. It returns when the viewer has the keyboard.
func (l *lab) startStill(h hypervisorSettings) *session {
	l.t.Helper()
	s := &session{lab: l}
	s.guest = l.boot(l.activity("idle"), guest.QEMU{
		SpicePort: qemuPort, Streaming: h.streaming,
		// JPEG loses something, and is what spice-server uses on such links by default.
		Args: []string{"-spice", "jpeg-wan-compression=never," + h.spice},
	})
	s.proxy = l.startPacing(map[string]any{"mode": "adaptive", "reorder": true, "compression": h.compression, "trace_dir": l.dir}, nil, plainTarget)
	s.viewer = l.startScreen().startViewer(l.consoleFile())
	box := s.viewer.wantBox("connected", evenBox)
	s.viewer.focus(box.Max)
	return s
}

// pictureRun lets the guest do several things in turn while keys are pressed and
// the link changes, and stops it.
func (s *session) pictureRun(random *rand.Rand) {
	s.t.Helper()
	var k keydraw.Knobs
	for range 1 + random.IntN(3) {
		k = randomKnobs(random)
		s.set(k)
		for range 1 + random.IntN(3) {
			s.setLink(randomLink(random))
			if random.IntN(2) == 0 {
				s.viewer.press()
				s.odd = !s.odd
			}
			time.Sleep(time.Duration(random.IntN(700)) * time.Millisecond)
		}
	}
	if random.IntN(4) > 0 { // else what is queued goes by the link as it is
		s.setLink(fastLink)
	}
	k.FPS = 0
	s.set(k)
}

// randomKnobs are an activity, somewhere between a blinking character and more than
// any link carries, in one of the resolutions.
func randomKnobs(random *rand.Rand) keydraw.Knobs {
	k := keydraw.Knobs{
		FPS: 5 + random.IntN(26), Noise: random.IntN(9), Seed: 1 + random.IntN(1<<20),
		Width: 32 + random.IntN(600), Height: 32 + random.IntN(450),
	}
	k.Activity = []keydraw.Activity{keydraw.Plasma, keydraw.Scroll, keydraw.Three, keydraw.Windows, keydraw.Windows}[random.IntN(5)]
	if k.Activity == keydraw.Windows {
		k.Width, k.Height = 300+random.IntN(800), 200+random.IntN(500)
	}
	if random.IntN(4) == 0 {
		k.Mode = random.IntN(4)
	}
	return k
}

// Links for what is left in the end, and for pictures in JPEG.
var (
	fastLink = link.Profile{RTT: 10 * time.Millisecond, RateMbit: 50}
	jpegLink = link.Profile{RTT: 40 * time.Millisecond, RateMbit: 2}
)

func randomLink(random *rand.Rand) link.Profile {
	milliseconds := []int{5, 20, 80, 150}[random.IntN(4)]
	return link.Profile{
		RTT:      time.Duration(milliseconds) * time.Millisecond,
		RateMbit: []float64{1, 2, 5, 10, 50}[random.IntN(5)],
	}
}

func (s *session) set(k keydraw.Knobs) {
	s.t.Helper()
	if err := s.guest.Set(s.patient(), k); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) setLink(p link.Profile) {
	s.t.Helper()
	if err := s.link.SetProfile(p); err != nil {
		s.t.Fatal(err)
	}
}

// wantQuiet waits until everything the hypervisor has to say is with the viewer.
func (s *session) wantQuiet() {
	s.t.Helper()
	const still = 3 // answers without a change
	before, same := -1., 0
	s.eventually("an end of the display's data", func() error {
		queued, err := s.proxy.metric(`spicepacer_display_queue_bytes{mode="adaptive"}`)
		if err != nil {
			return err
		}
		sent, err := s.proxy.metric(`spicepacer_bytes_total{channel="display",direction="server_to_client"}`)
		if err != nil {
			return err
		}
		if sent != before || queued > 0 {
			before, same = sent, 0
		}
		if same++; same < still {
			return fmt.Errorf("%.0f bytes queued, %.0f sent", queued, sent)
		}
		return nil
	})
}

// dump asks for the picture as the hypervisor has it.
func (s *session) dump() (*image.RGBA, error) {
	s.t.Helper()
	file := s.file("dump.ppm")
	if s.player != nil {
		s.player.do("dump %s", file)
	} else if err := s.guest.QMP.Screendump(s.patient(), file); err != nil {
		return nil, err
	}
	return loadPPM(s.t, file), nil
}

// wantSamePicture looks until the viewer shows what the hypervisor does, which is
// still, so that nothing repairs a picture that is wrong.
func (s *session) wantSamePicture(name string) {
	s.t.Helper()
	s.wantQuiet()
	s.wantSame(name)
}

// wantSame looks until the viewer shows what the hypervisor does, but for what is
// left out, and returns both pictures.
func (s *session) wantSame(name string, leftOut ...image.Rectangle) (seen, shown *image.RGBA) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() && seen != nil && shown != nil {
			savePNG(s.t, s.file(name+"-viewer.png"), seen)
			savePNG(s.t, s.file(name+"-hypervisor.png"), shown)
		}
	}()
	s.eventually("the same picture, see "+s.file(name+"-*.png"), func() (err error) {
		if shown, err = s.dump(); err != nil {
			return err
		}
		if seen, err = s.viewer.picture(); err != nil {
			return err
		}
		return sameWithin(seen, shown, leftOut...)
	})
	return seen, shown
}

// sameWithin compares all of the hypervisor's screen, but for what is left out, with
// what is seen of it.
func sameWithin(seen, shown *image.RGBA, leftOut ...image.Rectangle) error {
	part, err := screenIn(seen, shown.RGBAAt(keydraw.KeyBox.Min.X, keydraw.KeyBox.Min.Y), shown.Rect)
	if err != nil {
		return err
	}
	if n := differing(part, shown, leftOut...); n > 0 {
		return fmt.Errorf("%d pixels differ", n)
	}
	return nil
}

// screenIn cuts the hypervisor's screen out of the viewer's. It is found by its key
// box.
func screenIn(seen *image.RGBA, box color.RGBA, size image.Rectangle) (*image.RGBA, error) {
	at, found := block(seen, box, keydraw.KeyBox.Size())
	if !found {
		return nil, fmt.Errorf("no key box in %v", box)
	}
	origin := at.Sub(keydraw.KeyBox.Min)
	if !size.Add(origin).In(seen.Rect) {
		return nil, errors.New("the hypervisor's screen is not all visible")
	}
	part := image.NewRGBA(size)
	draw.Draw(part, size, seen, origin, draw.Src)
	return part, nil
}

// block finds the first place of a size that is all of a colour.
func block(picture *image.RGBA, colour color.RGBA, size image.Point) (image.Point, bool) {
	room := picture.Rect
	room.Max = room.Max.Sub(size).Add(image.Pt(1, 1))
	for p := range points(room) {
		if picture.RGBAAt(p.X, p.Y) == colour && filled(picture, colour, image.Rectangle{Min: p, Max: p.Add(size)}) {
			return p, true
		}
	}
	return image.Point{}, false
}

func filled(picture *image.RGBA, colour color.RGBA, area image.Rectangle) bool {
	for p := range points(area) {
		if picture.RGBAAt(p.X, p.Y) != colour {
			return false
		}
	}
	return true
}
