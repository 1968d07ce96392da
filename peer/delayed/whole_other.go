//go:build !linux && !windows && !darwin

package delayed

// keepWhole does nothing: this system does not let programs choose.
func keepWhole(uintptr, bool) error { return nil }
