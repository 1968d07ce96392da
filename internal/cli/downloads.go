package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"muster/internal/handout"
	"muster/internal/hint"
	"muster/internal/release"
	"muster/internal/release/fetch"
)

// downloads is where a host has programs from, for who has none.
type downloads struct {
	// folder holds others' builds, or is empty.
	folder string
	// releases is the address of the project's releases, or empty.
	releases string
}

func (d *downloads) bind(flags *pflag.FlagSet) {
	flags.StringVar(&d.folder, "downloads", "", "have the page give the builds of Muster in `FOLDER` to friends with other systems, too")
	flags.StringVar(&d.releases, "releases", release.Page(), "what is not there the page gets from the project's releases at `URL`, once somebody asks for it, if the project's signature holds (\"\" gets nothing)")
}

// handout is what a host gives to who has no Muster: this program, those of a folder if
// there is one, and what else the project's release has. Say hears what it gets, warn
// what it cannot give.
func (p *program) handout(ctx context.Context, d downloads, say func(string, ...any), warn func(...error)) (*handout.Handout, error) {
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own) // a signature lies beside the file itself
	}
	if err != nil {
		p.logger().Debug("this program does not know where it is", "error", err)
	}
	keys, err := release.ProjectKeys()
	if err != nil {
		return nil, err
	}
	config := handout.Config{Version: release.Running().Version, Release: release.Page(), Own: own, Folder: d.folder, Keys: keys, Say: say, Warn: warn}
	if d.releases != "" {
		if err := fetch.Check(d.releases); err != nil {
			return nil, hint.With(usagef("--releases: %v", err), "say the address below which the files are in download/v1.2.0/, or --releases \"\"")
		}
		config.Release = d.releases
		config.Source = &fetch.Source{Page: d.releases, Version: config.Version, Keys: keys, Folder: filepath.Join(xdg.CacheHome, "muster", "releases")}
	}
	if config.Source != nil && (keys.None() || config.Version == release.Unreleased) {
		config.Source = nil
		if d.releases != release.Page() {
			warn(errors.New("nothing is got from the project's releases: this program is of none, and could not tell what is the project's own"))
		}
	}
	h, err := handout.New(ctx, config)
	if err != nil {
		err = hint.With(err, "--downloads takes a folder with the programs of a release, unpacked")
	}
	return h, err
}
