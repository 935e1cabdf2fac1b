package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"spicepacer/session"
)

// What a directory may hold. A file under way counts as full, so that at most 64
// channels are traced at a time; short ones take an inode and a block each, so
// that their number counts too.
const (
	traceDirSize  = 1 << 30
	traceDirFiles = 1024
)

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
	// kept are the other traces, the oldest first, and keptSize their bytes. They
	// are listed once, at the start: no channel pays for what the directory holds.
	kept     []keptTrace
	keptSize int64
	// limit is traceDirSize, fileSize traceFileSize and maxFiles traceDirFiles;
	// less in tests.
	limit, fileSize int64
	maxFiles        int
	// refused: it was logged that a channel is not traced.
	refused bool
}

// keptTrace is a file that may be removed to make room.
type keptTrace struct {
	name string
	size int64
}

// NewTraces prepares a directory, and makes it if there is none. No other process
// may write traces there.
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
	ts := &Traces{
		dir: dir, log: log, open: make(map[*channelTrace]string),
		limit: traceDirSize, fileSize: traceFileSize, maxFiles: traceDirFiles,
	}
	return ts, ts.list()
}

// list finds the traces of earlier processes, in the order of their last lines.
func (ts *Traces) list() error {
	entries, err := os.ReadDir(ts.dir)
	if err != nil {
		return fmt.Errorf("list trace directory: %w", err)
	}
	var found []fs.FileInfo
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tracePrefix) || !strings.HasSuffix(e.Name(), traceSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			found = append(found, info)
		}
	}
	slices.SortStableFunc(found, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range found {
		ts.keep(info.Name(), info.Size())
	}
	return nil
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
		if err := ts.discard(filepath.Base(ts.path(t.head, old))); err != nil {
			return nil, err
		}
	}
	return ts.create(t)
}

// create makes room and opens the next file of a trace.
func (ts *Traces) create(t *channelTrace) (*os.File, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.retire(t)
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
	ts.retire(t)
}

// retire keeps the file that t had under way, if any. The caller holds mu.
func (ts *Traces) retire(t *channelTrace) {
	name, ok := ts.open[t]
	if !ok {
		return
	}
	delete(ts.open, t)
	if info, err := os.Stat(filepath.Join(ts.dir, name)); err == nil {
		ts.keep(name, info.Size())
	}
}

// keep enters the newest of the files that may be removed. The caller holds mu,
// but for list.
func (ts *Traces) keep(name string, size int64) {
	ts.kept = append(ts.kept, keptTrace{name, size})
	ts.keptSize += size
}

// path names a file so that names sort as the traces began.
func (ts *Traces) path(h TraceHead, part int) string {
	name := fmt.Sprintf("%s%s-%s-%s-%d-%06d%s", tracePrefix,
		h.Start.UTC().Format("20060102T150405.000000"), h.Ref, h.Channel, h.ID, part, traceSuffix)
	return filepath.Join(ts.dir, name)
}

// discard removes one of the kept files. One that somebody else has removed, or
// that had to make room, is no error.
func (ts *Traces) discard(name string) error {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	i := slices.IndexFunc(ts.kept, func(k keptTrace) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return ts.remove(i)
}

// remove removes the i-th kept file. The caller holds mu.
func (ts *Traces) remove(i int) error {
	old := ts.kept[i]
	if err := os.Remove(filepath.Join(ts.dir, old.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old trace: %w", err)
	}
	ts.kept = slices.Delete(ts.kept, i, i+1)
	ts.keptSize -= old.size
	return nil
}

// makeRoom removes the oldest traces until another file fits. The caller holds mu.
func (ts *Traces) makeRoom() error {
	files := len(ts.open) + 1
	size := int64(files) * ts.fileSize
	if size > ts.limit || files > ts.maxFiles {
		return fmt.Errorf("traces of %d channels under way fill the %d MiB or %d files of %s",
			len(ts.open), ts.limit>>20, ts.maxFiles, ts.dir)
	}
	for len(ts.kept) > 0 && (size+ts.keptSize > ts.limit || files+len(ts.kept) > ts.maxFiles) {
		if err := ts.remove(0); err != nil {
			return err
		}
	}
	return nil
}
