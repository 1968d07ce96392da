//go:build race

package simulated

// isRaced says that the race detector is on, and sessions take ten times as long.
const isRaced = true
