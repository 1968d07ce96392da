package handout

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"muster/internal/hint"
	"muster/internal/release"
	"muster/internal/release/fetch"
)

// Options say where a host gets programs for people who have none.
type Options struct {
	// Folder holds builds for other systems, or is empty.
	Folder string
	// Releases is the address of the project's releases, or empty.
	Releases string
	// Cache is the folder for downloads from the releases.
	Cache string
}

// Open returns a host's handout: this program, those in a folder, and the rest of the project's release. Say reports
// what it downloads, warn what it cannot give.
func (o Options) Open(ctx context.Context, log *slog.Logger, say func(string, ...any), warn func(...error)) (*Handout, error) {
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own) // the signature lies beside the real file
	}
	if err != nil {
		log.Debug("this program does not know where it is", "error", err)
	}
	keys, err := release.ProjectKeys()
	if err != nil {
		return nil, err
	}
	config := Config{Version: release.Running().Version, Release: release.Page(), Own: own, Folder: o.Folder, Keys: keys, Say: say, Warn: warn}
	if o.Releases != "" {
		if err := fetch.Check(o.Releases); err != nil {
			return nil, hint.With(hint.Usagef("--releases: %v", err),
				"say the address below which the files are in download/v1.2.0/, or --releases \"\"")
		}
		config.Release = o.Releases
		config.Source = &fetch.Source{Page: o.Releases, Version: config.Version, Keys: keys, Folder: o.Cache}
	}
	if config.Source != nil && (keys.None() || config.Version == release.Unreleased) {
		config.Source = nil
		if o.Releases != release.Page() {
			warn(hint.Say("get.warn-no-release"))
		}
	}
	h, err := New(ctx, config)
	if err != nil {
		err = hint.With(err, "--downloads takes a folder with the programs of a release, unpacked")
	}
	return h, err
}
