package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/publichost"
	"muster/internal/term"
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
and networks of players. It has no address, no name and no room. docs/serve.md says
more.

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

// memoryDocument is what muster serve memory --json prints.
type memoryDocument struct {
	Format   string    `json:"format"`
	Where    string    `json:"where"`
	Cells    int       `json:"cells"`
	Networks int       `json:"networks"`
	Bytes    int       `json:"bytes"`
	Oldest   time.Time `json:"oldest,omitzero"`
	Newest   time.Time `json:"newest,omitzero"`
	// Forgot is the time before which everything was deleted.
	Forgot  time.Time `json:"forgot,omitzero"`
	Deleted bool      `json:"deleted,omitempty"`
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
		return json.NewEncoder(m.out).Encode(memoryDocument{
			"muster.memory/1", found.Where, found.Cells, found.Networks, found.Bytes, found.Oldest, found.Newest, found.Forgot, m.forget,
		})
	}
	has := fmt.Sprintf("%s for players of %s, %.1f kB in %s", term.Count(found.Cells, "distance"),
		term.Count(found.Networks, "network"), float64(found.Bytes)/1e3, found.Where)
	switch {
	case m.forget && found.Cells == 0:
		fmt.Fprintln(m.out, "Nothing was kept. A running host forgets within a minute what it has learnt.")
	case m.forget:
		fmt.Fprintf(m.out, "Deleted: %s. A running host forgets it within a minute.\n", has)
	case found.Cells == 0:
		fmt.Fprintln(m.out, "The host has learnt nothing yet: it takes three rooms with players of three networks that agree.")
	default:
		fmt.Fprintf(m.out, "%s; learnt from %s to %s\n", has, found.Oldest.Format(time.DateOnly), found.Newest.Format(time.DateOnly))
	}
	return nil
}
