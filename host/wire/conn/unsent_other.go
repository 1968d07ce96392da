//go:build !linux && !darwin

package conn

// limitUnsent does nothing where the system knows no such limit.
func limitUnsent(uintptr) error { return nil }

// unacknowledged returns 0 where the system does not tell.
func unacknowledged(uintptr) int { return 0 }
