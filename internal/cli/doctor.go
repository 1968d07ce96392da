package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/doctor"
	"muster/internal/handout"
	"muster/internal/ingress"
	"muster/internal/invite"
	"muster/internal/option"
	"muster/internal/release"
)

func newDoctor(p *program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "doctor",
		Short:   "What this machine and network can do",
		Long: `Doctor looks at what measuring and hosting need: sockets, network cards, the
system's limits, the tables of countries, the games. It looks up a few names and
asks for a few lists of servers; with MUSTER_LOCAL=1 in the environment it sends
nothing off this machine. What it warns of works less well; nothing of it is an
error.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := p.patient()
			s.Config, s.ConfigErr = configFile("config.toml"), p.configTrouble(cmd.Root())
			found := doctor.Examine(cmd.Context(), s)
			if asJSON {
				return found.WriteJSON(p.out)
			}
			found.Print(p.out)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	return cmd
}

// patient returns what the doctor needs to know about this program and its user.
func (p *program) patient() doctor.Settings {
	s := doctor.Settings{Steam: p.steam().Folders(), Tables: tablesFolder(), Output: p.out,
		Stays: p.env("MUSTER_LOCAL") != ""}
	s.Games, s.GamesErr = p.games()
	return s
}

// bindIngress adds the flags for how people reach a host.
func bindIngress(flags *pflag.FlagSet, in *ingress.Ingress) {
	flags.Var(option.New("URL", "", func(text string) (err error) {
		in.Public, err = invite.ParseBase(text)
		return err
	}), "public-url", "by what people reach this host through a proxy or tunnel, such as https://night.example: `URL` for links")
	flags.StringArrayVar(&in.MoreNames, "host-name", nil, "a `NAME` of yours that leads to this host, which browsers may ask "+
		"for (repeatable; addresses and this machine's own names need none)")
	flags.Var(option.Networks(&in.Proxies), "trusted-proxy", "believe X-Forwarded-For, -Host and -Proto of the reverse "+
		"proxy at `ADDRESS` or in a network (repeatable)")
	flags.Var(option.Networks(&in.MetricsFrom), "metrics-from", "let programs at `ADDRESS` or in a network have /metrics, too (repeatable)")
}

// bindDownloads adds the flags for where a host gets the programs that it hands out.
func bindDownloads(flags *pflag.FlagSet, d *handout.Options) {
	d.Cache = filepath.Join(xdg.CacheHome, "muster", "releases")
	flags.StringVar(&d.Folder, "downloads", "", "have the page give the builds of Muster in `FOLDER` to friends with other systems, too")
	flags.StringVar(&d.Releases, "releases", release.Page(), "what is not there the page gets from the project's releases "+
		"at `URL`, once somebody asks for it, if the project's signature holds (\"\" gets nothing)")
}
