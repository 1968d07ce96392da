//go:build race

package sim

// isRaced: the race detector watches, and evenings take ten times as long.
const isRaced = true
