//go:build !windows

package cli

// systemLanguages returns nothing: the environment alone names the language of a terminal here.
func systemLanguages() []string { return nil }
