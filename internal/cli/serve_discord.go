package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"muster/host/wire"
	"muster/internal/discord/interactions"
	"muster/internal/publichost"
)

// servedDiscord is the command that tells Discord of the command /muster.
type servedDiscord struct {
	*program
	file, token, guild string
}

func newServeDiscord(p *program) *cobra.Command {
	d := &servedDiscord{program: p}
	cmd := &cobra.Command{
		Use:   "discord",
		Short: "Tell Discord of the command /muster",
		Long: `Discord tells Discord which commands your application has: /muster open, status and
end. It is needed once, and again when a release of Muster says so. The token of the
application's bot is read from a file or from MUSTER_DISCORD_TOKEN, and needed for
nothing else: muster serve never sees it. docs/discord.md leads through all of it.`,
		Example: `  muster serve discord --discord discord.txt --token-file token.txt
  MUSTER_DISCORD_TOKEN=… muster serve discord --discord discord.txt --guild 1234567890`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&d.file, "discord", "", "the `FILE` that names your application, as for muster serve")
	flags.StringVar(&d.token, "token-file", "", "the `FILE` with the bot's token")
	flags.StringVar(&d.guild, "guild", "", "only in the server with this `ID`, where the command appears at once")
	return cmd
}

func (d *servedDiscord) run(ctx context.Context) error {
	if d.file == "" {
		return usagef("say which application it is: --discord FILE")
	}
	application, err := publichost.ReadDiscord(d.file)
	if err != nil {
		return err
	}
	token := os.Getenv("MUSTER_DISCORD_TOKEN")
	if d.token != "" {
		text, err := os.ReadFile(d.token)
		if err != nil {
			return err
		}
		token = string(text)
	}
	if token = strings.TrimSpace(token); token == "" {
		return usagef("there is no token: say --token-file FILE, or set MUSTER_DISCORD_TOKEN")
	}
	if err := interactions.Register(ctx, application, token, d.guild, wire.MaxPlayers); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "Discord has the command /muster. In a server it may take people a restart of Discord to see it.")
	return nil
}
