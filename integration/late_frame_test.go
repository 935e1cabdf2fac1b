package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"spicepacer/session/observe"
	"spicepacer/spiceproto"
)

// What is seen last of a video may be an older frame, with no proxy to blame.
// spice-gtk paints a frame at its time, over what was drawn there meanwhile, unless
// STREAM_CLIP has hidden it. spice-server sends that before what it draws on a
// video, with one exception: when something ends the video while its newest frame
// still waits to be sent, that frame goes as an ordinary draw, and STREAM_CLIP comes
// after all that the guest has drawn in between. An older frame whose time comes
// between the two stays for good.
//
// Here it always does: its time is two seconds later, and what is between the two
// takes the link three.
func TestFrameThatIsPaintedLate(t *testing.T) {
	needLong(t)
	s := newLab(t, "80:10", viewerPrograms...).startPlayed(allPlayers[0], "passthrough")
	video := s.watchVideo()
	s.setLink(fastLink)
	s.player.do("streams %d", streamsAll)
	s.player.do("video %d %d", 50, 2500)
	s.setLink(jpegLink)
	s.player.do("end-video")
	s.wantNoVideo(video)
	seen, shown := s.wantSame("late", videoPlace)
	if err := sameWithin(seen, shown); err == nil {
		t.Error("the newest frame is seen, although an older one is painted later")
	}
	if !video.exposed {
		t.Error("the trace does not tell that the newest frame could be painted over")
	}
	s.player.do("video 1 0")
	s.wantSame("repaired")
}

// wantSamePlay is wantSamePicture after a play: where the server has left a frame's
// place to older ones, and one of those is seen, it is told and drawn over. Any
// other difference is an error.
func (s *session) wantSamePlay(name string, video *videoWatch) {
	s.t.Helper()
	s.wantNoVideo(video)
	if video.exposed {
		s.wantQuiet()
		if err := sameWithin(s.wantSame(name, videoPlace)); err != nil {
			s.t.Logf("%s: a frame was painted late: %v", name, err)
			s.player.do("video 1 0")
		}
	}
	s.wantSamePicture(name)
}

// wantNoVideo waits until the server has ended all streams: then no frame is painted
// any more.
func (s *session) wantNoVideo(video *videoWatch) {
	s.t.Helper()
	s.eventually("the end of all videos", func() error {
		video.read(s.t)
		if video.streams > 0 {
			return fmt.Errorf("%d streams", video.streams)
		}
		return nil
	})
}

// videoWatch follows the trace of a display channel for frames that older ones may
// be painted over.
type videoWatch struct {
	pattern string // of the trace's files
	part    int    // how many of them have been read to their ends
	at      int64  // how much of the next has been
	streams int    // that have not ended
	draw    bool   // a frame was sent as an ordinary draw, and no stream was hidden since
	// exposed: since begin a stream was hidden only after such a draw.
	exposed bool
}

func (s *session) watchVideo() *videoWatch {
	return &videoWatch{pattern: s.file("spice-*-display-0-*.trace.jsonl")}
}

// begin forgets what was exposed so far.
func (v *videoWatch) begin() { v.exposed = false }

// read takes in what has been written since. A trace that cannot be followed, or in
// which events are missing, ends the test: no waiting makes it complete.
func (v *videoWatch) read(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(v.pattern)
	if err != nil || len(files) <= v.part {
		t.Fatalf("%d traces %s (%v), %d of them read", len(files), v.pattern, err, v.part)
	}
	for {
		if err := v.readPart(files[v.part]); err != nil {
			t.Fatal(err)
		}
		if v.part == len(files)-1 {
			return
		}
		v.part, v.at = v.part+1, 0
	}
}

func (v *videoWatch) readPart(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, v.at, 1<<30))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b[:bytes.LastIndexByte(b, '\n')+1]) {
		var e observe.TraceEvent
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s, offset %d: %w", file, v.at, err)
		}
		v.at += int64(len(line))
		if e.Event == observe.EventDropped {
			return fmt.Errorf("%s: %d events are missing, so that nothing can be said of videos", file, e.Count)
		}
		if e.Event == observe.EventMessage {
			v.message(e.TraceMessage)
		}
	}
	return nil
}

// hidesAll is the size of a STREAM_CLIP with an empty list of rectangles.
const hidesAll = 4 + 1 + 4

func (v *videoWatch) message(m *observe.TraceMessage) {
	switch m.Opcode {
	case spiceproto.MsgDisplayStreamCreate:
		v.streams++
	case spiceproto.MsgDisplayStreamDestroy:
		v.streams--
	case spiceproto.MsgDisplayDrawCopy:
		place := [4]int32{int32(videoPlace.Min.Y), int32(videoPlace.Min.X), int32(videoPlace.Max.Y), int32(videoPlace.Max.X)}
		v.draw = v.draw || v.streams > 0 && m.Box != nil && *m.Box == place
	case spiceproto.MsgDisplayStreamClip:
		if m.Size == hidesAll {
			v.exposed, v.draw = v.exposed || v.draw, false
		}
	}
}
