package series

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type cell string

func (c cell) String() string { return string(c) }

// outcome is of a cell that took a minute.
type outcome struct {
	Cell   cell `json:"cell"`
	Number int  `json:"number"`
	Bad    bool `json:"bad"`
}

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (o outcome) String() string { return "measured " + o.Cell.String() }
func (o outcome) Failed() bool   { return o.Bad }

func (o outcome) Span() (began, ended time.Time) {
	began = begin.Add(time.Duration(o.Number) * time.Minute)
	return began, began.Add(time.Minute)
}

// measurer numbers the outcomes; the cell "bad" fails.
func measurer() func(context.Context, cell) outcome {
	number := -1
	return func(_ context.Context, c cell) outcome {
		number++
		return outcome{c, number, c == "bad"}
	}
}

func TestMeasure(t *testing.T) {
	var lines, progress bytes.Buffer
	results, err := Measure(t.Context(), []cell{"a", "bad", "c"}, measurer(), &lines, &progress)
	if len(results) != 3 || err == nil || err.Error() != "1 of 3 cells failed" {
		t.Errorf("%d results, error %v", len(results), err)
	}
	const want = `{"cell":"a","number":0,"bad":false}
{"cell":"bad","number":1,"bad":true}
{"cell":"c","number":2,"bad":false}
`
	if lines.String() != want {
		t.Errorf("lines\n%swant\n%s", lines.String(), want)
	}
	const told = `cell 1 of 3: a
  measured a
cell 2 of 3: bad (2m0s left)
  measured bad
cell 3 of 3: c (1m0s left)
  measured c
`
	if progress.String() != told {
		t.Errorf("progress\n%swant\n%s", progress.String(), told)
	}
}

// An interrupted cell is no result, but those before it are.
func TestMeasureInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	measure := measurer()
	var lines, progress bytes.Buffer
	results, err := Measure(ctx, []cell{"a", "b", "c"}, func(ctx context.Context, c cell) outcome {
		if c == "b" {
			cancel()
		}
		return measure(ctx, c)
	}, &lines, &progress)
	if len(results) != 1 || !errors.Is(err, ErrInterrupted) || strings.Count(lines.String(), "\n") != 1 {
		t.Errorf("%d results, error %v, lines %q", len(results), err, lines.String())
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// What cannot be kept is not measured for hours more.
func TestMeasureOnAFullDisk(t *testing.T) {
	var progress bytes.Buffer
	results, err := Measure(t.Context(), []cell{"a", "b"}, measurer(), fullDisk{}, &progress)
	if len(results) != 0 || !errors.Is(err, errFull) || !strings.Contains(err.Error(), "result of a") {
		t.Errorf("%d results, error %v", len(results), err)
	}
}

func TestCreateDoesNotMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), path+" exists") {
		t.Errorf("two runs may share a file: %v", err)
	}
}
