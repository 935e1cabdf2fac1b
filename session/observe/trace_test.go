package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"spicepacer/pacer"
	"spicepacer/session"
	"spicepacer/spiceproto"
)

var traceStart = time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

func newTraces(t *testing.T) *Traces {
	t.Helper()
	ts, err := NewTraces(filepath.Join(t.TempDir(), "new", "traces"), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// trace starts a trace at traceStart.
func (ts *Traces) trace(t *testing.T, kind spiceproto.ChannelType, ref string) *channelTrace {
	t.Helper()
	c := newChannelTrace(ts, session.ChannelInfo{Ref: ref, Type: kind, Mode: pacer.Adaptive}, traceStart)
	f, err := ts.create(c)
	if err != nil {
		t.Fatal(err)
	}
	go c.run(f)
	return c
}

// files returns the content of all files of a directory, in order.
func (ts *Traces) files(t *testing.T) (names, contents []string) {
	t.Helper()
	entries, err := os.ReadDir(ts.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(ts.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		names, contents = append(names, e.Name()), append(contents, string(b))
	}
	return names, contents
}

func after(d time.Duration) time.Time { return traceStart.Add(d) }

// drawCopy is the head of a draw of a QUIC image of 32×8 pixels.
func drawCopy() (spiceproto.Header, []byte) {
	head := make([]byte, 79)
	for i, v := range []byte{0, 10, 20, 18, 52} {
		head[4*i] = v
	}
	head[21], head[65], head[67], head[71] = 57, byte(spiceproto.ImageQUIC), 32, 8
	return spiceproto.Header{Type: spiceproto.MsgDisplayDrawCopy, Size: 5000}, head
}

func TestTrace(t *testing.T) {
	defer goleak.VerifyNone(t)
	ts := newTraces(t)
	c := ts.trace(t, spiceproto.ChannelDisplay, "0f0e")
	surface := spiceproto.SurfaceCreate{ID: 1, Width: 640, Height: 480}.Append(nil)
	c.Message(after(0), spiceproto.ServerToClient, spiceproto.Header{Type: spiceproto.MsgDisplaySurfaceCreate, Size: 20}, surface[6:])
	h, head := drawCopy()
	c.Message(after(1500*time.Microsecond), spiceproto.ServerToClient, h, head)
	c.Message(after(2*time.Millisecond), spiceproto.ServerToClient, h, head[:10]) // cannot be parsed
	c.Message(after(3*time.Millisecond), spiceproto.ClientToServer, spiceproto.Header{Type: spiceproto.MsgcAck}, nil)
	state := pacer.Trace{
		State:   pacer.State{QueueBytes: 1, BudgetBytes: 2, Rate: 3.5, Base: 80 * time.Millisecond, Sweeps: 4},
		Reading: true, Full: true, Delay: 5 * time.Millisecond, Window: 20, Generation: 1,
		Framed: 50, Delivered: 49, Acked: 2, ClientAcks: 1,
	}
	c.State(after(4*time.Millisecond), state) // valve
	c.State(after(5*time.Millisecond), state) // nothing
	state.Acked++
	c.State(after(5*time.Millisecond), state) // ack
	state.QueueBytes++
	c.State(after(14*time.Millisecond), state) // too soon
	state.QueueBytes++
	c.State(after(15*time.Millisecond), state) // state
	c.Order(after(16*time.Millisecond), session.OrderEvent{Message: 2, Other: 3, Reason: session.OrderCovered})
	c.Order(after(17*time.Millisecond), session.OrderEvent{Message: 4, Other: 1, Reason: session.OrderUrgent})
	c.Order(after(18*time.Millisecond), session.OrderEvent{Message: 5, Other: 1, Reason: session.OrderTurn})
	c.Close(after(time.Minute))
	names, contents := ts.files(t)
	if want := []string{"spice-20260102T030405.006000-0f0e-display-0-000001.trace.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	golden(t, "display.trace.jsonl", strings.Join(contents, "---\n"))
	info, err := os.Stat(filepath.Join(ts.dir, names[0]))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, err %v, want 0600", info.Mode(), err)
	}
}

// TestTraceKeepsSecrets passes what a user types through channels that carry it.
func TestTraceKeepsSecrets(t *testing.T) {
	ts := newTraces(t)
	const secret = "hunter2"
	for kind := spiceproto.ChannelMain; kind.Valid(); kind++ {
		c := ts.trace(t, kind, kind.String())
		for op := range uint16(400) {
			for _, d := range []spiceproto.Direction{spiceproto.ServerToClient, spiceproto.ClientToServer} {
				body := []byte(strings.Repeat(secret, 20))
				c.Message(traceStart, d, spiceproto.Header{Type: op, Size: uint32(len(body))}, body)
			}
		}
		c.Close(after(time.Minute))
	}
	_, contents := ts.files(t)
	if len(contents) != 11 {
		t.Fatalf("%d files, want one for each channel", len(contents))
	}
	// As text, and as any number that those bytes make.
	le := []byte(secret + secret)
	forbidden := []string{secret}
	for i := range 4 {
		forbidden = append(forbidden, fmt.Sprint(uint32(le[i])|uint32(le[i+1])<<8|uint32(le[i+2])<<16|uint32(le[i+3])<<24))
	}
	for _, text := range contents {
		if strings.Contains(text, `"channel":"display"`) {
			continue // geometry of draws is shown
		}
		for _, s := range forbidden {
			if strings.Contains(text, s) {
				t.Errorf("trace holds %s:\n%.300s", s, text)
			}
		}
	}
}

// TestTraceNeverWaits reports more than the backlog holds while nothing is
// written.
func TestTraceNeverWaits(t *testing.T) {
	ts := newTraces(t)
	c := newChannelTrace(ts, session.ChannelInfo{Type: spiceproto.ChannelCursor}, traceStart)
	const surplus = 7
	for range traceBacklog + surplus {
		c.Message(traceStart, spiceproto.ServerToClient, spiceproto.Header{Type: 104, Size: 4}, nil)
	}
	f, err := ts.create(c)
	if err != nil {
		t.Fatal(err)
	}
	go c.run(f)
	c.Close(after(time.Minute))
	_, contents := ts.files(t)
	events := map[Event]uint64{}
	for _, e := range parse(t, contents[0]) {
		events[e.Event] += max(e.Count, 1)
	}
	want := map[Event]uint64{EventMessage: traceBacklog, EventDropped: surplus, EventEnd: 1}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
}

// parse reads the events of a file.
func parse(t *testing.T, text string) (events []TraceEvent) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var e TraceEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d: %v\n%s", i+1, err, line)
		}
		if i > 0 {
			events = append(events, e)
		}
	}
	return events
}

