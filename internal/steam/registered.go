//go:build !windows

package steam

// registered returns nothing: only Windows has a registry.
func registered() []string { return nil }
