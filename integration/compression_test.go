package integration

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"spicepacer/cmd/spicebench/client"
	programs "spicepacer/cmd/spicebench/process"
	"spicepacer/spiceproto"
)

// filmRate is how many frames of an activity are shown a second.
const filmRate = 15

// filmFrames is how many there are. Of windows each changes little, and not all
// windows early.
func filmFrames(activity string) int {
	if activity == "windows" {
		return 150
	}
	return 30
}

// filmActivities are those of the table in docs/measurements.md.
var filmActivities = []string{"reading", "windows", "photos", "text", "scroll", "busy", "heavy"}

// compressionCost is a line of the table.
type compressionCost struct {
	Activity string                  `json:"activity"`
	Window   uint32                  `json:"window"`
	Asked    string                  `json:"asked"`
	Count    uint64                  `json:"count"`
	Bytes    uint64                  `json:"bytes"`
	Pixels   uint64                  `json:"pixels"`
	Images   map[string]client.Tally `json:"images"`
}

func (c compressionCost) perPixel() float64 { return float64(c.Bytes) / float64(c.Pixels) }

// TestCompressionCost measures what a pixel costs with AUTO_GLZ and AUTO_LZ, on
// what spice-server takes for a fast and for a slow link. The same frames, cut as
// QEMU cuts them, go through spice-server's encoders; nothing is timed, so that it
// can run on a busy machine. The result lines are in compression.jsonl of the
// artifacts.
func TestCompressionCost(t *testing.T) {
	activities, windows := []string{"text"}, []uint32{20}
	if long() {
		activities, windows = filmActivities, []uint32{20, 40}
	}
	f := &filmTheatre{t: t, dir: t.ArtifactDir(), program: buildPlayer(t)}
	out, err := os.Create(filepath.Join(f.dir, "compression.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, activity := range activities {
		film := writeFilm(t, activity, filmFrames(activity))
		for _, window := range windows {
			glz, lz := f.show(film, activity, window, "auto-glz"), f.show(film, activity, window, "auto-lz")
			t.Logf("%-8s W %d: auto-glz %.4f bytes a pixel, auto-lz %.4f, x %.3f\n  %v\n  %v",
				activity, window, glz.perPixel(), lz.perPixel(), lz.perPixel()/glz.perPixel(), glz.Images, lz.Images)
			for _, c := range []compressionCost{glz, lz} {
				// spice-server goes by how long its net test takes: a machine that
				// stalls for 0.2 s looks like a slow link.
				if long() && c.Window != window {
					t.Errorf("%s: W is %d, want %d", activity, c.Window, window)
				}
				if c.Pixels == 0 {
					t.Errorf("%s, %s: nothing was painted", activity, c.Asked)
				}
				if err := json.NewEncoder(out).Encode(c); err != nil {
					t.Fatal(err)
				}
			}
			if n := lz.Images["glz-rgb"].Count + lz.Images["zlib-glz-rgb"].Count; n > 0 {
				t.Errorf("%s: %d GLZ images although AUTO_LZ was asked for", activity, n)
			}
			if n := glz.Images["lz-rgb"].Count; n > 0 {
				t.Errorf("%s: %d LZ images although AUTO_GLZ was asked for", activity, n)
			}
		}
	}
}

// qemuDefaults are how QEMU sets spice-server up unless told otherwise.
var qemuDefaults = playerSettings{image: spiceproto.CompressionAutoGLZ, jpeg: wanAuto, zlib: wanAuto}

// filmTheatre shows films through spice-server.
type filmTheatre struct {
	t       *testing.T
	dir     string
	program string
}

// show has spice-server send a film to a client that asks for a compression. What
// the server still holds when the last frame was taken does not count.
func (f *filmTheatre) show(film, activity string, window uint32, asked string) compressionCost {
	f.t.Helper()
	port, err := programs.FreePort()
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Minute)
	defer cancel()
	l := &lab{t: f.t, dir: f.dir}
	cmd := exec.CommandContext(ctx, f.program, qemuDefaults.arguments(port)...)
	programs.Contain(cmd)
	p := l.startPlayer("qxlplay-"+activity+"-"+asked, cmd)
	defer p.stop()
	p.do("streams %d", streamsOff)
	p.do("screen %d %d", filmScreen.X, filmScreen.Y)

	cfg := client.DefaultConfig()
	cfg.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	cfg.Presses, cfg.Duration, cfg.Warmup = 0, 10*time.Minute, time.Second
	if cfg.Compression, err = client.ParseCompression(asked); err != nil {
		f.t.Fatal(err)
	}
	if window == 40 {
		cfg.DialContext = new(slowMain).dial
	}
	measuring := make(chan struct{})
	cfg.Logf = func(format string, _ ...any) {
		if format == "measuring" {
			close(measuring)
		}
	}
	watch, done := context.WithCancel(ctx)
	result := make(chan client.Result, 1)
	go func() {
		r, err := client.Run(watch, cfg)
		if !errors.Is(err, context.Canceled) {
			f.t.Errorf("%s, %s: %v", activity, asked, err)
		}
		result <- r
	}()
	select {
	case <-measuring:
	case r := <-result:
		f.t.Fatalf("%s, %s: the client ends early: %+v", activity, asked, r)
	}
	p.do("show %s %d", film, filmRate)
	done()
	r := <-result
	sum := r.Painted()
	return compressionCost{activity, r.Window, asked, sum.Count, sum.Bytes, sum.Pixels, r.Images}
}

// slowMain dials connections of which the first, the main channel's, reads slowly:
// spice-server measures the link by it (main-channel-client.cpp).
type slowMain struct{ dialled atomic.Bool }

func (s *slowMain) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil || s.dialled.Swap(true) {
		return conn, err
	}
	return slowReader{conn}, nil
}

type slowReader struct{ net.Conn }

// Read takes a second for 512 KiB.
func (r slowReader) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	time.Sleep(time.Duration(n) * time.Second >> 19)
	return n, err
}