// TestTraceRotates writes more than the files of a channel may hold.
func TestTraceRotates(t *testing.T) {
	ts := newTraces(t)
	ts.fileSize = 1000
	c := ts.trace(t, spiceproto.ChannelCursor, "ref")
	const messages = 200
	for i := range messages {
		c.Message(after(time.Duration(i)*time.Millisecond), spiceproto.ServerToClient, spiceproto.Header{Type: 104, Size: uint32(i)}, nil)
	}
	c.Close(after(time.Minute))
	names, contents := ts.files(t)
	if len(names) != traceFiles {
		t.Fatalf("files %q, want the last %d", names, traceFiles)
	}
	next := -1
	for i, text := range contents {
		var head TraceHead
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&head); err != nil {
			t.Fatal(err)
		}
		if len(text) > 1000 || !strings.Contains(names[i], fmt.Sprintf("-%06d.", head.Part)) || !head.Start.Equal(traceStart) {
			t.Errorf("%s: %d bytes, head %+v", names[i], len(text), head)
		}
		for _, e := range parse(t, text) {
			if e.Event != EventMessage {
				continue
			}
			if next < 0 {
				next = int(e.Size)
			}
			if int(e.Size) != next || e.Millis != Millis(next)*Millis(time.Millisecond) {
				t.Fatalf("%s: message %d at %v, want %d", names[i], e.Size, e.Millis, next)
			}
			next++
		}
	}
	if next != messages {
		t.Errorf("last message %d, want %d", next-1, messages-1)
	}
}

