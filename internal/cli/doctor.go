package cli

import (
	"github.com/spf13/cobra"

	"muster/internal/doctor"
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
