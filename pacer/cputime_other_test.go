//go:build !linux

package pacer_test

import "time"

var processStart = time.Now()

// cpuTime is the time that has passed: an upper bound of what was used.
func cpuTime() time.Duration { return time.Since(processStart) }
