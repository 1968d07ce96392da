// Package userfile keeps the user's files for Muster: settings, and what the program remembers. Nobody else on the
// machine can read them.
package userfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Config returns a file in the user's configuration folder for Muster.
func Config(name string) string { return filepath.Join(xdg.ConfigHome, "muster", name) }

// State returns a file in the user's state folder for Muster, and makes the folder if necessary.
func State(name string) (string, error) {
	file := filepath.Join(xdg.StateHome, "muster", name)
	return file, os.MkdirAll(filepath.Dir(file), 0o700)
}

// Read reads a file of the user's state. An empty file is an error that says so. No program writes one, but a crash or
// a full disk may leave one.
func Read(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s is empty, as a crash or a full disk may leave it", file)
	}
	return data, err
}

// Replace writes a file that only the user can read. A program that dies halfway leaves the old file intact.
func Replace(name string, data []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(name), ".draft-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = draft.Write(data)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), name)
	}
	if err != nil {
		os.Remove(draft.Name())
	}
	return err
}
