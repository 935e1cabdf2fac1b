//go:build race

package session

const raceEnabled = true

// schedules is how many random schedules are played: fewer where
// each takes ten times as long.
const schedules = 300
