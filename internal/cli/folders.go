package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// configFile is a file in the user's configuration folder for Muster.
func configFile(name string) string { return filepath.Join(xdg.ConfigHome, "muster", name) }

// stateFile is a file in the user's state folder for Muster; the folder is made
// if need be.
func stateFile(name string) (string, error) { return xdg.StateFile(filepath.Join("muster", name)) }

// cacheFile is a file in the user's cache folder for Muster; the folder is made
// if need be.
func cacheFile(name string) (string, error) { return xdg.CacheFile(filepath.Join("muster", name)) }
