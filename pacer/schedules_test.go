//go:build !race

package pacer_test

// schedulesPerTest is how many schedules the ledger's property test plays,
// unless the command line asks for more.
const schedulesPerTest = 100_000
