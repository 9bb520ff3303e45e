//go:build race

package scenario

// raceEnabled says that the race detector is on, under which everything takes ten times as long.
const raceEnabled = true
