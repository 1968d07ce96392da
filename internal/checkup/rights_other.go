//go:build !unix

package checkup

import "io/fs"

// mayWrite knows nothing here: only a new file would tell.
func mayWrite(string) error { return nil }

// isForOthers knows nothing here: the mode does not tell.
func isForOthers(fs.FileMode) bool { return false }