// TestTraceDirectoryIsBounded traces one channel after the other, and then more at
// a time than there is room for.
func TestTraceDirectoryIsBounded(t *testing.T) {
	log, logged := observer.New(zap.WarnLevel)
	ts := newTraces(t)
	ts.log = zap.New(log)
	ts.fileSize, ts.limit = 1000, 4500
	foreign := filepath.Join(ts.dir, "notes.txt")
	if err := os.WriteFile(foreign, bytes.Repeat([]byte("x"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	one := func(ref string) *channelTrace {
		c := newChannelTrace(ts, session.ChannelInfo{Ref: ref, Type: spiceproto.ChannelCursor}, traceStart)
		f, err := ts.create(c)
		if err != nil {
			t.Fatal(err)
		}
		go c.run(f)
		for range 8 {
			c.Message(traceStart, spiceproto.ServerToClient, spiceproto.Header{Type: 104}, nil)
		}
		return c
	}
	size := func() (total int64, names []string) {
		names, contents := ts.files(t)
		for i, text := range contents {
			if names[i] != filepath.Base(foreign) {
				total += int64(len(text))
			}
		}
		return total, names
	}
	for i := range 20 {
		one(fmt.Sprintf("%04d", i)).Close(after(time.Minute))
		if total, names := size(); total > ts.limit {
			t.Fatalf("%d bytes in %q, want at most %d", total, names, ts.limit)
		}
	}
	_, names := size()
	if names[0] != "notes.txt" || !strings.Contains(names[len(names)-1], "-0019-") || strings.Contains(names[1], "-0000-") {
		t.Errorf("kept %q, want the newest and what is no trace", names)
	}
	var open []session.ChannelTrace
	for i := range 6 {
		c := ts.Trace(session.ChannelInfo{Ref: fmt.Sprint(i), Type: spiceproto.ChannelMain})
		if (c != nil) != (i < 4) {
			t.Errorf("channel %d traced: %v, want four of them", i, c != nil)
		}
		if c != nil {
			open = append(open, c)
		}
	}
	for _, c := range open {
		c.Close(after(time.Minute))
	}
	if entries := logged.All(); len(entries) != 1 || entries[0].ContextMap()["connection_ref"] != "4" {
		t.Errorf("logged %v, want one line for both channels", entries)
	}
	if c := ts.Trace(session.ChannelInfo{}); c == nil {
		t.Error("no trace although there is room again")
	} else {
		c.Close(after(time.Minute))
	}
}

// TestTraceFilesAreBounded traces many channels that end at once: it is their
// number that fills the directory.
func TestTraceFilesAreBounded(t *testing.T) {
	ts := newTraces(t)
	ts.maxFiles = 5
	foreign := filepath.Join(ts.dir, "notes.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := ts.trace(t, spiceproto.ChannelMain, "long")
	for i := range 20 {
		ts.trace(t, spiceproto.ChannelCursor, fmt.Sprintf("%04d", i)).Close(after(time.Minute))
	}
	long.Close(after(time.Minute))
	names, _ := ts.files(t)
	var refs []string
	for _, name := range names {
		refs = append(refs, strings.SplitN(name+"--", "-", 4)[2])
	}
	if want := []string{"", "0016", "0017", "0018", "0019", "long"}; !slices.Equal(refs, want) {
		t.Errorf("kept %q, want the newest, the one under way and what is no trace", names)
	}
}

// TestTraceFilesUnderWayAreBounded: no more channels are traced than there may be
// files.
func TestTraceFilesUnderWayAreBounded(t *testing.T) {
	ts := newTraces(t)
	ts.maxFiles = 2
	for i := range 4 {
		c := ts.Trace(session.ChannelInfo{Ref: fmt.Sprint(i), Type: spiceproto.ChannelMain})
		if (c != nil) != (i < 2) {
			t.Errorf("channel %d traced: %v, want two of them", i, c != nil)
		}
		if c != nil {
			defer c.Close(after(time.Minute))
		}
	}
}

// TestTracesOfAnEarlierProcessAreBounded: they are older than any that are made
// now, and among them the one that was written last is the newest.
func TestTracesOfAnEarlierProcessAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i, written := range []time.Duration{2 * time.Hour, 3 * time.Hour, time.Hour} {
		path := filepath.Join(dir, fmt.Sprintf("%s%d%s", tracePrefix, i, traceSuffix))
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, traceStart.Add(written)); err != nil {
			t.Fatal(err)
		}
	}
	ts, err := NewTraces(dir, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	ts.fileSize, ts.limit = 1000, 2500
	ts.trace(t, spiceproto.ChannelMain, "new").Close(after(time.Minute))
	names, _ := ts.files(t)
	if len(names) != 2 || names[0] != "spice-1.trace.jsonl" || !strings.Contains(names[1], "-new-") {
		t.Errorf("kept %q, want the new one and the last of the old", names)
	}
}

// TestTraceFileRemovedByHand: room is made by the files that are still there.
func TestTraceFileRemovedByHand(t *testing.T) {
	ts := newTraces(t)
	ts.maxFiles = 2
	ts.trace(t, spiceproto.ChannelMain, "1").Close(after(time.Minute))
	ts.trace(t, spiceproto.ChannelMain, "2").Close(after(time.Minute))
	names, _ := ts.files(t)
	if err := os.Remove(filepath.Join(ts.dir, names[0])); err != nil {
		t.Fatal(err)
	}
	ts.trace(t, spiceproto.ChannelMain, "3").Close(after(time.Minute))
	if names, _ = ts.files(t); len(names) != 2 {
		t.Errorf("kept %q, want two", names)
	}
}

// TestTraceDiskFails writes to a file that takes nothing: the channel goes on.
func TestTraceDiskFails(t *testing.T) {
	log, logged := observer.New(zap.WarnLevel)
	ts := newTraces(t)
	ts.log = zap.New(log)
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	c := newChannelTrace(ts, session.ChannelInfo{Ref: "ref", Type: spiceproto.ChannelMain}, traceStart)
	go c.run(f)
	for range 3 * traceBacklog {
		c.Message(traceStart, spiceproto.ServerToClient, spiceproto.Header{}, nil)
	}
	c.Close(after(time.Minute))
	if entries := logged.All(); len(entries) != 1 || entries[0].Message != "trace ended early" {
		t.Errorf("logged %v, want one warning", entries)
	}
}

func TestTraceDirectoryCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewTraces(file, zap.NewNop()); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("err %v, want one that names %s", err, file)
	}
}

// BenchmarkTraceWritten writes events as fast as that goes.
func BenchmarkTraceWritten(b *testing.B) {
	ts, err := NewTraces(b.TempDir(), zap.NewNop())
	if err != nil {
		b.Fatal(err)
	}
	c := newChannelTrace(ts, session.ChannelInfo{Type: spiceproto.ChannelDisplay}, traceStart)
	f, err := ts.create(c)
	if err != nil {
		b.Fatal(err)
	}
	w := &traceWriter{trace: c}
	if err := w.begin(f); err != nil {
		b.Fatal(err)
	}
	defer func() { w.file.Close() }()
	h, head := drawCopy()
	for b.Loop() {
		m := describeMessage(spiceproto.ChannelDisplay, spiceproto.ServerToClient, h, head)
		if err := w.entry(traceEntry{at: traceStart, event: EventMessage, message: m}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTraceMessage is what the relay pays.
func BenchmarkTraceMessage(b *testing.B) {
	c := newChannelTrace(nil, session.ChannelInfo{Type: spiceproto.ChannelDisplay}, traceStart)
	h, head := drawCopy()
	b.ReportAllocs()
	for b.Loop() {
		c.Message(traceStart, spiceproto.ServerToClient, h, head)
		if len(c.events) == cap(c.events) {
			for range cap(c.events) {
				<-c.events
			}
		}
	}
}
