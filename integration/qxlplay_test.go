package integration

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"spicepacer/internal/testenv"
	"spicepacer/spiceproto"
)

// The second half of TestSamePicture: what QEMU's virtio-vga never sends. The
// program testdata/qxlplay is a spice-server that plays random QXL commands.

// Kinds of commands, as testdata/qxlplay/draw.h numbers them.
const (
	playCopies = 1
	playAll    = 127
)

// videoPlace is where its videos are on the screen.
var videoPlace = image.Rect(208, 160, 464, 352)

// Values of spice_wan_compression_t and of SPICE_STREAM_VIDEO_*, spice-server.h.
const (
	wanAuto, wanAlways, wanNever = 1, 2, 3
	streamsOff, streamsAll       = 1, 2
)

// playerSettings are a way to run qxlplay, and what the proxy asks of it.
type playerSettings struct {
	name        string
	image       spiceproto.Compression
	jpeg, zlib  int
	compression string // of the proxy
}

// arguments are qxlplay's.
func (s playerSettings) arguments(port int) []string {
	return []string{strconv.Itoa(port), strconv.Itoa(int(s.image)), strconv.Itoa(s.jpeg), strconv.Itoa(s.zlib)}
}

var allPlayers = []playerSettings{
	{"auto_lz", spiceproto.CompressionAutoLZ, wanNever, wanNever, "keep"},
	{"auto_glz, managed", spiceproto.CompressionAutoGLZ, wanNever, wanNever, "auto"},
	{"auto_glz", spiceproto.CompressionAutoGLZ, wanNever, wanNever, "keep"},
	{"quic", spiceproto.CompressionQUIC, wanNever, wanNever, "keep"},
	{"lz", spiceproto.CompressionLZ, wanNever, wanNever, "keep"},
	{"glz with zlib", spiceproto.CompressionGLZ, wanNever, wanAlways, "keep"},
	{"lz4", spiceproto.CompressionLZ4, wanNever, wanNever, "keep"},
	{"off", spiceproto.CompressionOff, wanNever, wanNever, "keep"},
}

// The same with random commands of all kinds a display driver may give.
func TestSamePictureOfCommands(t *testing.T) {
	players, runs := allPlayers[:1], 6
	if long() {
		players, runs = allPlayers, 25
	}
	seed := pictureSeed(t)
	var sum orderFigures
	for i, settings := range players {
		t.Run(settings.name, func(t *testing.T) {
			s := newLab(t, "80:10", viewerPrograms...).startPlayed(settings, "adaptive")
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			video := s.watchVideo()
			for n := range runs {
				video.begin()
				s.playRun(random, n)
				s.wantSamePlay(fmt.Sprintf("run-%d", n), video)
			}
			s.wantConnected()
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

// JPEG loses something, but the same: the picture of a paced viewer is that of one
// that gets everything in order. The commands are such that each pixel in the end
// is of one image, which is compressed as a whole whenever it is sent. Streams would
// break that: what spice-server takes for a video is JPEG of another quality, and is
// sent once more without loss a second after its last frame. Where it finds one
// depends on time.
func TestSamePictureOfJPEG(t *testing.T) {
	runs := 1
	if long() {
		runs = 10
	}
	seed := pictureSeed(t)
	settings := playerSettings{"jpeg", spiceproto.CompressionAutoLZ, wanAlways, wanNever, "keep"}
	var pictures []*image.RGBA
	for _, mode := range []string{"passthrough", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			s := newLab(t, "80:10", viewerPrograms...).startPlayed(settings, mode)
			s.player.do("streams %d", streamsOff)
			s.setLink(jpegLink)
			for n := range runs {
				s.player.do("play %d %d %d %d", seed>>16+uint64(n), 500, 250, playCopies)
				name := fmt.Sprintf("jpeg-%d", n)
				if mode == "passthrough" {
					pictures = append(pictures, s.wantPlayed(name, n+1))
				} else {
					s.wantViewed(name, pictures[n])
				}
			}
			if mode == "adaptive" {
				f := s.orderFigures()
				t.Log(f)
				if f.replaced == 0 || f.overtook == 0 {
					t.Errorf("%v: the runs do not show what they are for", f)
				}
			}
		})
	}
}

// wantPlayed waits until a viewer that gets everything in order shows the key box
// as it is after n plays: that comes last. It returns what is on the screen.
func (s *session) wantPlayed(name string, n int) (picture *image.RGBA) {
	s.t.Helper()
	shown, err := s.dump()
	if err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the end of a play", func() error {
		seen, err := s.viewer.picture()
		if err != nil {
			return err
		}
		picture, err = screenIn(seen, []color.RGBA{evenBox, oddBox}[n%2], shown.Rect)
		return err
	})
	savePNG(s.t, s.file(name+".png"), picture)
	if differing(picture, shown) == 0 {
		s.t.Errorf("%s: nothing was lost, as JPEG would", name)
	}
	return picture
}

