package cost

import (
	"context"
	"fmt"
	"time"

	"spicepacer/cmd/spicebench/process"
)

const (
	// quiet is how long a process must do nothing to count as idle.
	quiet = 200 * time.Millisecond
	// settleTimeout is how long a program may take to come to rest.
	settleTimeout = 20 * time.Second
)

// settledCPU waits until a process has done what starting and linking caused, such
// as making keys in advance, and returns what it has used by then.
func settledCPU(ctx context.Context, pid int) (process.CPU, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, fmt.Errorf("not idle within %v of linking", settleTimeout))
	defer cancel()
	look := time.NewTicker(quiet)
	defer look.Stop()
	before, err := process.UsedCPU(pid)
	for err == nil {
		select {
		case <-look.C:
		case <-ctx.Done():
			return process.CPU{}, context.Cause(ctx)
		}
		var now process.CPU
		if now, err = process.UsedCPU(pid); now == before && err == nil {
			return now, nil
		}
		before = now
	}
	return process.CPU{}, err
}
