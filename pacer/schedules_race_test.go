//go:build race

package pacer_test

// schedulesPerTest is smaller here: the property test has one goroutine, so the
// race detector only slows it down.
const schedulesPerTest = 5_000

// orderRuns is how many random runs the display queue's order is tried in.
const orderRuns = 1_000
