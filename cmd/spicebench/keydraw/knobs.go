package keydraw

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Activity names what moves on the screen besides the key box.
type Activity string

// The activities.
const (
	Plasma Activity = "plasma" // one colour animation, right-aligned, vertically centred
	Scroll Activity = "scroll" // console-like text in the same place, one new line per frame
	Three  Activity = "three"  // three separate plasmas, each flushed on its own
	// Windows are overlapping windows that are dragged, raised, scrolled and
	// written into, one act per frame, in the place of a plasma.
	Windows Activity = "windows"
	Text    Activity = "text"    // a document, in the place of a plasma, of which each frame is another page
	Reading Activity = "reading" // the same document, moving up by a line per frame
	Photos  Activity = "photos"  // photograph-like pictures that are panned over, in the place of a plasma
	None    Activity = "none"    // nothing, whatever the frame rate
)

// Knobs are the guest's settings. On the kernel command line each is
// kd.NAME=VALUE; one that is absent keeps its default.
type Knobs struct {
	FPS        int           // kd.fps: activity frames per second; 0, the default, is no activity
	Width      int           // kd.w: pixels, rounded down and clamped to fit (see Areas); default 640, for Three 320
	Height     int           // kd.h: likewise; default 480, for Three 240
	Noise      int           // kd.noise: noise bits per colour of a plasma, 0..8; default 3
	Delay      time.Duration // kd.delay: whole seconds from start to the first activity frame
	ModeSwitch time.Duration // kd.modeswitch: whole seconds between resolution changes; 0 is never
	Activity   Activity      // kd.activity: default Plasma
	Seed       int           // kd.seed: what Windows do and Photos show; default 0
	Mode       int           // kd.mode: resolution, a number into those that fit into the preferred one; 0, the default, is that one
	// What other channels carry, for tests of a parser rather than measurements.
	Cursor int           // kd.cursor: moves of a pointer per second; 0, the default, is no pointer
	Beep   time.Duration // kd.beep: whole seconds of a tone, and of silence, in turn; 0 is never
	Agent  bool          // kd.agent=1: play the guest agent on the first virtio serial port
}

// DefaultNoise is the noise of a plasma unless kd.noise says otherwise, as in
// Kerbside's rig.
const DefaultNoise = 3

// ParseKnobs reads the knobs from a kernel command line and fills in defaults.
// Words that do not begin with "kd." are the kernel's and are ignored; an
// unknown or malformed knob is an error that names it.
func ParseKnobs(cmdline string) (Knobs, error) {
	k := Knobs{Noise: DefaultNoise, Activity: Plasma}
	for word := range strings.FieldsSeq(cmdline) {
		name, ok := strings.CutPrefix(word, "kd.")
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(name, "=")
		if err := k.set(name, value); err != nil {
			return Knobs{}, fmt.Errorf("kernel command line: %s: %w", word, err)
		}
	}
	if k.Width == 0 {
		k.Width = defaultWidth(k.Activity)
	}
	if k.Height == 0 {
		k.Height = defaultHeight(k.Activity)
	}
	return k, nil
}

func (k *Knobs) set(name, value string) error {
	if name == "activity" {
		k.Activity = Activity(value)
		return k.Activity.validate()
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return fmt.Errorf("want a number of 0 or more")
	}
	switch name {
	case "fps":
		k.FPS = n
	case "w":
		k.Width = n
	case "h":
		k.Height = n
	case "noise":
		k.Noise = min(n, 8)
	case "delay":
		k.Delay = time.Duration(n) * time.Second
	case "modeswitch":
		k.ModeSwitch = time.Duration(n) * time.Second
	case "seed":
		k.Seed = n
	case "mode":
		k.Mode = n
	case "cursor":
		k.Cursor = n
	case "beep":
		k.Beep = time.Duration(n) * time.Second
	case "agent":
		k.Agent = n != 0
	default:
		return fmt.Errorf("unknown knob")
	}
	return nil
}

func (a Activity) validate() error {
	switch a {
	case Plasma, Scroll, Three, Windows, Text, Reading, Photos, None:
		return nil
	}
	return fmt.Errorf("activity is none of %s, %s, %s, %s, %s, %s, %s, %s",
		Plasma, Scroll, Three, Windows, Text, Reading, Photos, None)
}

func defaultWidth(a Activity) int {
	if a == Three {
		return 320
	}
	return 640
}

func defaultHeight(a Activity) int {
	if a == Three {
		return 240
	}
	return 480
}

// CommandLine is the inverse of ParseKnobs: the words to put on the kernel
// command line. A zero width, height or activity is left to its default.
func (k Knobs) CommandLine() string {
	words := []string{
		fmt.Sprintf("kd.fps=%d", k.FPS),
		fmt.Sprintf("kd.noise=%d", k.Noise),
		fmt.Sprintf("kd.delay=%d", k.Delay/time.Second),
	}
	if k.Width != 0 {
		words = append(words, fmt.Sprintf("kd.w=%d", k.Width))
	}
	if k.Height != 0 {
		words = append(words, fmt.Sprintf("kd.h=%d", k.Height))
	}
	if k.ModeSwitch != 0 {
		words = append(words, fmt.Sprintf("kd.modeswitch=%d", k.ModeSwitch/time.Second))
	}
	if k.Seed != 0 {
		words = append(words, fmt.Sprintf("kd.seed=%d", k.Seed))
	}
	if k.Mode != 0 {
		words = append(words, fmt.Sprintf("kd.mode=%d", k.Mode))
	}
	if k.Cursor != 0 {
		words = append(words, fmt.Sprintf("kd.cursor=%d", k.Cursor))
	}
	if k.Beep != 0 {
		words = append(words, fmt.Sprintf("kd.beep=%d", k.Beep/time.Second))
	}
	if k.Agent {
		words = append(words, "kd.agent=1")
	}
	if k.Activity != "" {
		words = append(words, "kd.activity="+string(k.Activity))
	}
	return strings.Join(words, " ")
}

// animated says whether there are activity frames at all.
func (k Knobs) animated() bool {
	return k.FPS > 0 && k.Activity != None
}

// String tells the knobs for the console.
func (k Knobs) String() string {
	return fmt.Sprintf("activity=%s fps=%d noise=%d delay=%s modeswitch=%s", k.Activity, k.FPS, k.Noise, k.Delay, k.ModeSwitch)
}
