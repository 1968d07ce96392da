package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/release"
)

func newVerify(p *program) *cobra.Command {
	trusted := ""
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "verify [FILE]",
		Short:   "Whether a download is the project's own",
		Long: `Verify tells who vouches for a file of a release, or for this program itself: the
project, whose key every release knows, or nobody. It looks for the signature
beside the file, FILE.minisig, or for SHA256SUMS with SHA256SUMS.minisig. A sum or
a word from whoever gave you the file proves nothing.

The exit status is 0 if the file is the project's own, 3 if nobody vouches for it
or this program knows no key, and 1 if it was changed or is not what its name says.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := keysOf(trusted)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				v, err := keys.VerifyRunning(cmd.Context())
				return p.tell("this program, "+release.Running().String(), v, err)
			}
			v, err := keys.Verify(cmd.Context(), args[0])
			return p.tell(filepath.Base(args[0]), v, err)
		},
	}
	cmd.Flags().StringVar(&trusted, "key", "", "trust this minisign key in place of the project's")
	return cmd
}

// keysOf returns the key of --key, or the project's.
func keysOf(flag string) (keys release.Keys, err error) {
	if flag == "" {
		return release.ProjectKeys()
	}
	if keys, err = release.ParseKeys(flag); err != nil {
		err = hint.With(usageError(err), "--key takes the second line of a minisign.pub")
	}
	return keys, err
}

// tell prints a good verdict, and turns any other into an error that says what to do.
func (p *program) tell(what string, v release.Verdict, err error) error {
	if err != nil {
		return err
	}
	err = fmt.Errorf("%s: %v", what, v)
	switch v.Standing {
	case release.Own:
		fmt.Fprintln(p.out, discovery.CleanText(err.Error()))
		return nil
	case release.Friends:
		return hint.With(nothing{err}, "the project's release page has its own files, with their signatures; else run it only "+
			"if you trust who gave it to you")
	case release.Keyless:
		return hint.With(nothing{err}, "say --key with the project's key, or let a program from the project's release page verify it")
	}
	return hint.With(err, "do not run it: get it again from the project's release page")
}

// nothing says that nothing suitable was found.
type nothing struct{ error }

func (n nothing) Unwrap() []error { return []error{n.error, errNothing} }
