package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"muster/internal/handout"
	"muster/internal/release"
)

// bindDownloads adds the flags for where a host gets the programs that it hands out.
func bindDownloads(flags *pflag.FlagSet, d *handout.Options) {
	d.Cache = filepath.Join(xdg.CacheHome, "muster", "releases")
	flags.StringVar(&d.Folder, "downloads", "", "have the page give the builds of Muster in `FOLDER` to friends with other systems, too")
	flags.StringVar(&d.Releases, "releases", release.Page(), "what is not there the page gets from the project's releases "+
		"at `URL`, once somebody asks for it, if the project's signature holds (\"\" gets nothing)")
}
