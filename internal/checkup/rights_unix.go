//go:build unix

package checkup

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite returns the reason if this user may make no file in a folder.
func mayWrite(folder string) error {
	if err := unix.Access(folder, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "access", Path: folder, Err: err}
	}
	return nil
}

// isForOthers reports whether every user may read a file.
func isForOthers(mode fs.FileMode) bool { return mode.Perm()&0o004 != 0 }
