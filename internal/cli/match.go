package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/host/matchfile"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/input"
)

func newMatch(p *program) *cobra.Command {
	return &cobra.Command{
		GroupID: toLook,
		Use:     "match RECORD STATUS",
		Short:   "Compare a match's pings with those in the game",
		Long: `Match compares the pings of a match's record with those that the game's server
listed while it was played, and names who plays well below the measured ping. Game
pings are longer for everybody, so players are compared with each other. A player
counts by the exact name, or else by the Steam ID. It prints the record with both.

A status is a Quake III or QuakeWorld server's answer, the JSON file that KTX
writes, or what Source's console command status prints.`,
		Example: `  muster match match.json status.txt`,
		Args:    cobra.ExactArgs(2),
		RunE:    func(_ *cobra.Command, args []string) error { return p.compareMatch(args[0], args[1]) },
	}
}

// maxMatch bounds a record and a status, in bytes.
const maxMatch = 1 << 20

func (p *program) compareMatch(record, status string) error {
	text, err := p.readShort(record)
	if err != nil {
		return err
	}
	var match wire.MatchRecord
	if err := json.Unmarshal(text, &match); err != nil || match.Format != wire.MatchFormat {
		return hint.With(fmt.Errorf("%s is no %s", input.Name(record), wire.MatchFormat), "docs/match.md says how to get one")
	}
	if text, err = p.readShort(status); err != nil {
		return err
	}
	listed := matchfile.Pings(text)
	if len(listed) == 0 {
		return fmt.Errorf("%s lists no player with a ping", input.Name(status))
	}
	match.Compare(listed)
	for _, side := range match.Sides {
		for _, one := range side.Players {
			if one.BelowMS > 0 {
				p.warn(fmt.Errorf("%s plays %.0f ms below the measured ping", discovery.CleanText(one.Name), one.BelowMS))
			}
		}
	}
	out := json.NewEncoder(p.out)
	out.SetEscapeHTML(false)
	return out.Encode(match)
}

func (p *program) readShort(name string) ([]byte, error) {
	file, err := input.Open(name, p.in)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxMatch))
}
