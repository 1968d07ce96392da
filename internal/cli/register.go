package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/register"
)

func newRegister(p *program) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		GroupID: toPlay,
		Use:     "register",
		Short:   "Have muster:// links open Muster",
		Long: `Register has the system open links that begin with muster:// with this program,
for you alone: a room's page offers one. Such a link can do no more than ask you
whether to join a room. Say it again once the program has moved.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if remove {
				return p.unregister()
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("this program does not know where it is: %w", err)
			}
			where, err := register.Add(self)
			if err != nil {
				return hint.With(err, "a room is joined all the same by muster join LINK")
			}
			fmt.Fprintf(p.out, "muster:// links open %s now; it stands in %s\n", self, where)
			return nil
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "have them open nothing more")
	return cmd
}

func (p *program) unregister() error {
	where, err := register.Remove()
	switch {
	case err != nil:
		return err
	case where == "":
		fmt.Fprintln(p.out, "muster:// links opened nothing of yours before")
	default:
		fmt.Fprintf(p.out, "muster:// links open Muster no more; %s is gone\n", where)
	}
	return nil
}

// newOpen returns the command that the system runs for a link. It takes no flags: anything that
// looks like one comes from the author of the link.
func newOpen(p *program) *cobra.Command {
	return &cobra.Command{
		Use:                "open URL",
		Short:              "Join the room of a muster:// link, after asking",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("muster open takes one link, and got %d words", len(args))
			}
			return p.open(cmd.Context(), args[0])
		},
	}
}

// open asks whether to join the room of a link. It asks at the terminal if somebody sits there, and
// otherwise on Home's page.
func (p *program) open(ctx context.Context, text string) error {
	if p.isClicked() {
		return p.invited(ctx, home.Invitation{URL: text})
	}
	to, err := invite.ParseURL(text)
	if err != nil {
		return err
	}
	p.greets = greetsByLink
	root := newRoot(p)
	root.SetArgs([]string{"join", "--", to.Personal(to.Secret)})
	return root.ExecuteContext(ctx)
}
