//go:build !race

package simulated

const isRaced = false
