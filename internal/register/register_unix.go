//go:build unix && !darwin

package register

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/adrg/xdg"
)

const desktop = "muster-open.desktop"

func add(program string) (string, error) {
	folder := filepath.Join(xdg.DataHome, "applications")
	file := filepath.Join(folder, desktop)
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(entry(program)), 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("register: %w", err)
	}
	if err := exec.Command("xdg-mime", "default", desktop, "x-scheme-handler/muster").Run(); err != nil {
		return file, fmt.Errorf("register: xdg-mime, which tells the desktop of %s: %w", file, err)
	}
	refresh(folder)
	return file, nil
}

func remove() (string, error) {
	folder := filepath.Join(xdg.DataHome, "applications")
	file := filepath.Join(folder, desktop)
	if err := os.Remove(file); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("register: %w", err)
	}
	for _, list := range []string{filepath.Join(xdg.ConfigHome, "mimeapps.list"), filepath.Join(folder, "mimeapps.list")} {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the file does not exist
		}
		if kept := without(string(text), desktop); kept != string(text) {
			if err := os.WriteFile(list, []byte(kept), 0o644); err != nil {
				return file, fmt.Errorf("register: %w", err)
			}
		}
	}
	refresh(folder)
	return file, nil
}

// refresh makes desktops read the folder again that do not do so by themselves.
func refresh(folder string) {
	exec.Command("update-desktop-database", folder).Run() // a desktop without this program does not need it
}
