package program_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMain gives the programs folders of their own. They see no room, token or game of this
// machine's user, and leave nothing behind.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "muster-e2e")
	if err == nil {
		err = errors.Join(folders(home), os.Setenv("LC_ALL", "C"),
			os.Setenv("MUSTER_LOCAL", "1")) // the doctor sends nothing off this machine
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

func folders(home string) error {
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		os.Setenv("GOCACHE", filepath.Join(cache, "go-build")) // the program is built with the existing build cache
	}
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"} {
		folder := filepath.Join(home, name)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Setenv(name, folder)); err != nil {
			return err
		}
	}
	return nil
}
