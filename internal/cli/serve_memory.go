package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"muster/internal/publichost"
)

// servedMemory is the command that shows and deletes a public host's memory of networks.
type servedMemory struct {
	serving
	forget, asJSON bool
}

func newServeMemory(p *program) *cobra.Command {
	m := &servedMemory{serving: serving{program: p}}
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "What a public host has learnt of the distances between networks",
		Long: `Memory shows how much a public host has learnt from its rooms: how far countries,
networks (AS) and blocks of addresses (/16) of game servers are from the countries
and networks of players. It has no address, no name and no room.
docs/serve/run.md says more.

It looks where muster serve keeps its rooms, by the same flags, environment and
config.toml. The host may be running. It forgets what --delete deletes within a
minute, and learns again from the next hour on; --memory=false of muster serve keeps
it from learning.`,
		Example: `  muster serve memory
  muster serve memory --json --store /var/lib/muster/rooms.db
  muster serve memory --delete`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	m.bindStore(flags)
	flags.BoolVar(&m.asJSON, "json", false, "print it as JSON")
	flags.BoolVar(&m.forget, "delete", false, "delete all of it, on all hosts that share it")
	return cmd
}

func (m *servedMemory) run(ctx context.Context) error {
	if m.Cluster.URL != "" && m.Store != "" {
		return usagef("--store and --nats are two places: say one of them")
	}
	found, err := publichost.Memory(ctx, &m.Settings, m.forget, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if m.asJSON {
		return json.NewEncoder(m.out).Encode(found.Document(m.forget))
	}
	fmt.Fprintln(m.out, found.Describe(m.forget))
	return nil
}
