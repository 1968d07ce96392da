package cli

import (
	"context"
	"os"

	"github.com/spf13/pflag"

	"muster/internal/handout"
	"muster/internal/hint"
	"muster/internal/release"
)

// bindDownloads adds the flag that says where others' builds lie.
func bindDownloads(flags *pflag.FlagSet, folder *string) {
	flags.StringVar(folder, "downloads", "", "have the page give the builds of Muster in `FOLDER` to friends with other systems, too")
}

// handout is what a host gives to who has no Muster: this program, and those of a folder
// if there is one.
func (p *program) handout(ctx context.Context, folder string) (*handout.Handout, error) {
	own, err := os.Executable()
	if err != nil {
		p.logger().Debug("this program does not know where it is", "error", err)
	}
	keys, err := release.ProjectKeys()
	if err != nil {
		return nil, err
	}
	vouch := func(file string) (handout.Origin, error) {
		v, err := keys.Verify(ctx, file)
		if v.Standing == release.Own {
			return handout.Project, err
		}
		return handout.Friend, err
	}
	h, err := handout.New(handout.Config{Version: release.Running().Version, Own: own, Folder: folder, Vouch: vouch, Warn: p.warn})
	if err != nil {
		err = hint.With(err, "--downloads takes a folder with the programs of a release, unpacked")
	}
	return h, err
}