// wantViewed looks until the viewer shows what it did in another session.
func (s *session) wantViewed(name string, want *image.RGBA) {
	s.t.Helper()
	s.eventually("the picture of a viewer that is not paced, see "+s.file(name+".png"), func() error {
		picture, err := s.viewer.picture()
		if err != nil {
			return err
		}
		savePNG(s.t, s.file(name+".png"), picture)
		return sameWithin(picture, want)
	})
}

// player is a running qxlplay.
type player struct {
	*process
	l    *lab
	in   io.WriteCloser
	done int // lines answered
}

// playerAnswer begins the answer to a line, playerDone that to one that was obeyed.
const (
	playerAnswer = "QXLPLAY "
	playerDone   = playerAnswer + "DONE"
)

// buildPlayer compiles testdata/qxlplay, or skips the test where there is no
// spice-server to compile it with, but not in CI.
func buildPlayer(t *testing.T) string {
	t.Helper()
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "spice-server").Output()
	if err != nil {
		testenv.Missing(t, "pkg-config spice-server: %v: apt-get install gcc pkg-config libspice-server-dev", err)
	}
	sources, err := filepath.Glob("testdata/qxlplay/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	program := filepath.Join(t.TempDir(), "qxlplay")
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program}, sources...)
	args = append(args, strings.Fields(string(flags))...)
	if out, err := exec.Command("gcc", append(args, "-lpthread")...).CombinedOutput(); err != nil {
		t.Fatalf("build qxlplay: %v\n%s", err, out)
	}
	return program
}

// startPlayed is startStill with a player in the place of a guest.
func (l *lab) startPlayed(settings playerSettings, mode string) *session {
	l.t.Helper()
	s := &session{lab: l}
	s.player = l.startPlayer("qxlplay", command(l.link.Server())(
		context.WithoutCancel(l.t.Context()), buildPlayer(l.t), settings.arguments(qemuPort)...))
	pacing := map[string]any{"mode": mode, "reorder": true, "compression": settings.compression, "trace_dir": l.dir}
	s.proxy = l.startPacing(pacing, nil, plainTarget)
	s.viewer = l.startScreen().startViewer(l.consoleFile())
	s.viewer.wantBox("connected", evenBox)
	return s
}

// startPlayer starts qxlplay. It serves when this returns.
func (l *lab) startPlayer(name string, cmd *exec.Cmd) *player {
	l.t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	p := &player{process: l.start(name, cmd), l: l, in: in}
	p.wait()
	return p
}

// tell gives the player a line.
func (p *player) tell(format string, args ...any) {
	p.l.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.l.t.Fatal(err)
	}
}

// wait returns once the player has obeyed one more line.
func (p *player) wait() {
	p.l.t.Helper()
	p.done++
	answers, err := p.output.wait(p.l.patient(), p.done, beginning(playerAnswer))
	if err != nil {
		p.l.t.Fatalf("qxlplay: %v\n%s", err, p.output.tail())
	}
	if last := answers[p.done-1]; !strings.HasPrefix(last, playerDone) {
		p.l.t.Fatal(last)
	}
}

// do gives a line and waits for the answer.
func (p *player) do(format string, args ...any) {
	p.l.t.Helper()
	p.tell(format, args...)
	p.wait()
}

// playRun plays commands while the link changes. Every fifth run also begins with
// another resolution or another treatment of videos.
func (s *session) playRun(random *rand.Rand, n int) {
	s.t.Helper()
	if n%5 == 1 {
		s.player.do("screen %d %d", 640+random.IntN(640), 480+random.IntN(320))
	}
	if n%5 == 3 {
		s.player.do("streams %d", streamsOff+random.IntN(2))
	}
	kinds := random.IntN(playAll + 1)
	if n%4 == 0 {
		kinds = playAll
	}
	s.player.tell("play %d %d %d %d", random.Uint64()>>16, 100+random.IntN(400), 50+random.IntN(400), kinds)
	for range 1 + random.IntN(4) {
		l := randomLink(random)
		l.RateMbit = min(l.RateMbit, 5) // a player gives less than a guest
		s.setLink(l)
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond)
	}
	s.player.wait()
	// What is queued may be many megabytes, uncompressed.
	s.setLink(fastLink)
}
