package dump

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/session/observe"
	"spicepacer/spiceproto"
)

// traceFile is a trace as the proxy writes it.
func traceFile(t *testing.T, full bool) []byte {
	t.Helper()
	dir := t.TempDir()
	traces, err := observe.NewTraces(dir, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	trace := traces.Trace(session.ChannelInfo{
		Ref: "ref", Type: spiceproto.ChannelDisplay, ID: 1, Mode: pacer.Adaptive, FullHeaders: full,
	})
	at := time.Now()
	draw := drawCopy()
	h, _ := spiceproto.ParseHeader(draw)
	surface := spiceproto.SurfaceCreate{ID: 2, Width: 640, Height: 480}.Append(nil)
	trace.Message(at, down, spiceproto.Header{Type: spiceproto.MsgDisplaySurfaceCreate, Size: 20}, surface[6:])
	trace.Message(at, down, h, draw[6:])
	trace.Message(at, up, spiceproto.Header{Type: spiceproto.MsgcAck}, nil)
	trace.State(at, pacer.Trace{Reading: true, Window: 20, State: pacer.State{QueueBytes: 5, Rate: 1e6, Base: 80 * time.Millisecond}})
	trace.Close(at)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, err %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDumpTrace shows a trace as a capture of the same would be.
func TestDumpTrace(t *testing.T) {
	text, json, sums := printed(t, traceFile(t, false))
	for _, want := range []string{
		" #0 display:1 s2c * trace connection_ref=ref mode=adaptive part=1\n",
		" #0 display:1 s2c SURFACE_CREATE size=20 surface=2 width=640 height=480\n",
		" #0 display:1 s2c DRAW_COPY size=1117 surface=0 box.top=10 box.left=20 box.bottom=18 box.right=52 image=bitmap width=32 height=8\n",
		" #0 display:1 c2s ACK size=0\n",
		" #0 display:1 s2c * valve reading=true full=false waiting=false queue=5 budget=0 rate=1000000 rtt=80ms",
		" #0 display:1 s2c * end\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
	if !strings.Contains(json, `"name":"DRAW_COPY","size":1117,"fields":{"box":{"bottom":18,"left":20,"right":52,"top":10},"height":8,"image":"bitmap","surface":0,"width":32}}`) {
		t.Errorf("JSON:\n%s", json)
	}
	if !strings.Contains(sums, "bitmap      1   1123  1123         1024   0.91") {
		t.Errorf("sums:\n%s", sums)
	}
}

// TestDumpTraceOfFullHeaders counts the headers that the client had.
func TestDumpTraceOfFullHeaders(t *testing.T) {
	text, _, sums := printed(t, traceFile(t, true))
	if !strings.Contains(text, " * trace connection_ref=ref full_headers=true mode=adaptive part=1\n") {
		t.Errorf("no word of full headers in\n%s", text)
	}
	if !strings.Contains(sums, "bitmap      1   1135  1135         1024   0.90") {
		t.Errorf("sums:\n%s", sums)
	}
}

func TestDamagedTrace(t *testing.T) {
	file := traceFile(t, false)
	text, _, _ := printed(t, file[:len(file)-10])
	if !strings.Contains(text, "line 6 of the trace is damaged or cut off") {
		t.Errorf("no word of the damage in\n%s", text)
	}
	head, _, _ := bytes.Cut(file, []byte("\n"))
	dropped := fmt.Appendf(nil, "%s\n{\"t\":1.5,\"event\":\"dropped\",\"count\":7}\n", head)
	if text, _, _ = printed(t, dropped); !strings.Contains(text, "0.001500 #0 display:1 s2c ! 7 events are missing") {
		t.Errorf("no word of the missing events in\n%s", text)
	}
}
