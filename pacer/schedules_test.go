//go:build !race

package pacer_test

// schedulesPerTest is how many schedules the ledger's property test plays,
// unless the command line asks for more.
const schedulesPerTest = 100_000

// orderRuns is how many random runs the display queue's order is tried in.
const orderRuns = 5_000
