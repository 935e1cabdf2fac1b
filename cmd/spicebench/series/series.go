// Package series measures cell after cell of a comparison, tells how far it is, and
// keeps each result as soon as there is one.
package series

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Result is what measuring one cell came to. It is a line of JSON in the results.
type Result interface {
	fmt.Stringer
	// Failed tells that there are no figures.
	Failed() bool
	// Span returns when measuring the cell began and ended.
	Span() (began, ended time.Time)
}

// ErrInterrupted ends a series whose context ended.
var ErrInterrupted = errors.New("interrupted")

// Measure measures the cells in their order, writes each result to lines at once and
// tells people on progress. Cells that fail do not stop it, but make it an error;
// what can no longer be written down does stop it. The results so far are returned
// with any error.
func Measure[C fmt.Stringer, R Result](ctx context.Context, cells []C, measure func(context.Context, C) R, lines, progress io.Writer) ([]R, error) {
	encoder := json.NewEncoder(lines)
	var results []R
	failed := 0
	for i, c := range cells {
		fmt.Fprintf(progress, "cell %d of %d: %v%s\n", i+1, len(cells), c, eta(results, len(cells)-i))
		r := measure(ctx, c)
		if ctx.Err() != nil {
			return results, ErrInterrupted
		}
		if err := encoder.Encode(r); err != nil {
			return results, fmt.Errorf("keep the result of %v: %w", c, err)
		}
		results = append(results, r)
		if r.Failed() {
			failed++
		}
		fmt.Fprintf(progress, "  %v\n", r)
	}
	if failed > 0 {
		return results, fmt.Errorf("%d of %d cells failed", failed, len(cells))
	}
	return results, nil
}

// eta estimates the rest from what the cells so far took.
func eta[R Result](results []R, left int) string {
	if len(results) == 0 {
		return ""
	}
	began, _ := results[0].Span()
	_, ended := results[len(results)-1].Span()
	rest := ended.Sub(began) / time.Duration(len(results)) * time.Duration(left)
	return fmt.Sprintf(" (%v left)", rest.Round(time.Second))
}

// Create makes the file for a run's results, and refuses to mix them with those of
// another run.
func Create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s exists: choose another place for the results", path)
	}
	return f, err
}
