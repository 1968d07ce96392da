//go:build !race

package sim

const isRaced = false
