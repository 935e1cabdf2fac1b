//go:build !race

package session

const raceEnabled = false

// schedules is how many random schedules are played.
const schedules = 2000
