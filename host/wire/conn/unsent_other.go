//go:build !linux && !darwin

package conn

// limitUnsent does nothing where the system knows no such limit.
func limitUnsent(uintptr) error { return nil }
