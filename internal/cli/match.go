package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/quakeworld"
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
	listed := listedPings(text)
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

// sourceRow is a player of Source's status: number, name, Steam ID, time, ping. The two kinds of IDs are
// STEAM_1:1:12 and [U:1:25].
var sourceRow = regexp.MustCompile(`(?m)^#\s*\d+(?:\s+\d+)?\s+"(.*)"\s+(?:STEAM_\d:([01]):(\d+)|\[U:1:(\d+)\])\s+\S+\s+(\d+)\s`)

// individual is what a SteamID64 adds to the number of a person's account.
const individual = 76561197960265728

// listedPings returns the pings of a status, by name, and by SteamID64 where it has Steam IDs.
func listedPings(status []byte) map[string]time.Duration {
	for _, protocol := range []discovery.Roll{quake3.Protocol{}, quakeworld.Protocol{}, quakeworld.Quake2{}} {
		if reply, err := protocol.Roll().Parse([][]byte{status}); err == nil && reply.Info != nil {
			return reply.Info.Roster.Pings()
		}
	}
	var roster, accounts discovery.Roster
	var ktx struct {
		Players []struct {
			Name string  `json:"name"`
			Ping float64 `json:"ping"`
		} `json:"players"`
	}
	if json.Unmarshal(status, &ktx) == nil {
		for _, one := range ktx.Players {
			ping := time.Duration(one.Ping * float64(time.Millisecond))
			roster.Players = append(roster.Players, discovery.Player{Name: discovery.CleanText(one.Name), Ping: ping})
		}
	}
	for _, row := range sourceRow.FindAllStringSubmatch(string(status), -1) {
		number := func(text string) uint64 { n, _ := strconv.ParseUint(text, 10, 32); return n }
		account := 2*number(row[3]) + number(row[2]) + number(row[4])
		ping := time.Duration(number(row[5])) * time.Millisecond
		roster.Players = append(roster.Players, discovery.Player{Name: discovery.CleanText(strings.TrimSpace(row[1])), Ping: ping})
		accounts.Players = append(accounts.Players, discovery.Player{Name: strconv.FormatUint(individual+account, 10), Ping: ping})
	}
	pings := accounts.Pings()
	maps.Copy(pings, roster.Pings())
	return pings
}
