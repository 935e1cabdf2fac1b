package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"spicepacer/session"
)

// traceDirSize bounds all traces of a directory together. A file under way counts
// as full, so that at most 64 channels are traced at a time.
const traceDirSize = 1 << 30

// Files in the directory that are traces, and may be removed to make room.
const (
	tracePrefix = "spice-"
	traceSuffix = ".trace.jsonl"
)

// Traces writes traces of channels into a directory. It implements
// session.Tracer.
type Traces struct {
	dir string
	log *zap.Logger

	mu sync.Mutex
	// open are the files under way, one for each channel that is traced.
	open map[*channelTrace]string
	// limit is traceDirSize and fileSize traceFileSize; less in tests.
	limit, fileSize int64
	// refused: it was logged that a channel is not traced.
	refused bool
}

// NewTraces prepares a directory, and makes it if there is none.
func NewTraces(dir string, log *zap.Logger) (*Traces, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make trace directory: %w", err)
	}
	probe, err := os.CreateTemp(dir, tracePrefix+"probe-")
	if err != nil {
		return nil, fmt.Errorf("use trace directory: %w", err)
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return nil, fmt.Errorf("use trace directory: %w", err)
	}
	return &Traces{dir: dir, log: log, open: make(map[*channelTrace]string), limit: traceDirSize, fileSize: traceFileSize}, nil
}

// Trace implements session.Tracer. A channel for which there is no room, or no
// file, is not traced.
func (ts *Traces) Trace(c session.ChannelInfo) session.ChannelTrace {
	t := newChannelTrace(ts, c, time.Now())
	f, err := ts.create(t)
	if err != nil {
		ts.refuse(c, err)
		return nil
	}
	go t.run(f)
	return t
}

// refuse logs the first channel that is not traced of several in a row.
func (ts *Traces) refuse(c session.ChannelInfo, err error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if !ts.refused {
		ts.log.Warn("channel is not traced", zap.String("connection_ref", c.Ref), zap.Error(err))
	}
	ts.refused = true
}

// rotate makes a trace's next file, and forgets its oldest.
func (ts *Traces) rotate(t *channelTrace) (*os.File, error) {
	if old := t.head.Part - traceFiles + 1; old > 0 {
		if err := os.Remove(ts.path(t.head, old)); err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("remove old trace: %w", err)
		}
	}
	return ts.create(t)
}

// create makes room and opens the next file of a trace.
func (ts *Traces) create(t *channelTrace) (*os.File, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.open, t)
	if err := ts.makeRoom(); err != nil {
		return nil, err
	}
	path := ts.path(t.head, t.head.Part+1)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make trace file: %w", err)
	}
	ts.open[t] = filepath.Base(path)
	ts.refused = false
	return f, nil
}

func (ts *Traces) closed(t *channelTrace) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	delete(ts.open, t)
}

// path names a file so that names sort as the traces began.
func (ts *Traces) path(h TraceHead, part int) string {
	name := fmt.Sprintf("%s%s-%s-%s-%d-%06d%s", tracePrefix,
		h.Start.UTC().Format("20060102T150405.000000"), h.Ref, h.Channel, h.ID, part, traceSuffix)
	return filepath.Join(ts.dir, name)
}

// makeRoom removes the oldest traces until another file fits. The caller holds mu.
func (ts *Traces) makeRoom() error {
	entries, err := os.ReadDir(ts.dir) // sorted by name, which is by age
	if err != nil {
		return fmt.Errorf("list trace directory: %w", err)
	}
	underWay := make(map[string]bool, len(ts.open))
	for _, name := range ts.open {
		underWay[name] = true
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		name := e.Name()
		return !strings.HasPrefix(name, tracePrefix) || !strings.HasSuffix(name, traceSuffix) || underWay[name]
	})
	total := int64(len(ts.open)+1) * ts.fileSize
	sizes := make([]int64, len(entries))
	for i, e := range entries {
		if info, err := e.Info(); err == nil {
			sizes[i] = info.Size()
			total += info.Size()
		}
	}
	for i, e := range entries {
		if total <= ts.limit {
			break
		}
		if err := os.Remove(filepath.Join(ts.dir, e.Name())); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove old trace: %w", err)
		}
		total -= sizes[i]
	}
	if total > ts.limit {
		return fmt.Errorf("traces of %d channels under way fill the %d MiB of %s", len(ts.open), ts.limit>>20, ts.dir)
	}
	return nil
}
